import { describe, expect, test } from 'vitest';
import { ManualClock } from '../test/support/manual-clock.ts';
import { RecordingLogger } from '../test/support/recording-logger.ts';
import type { ReadyReport } from './contract/engine.ts';
import type { Slots } from './contract/plugin.ts';
import { type AnyPlugin, type Registry, selectPlugins, startOrder, startPlugins } from './registry.ts';

type SlotName = keyof Slots;

interface Behaviour {
  readonly needs?: readonly SlotName[];
  readonly offers?: readonly SlotName[];
  readonly provides?: Partial<Slots>;
  readonly setup?: (slots: Slots) => void;
  readonly ready?: () => ReadyReport;
  readonly drain?: (until: AbortSignal) => Promise<void>;
  readonly close?: () => Promise<void>;
}

/** A plugin that notes what happens to it in `events`. */
function plugin(name: string, behaviour: Behaviour = {}, events: string[] = []): AnyPlugin {
  const { needs = [], offers = [] } = behaviour;
  const offered = Object.fromEntries(offers.map((slot) => [slot, {}])) as Partial<Slots>;
  return {
    name,
    needs,
    offers,
    async setup(slots) {
      events.push(`setup ${name}`);
      behaviour.setup?.(slots);
      return {
        provides: behaviour.provides ?? offered,
        ready: behaviour.ready ?? (() => ({ ready: true })),
        async drain(until) {
          events.push(`drain ${name}`);
          await behaviour.drain?.(until);
        },
        async close() {
          events.push(`close ${name}`);
          await behaviour.close?.();
        },
      };
    },
  };
}

const core = () => ({ clock: new ManualClock(), log: new RecordingLogger() });

async function start(plugins: readonly AnyPlugin[], log = new RecordingLogger()): Promise<Registry> {
  return startPlugins(plugins, core(), log);
}

describe('PLUGINS', () => {
  const available = [plugin('speech'), plugin('voices'), plugin('batch')];
  const names = (chosen: readonly AnyPlugin[]) => chosen.map(({ name }) => name);

  test('absent loads all', () => {
    expect(names(selectPlugins(available, undefined))).toEqual(['speech', 'voices', 'batch']);
  });

  test('loads what it names, in the order of the build', () => {
    expect(names(selectPlugins(available, ['batch', 'speech', 'batch']))).toEqual(['speech', 'batch']);
  });

  test.each([[['speach']], [['speech', '']], [['Speech']]])(
    '%j is refused and the allowed names are listed',
    (named) => {
      expect(() => selectPlugins(available, named)).toThrow(/allowed: speech, voices, batch/);
    },
  );
});

describe('start order', () => {
  const order = (...plugins: AnyPlugin[]) =>
    startOrder(plugins, new Set<SlotName>(['clock', 'log'])).map(({ name }) => name);

  test('is the given one where nothing depends', () => {
    expect(order(plugin('c'), plugin('a', { needs: ['clock'] }), plugin('b'))).toEqual(['c', 'a', 'b']);
  });

  test('puts an offer before its need', () => {
    const user = plugin('user', { needs: ['tts', 'calls'] });
    const middle = plugin('middle', { needs: ['tts'], offers: ['calls'] });
    const source = plugin('source', { offers: ['tts'] });
    expect(order(user, middle, source)).toEqual(['source', 'middle', 'user']);
  });

  test('a need that nobody offers names the plugin and the need', () => {
    expect(() => order(plugin('speech', { needs: ['clock', 'tts'] }))).toThrow(
      /Plugin 'speech' needs 'tts', which neither the core nor a loaded plugin offers/,
    );
  });

  test('a cycle is described', () => {
    const a = plugin('a', { needs: ['tts'], offers: ['calls'] });
    const b = plugin('b', { needs: ['calls'], offers: ['tts'] });
    expect(() => order(plugin('fine'), a, b)).toThrow("'a' needs 'tts' of 'b', 'b' needs 'calls' of 'a'");
  });

  test('a plugin that needs its own offer is a cycle', () => {
    expect(() => order(plugin('a', { needs: ['tts'], offers: ['tts'] }))).toThrow("'a' needs 'tts' of 'a'");
  });

  test('a slot is offered once', () => {
    expect(() => order(plugin('a', { offers: ['tts'] }), plugin('b', { offers: ['tts'] }))).toThrow(
      "Plugin 'b' offers 'tts', which a offers already",
    );
    expect(() => order(plugin('a', { offers: ['clock'] }))).toThrow(
      "offers 'clock', which the core offers already",
    );
  });

  test('a name is given once', () => {
    expect(() => order(plugin('a'), plugin('a'))).toThrow("Two plugins are named 'a'");
  });
});

describe('start', () => {
  test('gives a plugin the slots it asked for, no others, and a log with its name', async () => {
    const log = new RecordingLogger();
    let seen: Slots | undefined;
    const asking = plugin('asking', {
      needs: ['clock', 'log'],
      setup: (slots) => {
        seen = slots;
        slots.log.info('hello');
      },
    });
    await start([asking], log);
    expect(Object.keys(seen ?? {})).toEqual(['clock', 'log']);
    expect(log.lines).toMatchObject([{ message: 'hello', fields: { plugin: 'asking' } }]);
  });

  test('hands one plugin what another provides', async () => {
    const tts = { ids: ['x'], get: () => undefined };
    let seen: unknown;
    const source = plugin('source', { offers: ['tts'], provides: { tts } });
    const user = plugin('user', {
      needs: ['tts'],
      setup: (slots) => {
        seen = slots.tts;
      },
    });
    await start([user, source]);
    expect(seen).toBe(tts);
  });

  test('a failing set-up closes those already started, in reverse, and is thrown', async () => {
    const events: string[] = [];
    const failing = plugin(
      'c',
      {
        setup: () => {
          throw new Error('no voice');
        },
      },
      events,
    );
    const started = start([
      plugin('a', {}, events),
      plugin('b', {}, events),
      failing,
      plugin('d', {}, events),
    ]);
    await expect(started).rejects.toThrow('no voice');
    expect(events).toEqual(['setup a', 'setup b', 'setup c', 'close b', 'close a']);
  });

  test('a plugin that does not provide its offer is refused and closed', async () => {
    const events: string[] = [];
    const started = start([plugin('a', { offers: ['tts'], provides: {} }, events)]);
    await expect(started).rejects.toThrow("Plugin 'a' offers 'tts' but does not provide it");
    expect(events).toEqual(['setup a', 'close a']);
  });
});

describe('readiness', () => {
  test('shows each plugin, also one whose report throws', async () => {
    const broken = plugin('broken', {
      ready: () => {
        throw new Error('private');
      },
    });
    const registry = await start([plugin('fine'), broken]);
    expect([...registry.readiness()]).toEqual([
      ['fine', { ready: true }],
      ['broken', { ready: false, detail: 'its state could not be read' }],
    ]);
  });
});

describe('drain', () => {
  test('asks all at once and waits for all', async () => {
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const slow = plugin('slow', { drain: () => gate.promise }, events);
    const registry = await start([slow, plugin('quick', {}, events)]);
    let done = false;
    const draining = registry.drain(new AbortController().signal).then(() => {
      done = true;
    });
    expect(events.slice(2)).toEqual(['drain slow', 'drain quick']);
    await Promise.resolve();
    expect(done).toBe(false);
    gate.resolve();
    await draining;
  });

  test('ends at the deadline, whatever a plugin does', async () => {
    const registry = await start([plugin('stuck', { drain: () => new Promise(() => {}) })]);
    const deadline = new AbortController();
    const draining = registry.drain(deadline.signal);
    deadline.abort();
    await draining;
    await registry.drain(AbortSignal.abort());
  });

  test('a failure is logged and does not stop the others', async () => {
    const log = new RecordingLogger();
    const events: string[] = [];
    const failing = plugin('failing', { drain: () => Promise.reject(new Error('no')) });
    const registry = await start([failing, plugin('b', {}, events)], log);
    await registry.drain(new AbortController().signal);
    expect(events).toContain('drain b');
    expect(log.lines).toMatchObject([{ level: 'error', fields: { plugin: 'failing' } }]);
  });
});

describe('close', () => {
  test('goes in reverse, once, past failures', async () => {
    const log = new RecordingLogger();
    const events: string[] = [];
    const failing = plugin('b', { close: () => Promise.reject(new Error('no')) }, events);
    const registry = await start([plugin('a', {}, events), failing, plugin('c', {}, events)], log);
    await Promise.all([registry.close(), registry.close()]);
    expect(events.slice(3)).toEqual(['close c', 'close b', 'close a']);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { plugin: 'b' } }]);
  });
});
