import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { seriesValue } from '../../test/harness/metric-values.ts';
import { repetitions } from '../../test/harness/tier.ts';
import { noMetrics } from '../../tools/harness/doubles/doubles.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { PATIENCE } from '../../tools/harness/patience.ts';
import type { ReadyReport } from '../contract/engines/engine.ts';
import type { PluginInstance, Slots } from '../contract/plugin.ts';
import type { PluginDesiredState, PluginDesiredStates } from '../contract/stores/plugin-switch-store.ts';
import { route } from '../http/route.ts';
import { LazyServices, type ServiceFactories } from '../kit/lifecycle/lazy-services.ts';
import { seededRandom } from '../kit/math/seeded-random.ts';
import { createMetrics } from '../metrics/registry.ts';
import { type AnyPlugin, pathsOf, type Registry, type RegistryOptions, startPlugins } from './registry.ts';

// A plugin that stops is followed by a collection of the whole heap, which here has the data of many test files.
beforeAll(() => {
  const collect = Bun.gc;
  Object.assign(Bun, { gc: () => 0 });
  return () => {
    Object.assign(Bun, { gc: collect });
  };
});

type SlotName = keyof Slots;

interface Behaviour {
  readonly needs?: readonly SlotName[];
  readonly offers?: readonly SlotName[];
  readonly provides?: Partial<Slots>;
  readonly paths?: readonly string[];
  readonly limits?: NonNullable<PluginInstance['limits']>;
  readonly setup?: (slots: Slots) => void | Promise<void>;
  readonly ready?: () => ReadyReport;
  readonly drain?: (until: AbortSignal) => Promise<void>;
  readonly close?: () => Promise<void>;
}

/** A plugin that records its lifecycle in `events`. */
function plugin(name: string, behaviour: Behaviour = {}, events: string[] = []): AnyPlugin {
  const { needs = [], offers = [], paths = [] } = behaviour;
  const routes = paths.map((path) => route({ method: 'GET', path, isHidden: true, handle: () => name }));
  const offered = Object.fromEntries(offers.map((slot) => [slot, {}])) as Partial<Slots>;
  return {
    name,
    needs,
    offers,
    routes,
    async setup(slots) {
      events.push(`setup ${name}`);
      await behaviour.setup?.(slots);
      return {
        provides: behaviour.provides ?? offered,
        limits: behaviour.limits ?? new Map(),
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

async function start(
  plugins: readonly AnyPlugin[],
  log = new RecordingLogger(),
  more: Partial<RegistryOptions> = {},
): Promise<Registry> {
  return startPlugins({
    plugins,
    core: core(),
    services: new LazyServices({}),
    desiredStates: new Map(),
    graceMs: 60_000,
    log,
    metrics: noMetrics,
    onChange: () => undefined,
    ...more,
  });
}

/** Desired states with increasing revisions. */
let revision = 0;
function wish(enabled: Readonly<Record<string, boolean>>): PluginDesiredStates {
  const wishes = Object.entries(enabled).map(([name, isEnabled]): [string, PluginDesiredState] => {
    revision += 1;
    return [name, { enabled: isEnabled, revision, changedAt: 0 }];
  });
  return new Map(wishes);
}

const until = (registry: Registry, name: string, state: string) =>
  expect.poll(() => registry.report(name).state).toBe(state);

describe('start', () => {
  test('gives a plugin only its declared services, and a logger with its name', async () => {
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

  test('passes provided services to dependants', async () => {
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

  test('closes started plugins in reverse order after a failed setup, and throws its error', async () => {
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

  test('rejects and closes a plugin that does not provide its declared service', async () => {
    const events: string[] = [];
    const started = start([plugin('a', { offers: ['tts'], provides: {} }, events)]);
    await expect(started).rejects.toThrow("Plugin 'a' offers 'tts' but does not provide it");
    expect(events).toEqual(['setup a', 'close a']);
  });
});

describe('readiness', () => {
  test('reports each plugin, also if its report throws', async () => {
    const broken = plugin('broken', {
      ready: () => {
        throw new Error('private');
      },
    });
    const registry = await start([plugin('fine'), broken]);
    expect([...registry.readiness()]).toEqual([
      ['fine', { state: 'on', ready: true }],
      ['broken', { state: 'on', ready: false, detail: 'state unavailable' }],
    ]);
  });
});

describe('readiness of models', () => {
  const report = (id: string) => (): ReadyReport => {
    if (id === 'broken') throw new Error('private');
    return { ready: true, detail: 'cpu' };
  };
  const tts = {
    ids: ['works', 'broken'],
    get: (id: string) => ({ ready: report(id) }),
  } as unknown as Slots['tts'];
  const withTts = { core: { ...core(), tts } };

  test('reports the models of running plugins, also if a report throws', async () => {
    const registry = await start([plugin('speech', { needs: ['tts'] })], undefined, withTts);
    expect([...registry.modelReadiness()]).toEqual([
      ['works', { task: 'speech', ready: true, detail: 'cpu' }],
      ['broken', { task: 'speech', ready: false, detail: 'state unavailable' }],
    ]);
  });

  test('starts the load of a model of running plugins', async () => {
    const loads: string[] = [];
    const text = {
      ids: ['large', 'small'],
      get: (id: string) => ({ ready: report(id), ...(id === 'large' && { load: () => loads.push(id) }) }),
    } as unknown as Slots['text'];
    const needs = { core: { ...core(), text } };
    const registry = await start([plugin('responses', { needs: ['text'] })], undefined, needs);
    for (const id of registry.models.keys()) registry.loadModel(id);
    expect(loads).toEqual(['large']);
    (await start([plugin('other')], undefined, needs)).loadModel('large');
    expect(loads).toEqual(['large']);
  });

  test('omits models that no plugin uses', async () => {
    const registry = await start([plugin('other')], undefined, withTts);
    expect([...registry.modelReadiness()]).toEqual([]);
  });
});

describe('drain', () => {
  test('drains all plugins concurrently and waits for all', async () => {
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

  test('ends at the deadline even if a plugin does not', async () => {
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
  test('closes in reverse order, once, despite failures', async () => {
    const log = new RecordingLogger();
    const events: string[] = [];
    const failing = plugin('b', { close: () => Promise.reject(new Error('no')) }, events);
    const registry = await start([plugin('a', {}, events), failing, plugin('c', {}, events)], log);
    await Promise.all([registry.close(), registry.close()]);
    expect(events.slice(3)).toEqual(['close c', 'close b', 'close a']);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { plugin: 'b' } }]);
  });
});

test('a plugin has each of its paths once, also with several methods', () => {
  const routes = (['GET', 'DELETE'] as const).map((method) =>
    route({ method, path: '/v1/a', isHidden: true, handle: () => '' }),
  );
  expect(pathsOf({ routes: [...routes, ...plugin('it', { paths: ['/v1/b'] }).routes] })).toEqual([
    '/v1/a',
    '/v1/b',
  ]);
});

describe('metrics', () => {
  const shown = async (more: Behaviour = {}) => {
    const metrics = createMetrics(new ManualClock());
    let open = 3;
    const calls = plugin('calls', {
      needs: ['metrics'],
      setup: ({ metrics: own }) => {
        own.gauge('calls_open', 'Open calls.', () => open);
        own.counter('calls_total', 'Calls.', []).add({});
      },
      ...more,
    });
    const registry = await start([calls], undefined, { metrics, core: { metrics } });
    const value = async (series: string) => seriesValue(await metrics.render(), series);
    const states = async () =>
      [...(await metrics.render()).matchAll(/^plugin_state\{plugin="calls",state="(\w+)"\} 1$/gm)].map(
        ([, state]) => state,
      );
    const close = async () => {
      await registry.close();
      metrics.close();
    };
    return { registry, value, states, close, setOpen: (count: number) => (open = count) };
  };

  test('report the state of each plugin', async () => {
    const gate = Promise.withResolvers<void>();
    const { registry, value, states, close } = await shown({ drain: () => gate.promise });
    expect(await states()).toEqual(['on']);
    expect(await value('plugin_state{plugin="calls",state="failed"}')).toBe(0);
    registry.applyDesiredStates(wish({ calls: false }));
    expect(await states()).toEqual(['stopping']);
    gate.resolve();
    await until(registry, 'calls', 'off');
    expect(await states()).toEqual(['off']);
    await close();
  });

  test('gauges are removed with the plugin and restored with it; counters remain', async () => {
    const { registry, value, setOpen, close } = await shown();
    expect(await value('calls_open')).toBe(3);
    registry.applyDesiredStates(wish({ calls: false }));
    await until(registry, 'calls', 'off');
    expect([await value('calls_open'), await value('calls_total')]).toEqual([undefined, 1]);
    setOpen(4);
    registry.applyDesiredStates(wish({ calls: true }));
    await until(registry, 'calls', 'on');
    expect([await value('calls_open'), await value('calls_total')]).toEqual([4, 2]);
    await close();
  });

  test('of a plugin whose setup failed are removed', async () => {
    let works = true;
    const { registry, value, close } = await shown({
      setup: ({ metrics }) => {
        metrics.gauge('calls_open', 'Open calls.', () => 1);
        if (!works) throw new Error('private');
      },
    });
    registry.applyDesiredStates(wish({ calls: false }));
    await until(registry, 'calls', 'off');
    works = false;
    registry.applyDesiredStates(wish({ calls: true }));
    await until(registry, 'calls', 'failed');
    expect(await value('calls_open')).toBeUndefined();
    await close();
  });
});

describe('a switched plugin', () => {
  test('off: removes its routes, finishes its work, and closes it with its exclusive services', async () => {
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const openers: ServiceFactories = {
      tts: () => opened('tts', events),
      stt: () => opened('stt', events),
    };
    const speech = plugin(
      'speech',
      { needs: ['tts', 'stt'], paths: ['/v1/speech/:id'], drain: () => gate.promise },
      events,
    );
    const limits = new Map([['model of tts', { characters: { maximum: 9 } }]]);
    const other = plugin('other', { needs: ['tts'], paths: ['/v1/other'], limits }, events);
    let changes = 0;
    const registry = await start([speech, other], undefined, {
      services: new LazyServices(openers),
      onChange: () => {
        changes += 1;
      },
    });
    expect(events).toEqual(['open tts', 'open stt', 'setup speech', 'setup other']);
    expect([...registry.models.values()]).toEqual([
      { id: 'model of tts', task: 'speech', limits: { characters: { maximum: 9 } } },
      { id: 'model of stt', task: 'transcription' },
    ]);
    expect(registry.unavailableError('/v1/speech/x')).toBeUndefined();
    events.splice(0);

    registry.applyDesiredStates(wish({ speech: false }));
    expect(registry.report('speech')).toEqual({ state: 'stopping' });
    expect(registry.routes).toHaveLength(1);
    expect(changes).toBe(1);
    expect(registry.unavailableError('/v1/speech/x')).toMatchObject({
      status: 503,
      code: 'plugin_stopping',
      retryAfterS: 2,
    });
    expect(registry.readiness().get('speech')).toEqual({ state: 'stopping', ready: false });
    gate.resolve();
    await until(registry, 'speech', 'off');
    expect(events).toEqual(['drain speech', 'close speech', 'close stt']);
    expect(registry.readiness().has('speech')).toBe(false);
    expect(registry.unavailableError('/v1/speech/x')).toMatchObject({ status: 404, code: 'plugin_disabled' });
    expect(registry.unavailableError('/v1/other')).toBeUndefined();
    expect([...registry.models.keys()]).toEqual(['model of tts']);
    await registry.close();
    expect(events.slice(3)).toEqual(['close other', 'close tts']);
  });

  test('on: opens its services first, while other plugins keep serving', async () => {
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const parts = new LazyServices({
      stt: async () => {
        await gate.promise;
        return opened('stt', events);
      },
    });
    let changes = 0;
    const speech = plugin('speech', { needs: ['stt'], paths: ['/v1/speech'] }, events);
    const registry = await start([speech, plugin('other', { paths: ['/v1/other'] }, events)], undefined, {
      services: parts,
      desiredStates: wish({ speech: false }),
      onChange: () => {
        changes += 1;
      },
    });
    expect(events).toEqual(['setup other']);
    expect(registry.report('speech')).toEqual({ state: 'off' });
    registry.applyDesiredStates(wish({ speech: true }));
    expect(registry.report('speech')).toEqual({ state: 'starting' });
    expect(registry.unavailableError('/v1/speech')).toMatchObject({ status: 503, code: 'plugin_starting' });
    expect(registry.unavailableError('/v1/other')).toBeUndefined();
    expect(changes).toBe(0);
    gate.resolve();
    await until(registry, 'speech', 'on');
    expect(events).toEqual(['setup other', 'open stt', 'setup speech']);
    expect(changes).toBe(1);
    await registry.close();
  });

  test('ignores an older desired state that arrives later', async () => {
    const registry = await start([plugin('a')]);
    const [older, newer] = [wish({ a: false }), wish({ a: true })];
    registry.applyDesiredStates(newer);
    registry.applyDesiredStates(older);
    expect(registry.report('a')).toEqual({ state: 'on' });
    await registry.close();
  });

  test('stops before its dependencies, and starts after them', async () => {
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const below = plugin('below', { offers: ['operations'] }, events);
    const above = plugin('above', { needs: ['operations'], drain: () => gate.promise }, events);
    const registry = await start([above, below]);
    registry.applyDesiredStates(wish({ below: false }));
    expect([registry.report('above'), registry.report('below')]).toEqual([
      { state: 'stopping' },
      { state: 'on' },
    ]);
    gate.resolve();
    await until(registry, 'below', 'off');
    expect(registry.report('above')).toEqual({
      state: 'off',
      detail: "depends on 'below', which is not running",
    });
    registry.applyDesiredStates(wish({ below: true }));
    await until(registry, 'above', 'on');
    await registry.close();
    expect(events).toEqual([
      ...['setup below', 'setup above', 'drain above', 'close above', 'drain below', 'close below'],
      ...['setup below', 'setup above', 'close above', 'close below'],
    ]);
  });

  test('abandons unfinished work at the end of the grace time', async () => {
    const events: string[] = [];
    const stuck = plugin('stuck', { drain: () => new Promise(() => {}) }, events);
    const registry = await start([stuck], undefined, { graceMs: 1 });
    registry.applyDesiredStates(wish({ stuck: false }));
    await until(registry, 'stuck', 'off');
    expect(events).toEqual(['setup stuck', 'drain stuck', 'close stuck']);
    await registry.close();
  });

  test('reports a failed start, closes its services, and retries when it is enabled again', async () => {
    const log = new RecordingLogger();
    const events: string[] = [];
    let works = false;
    const setup = () => {
      if (!works) throw new Error('private');
    };
    const it = plugin('it', { needs: ['tts'], paths: ['/v1/it'], setup }, events);
    const registry = await start([it], log, {
      desiredStates: wish({ it: false }),
      services: new LazyServices({ tts: () => opened('tts', events) }),
    });
    registry.applyDesiredStates(wish({ it: true }));
    await until(registry, 'it', 'failed');
    expect(registry.report('it').detail).toBe('start failed; see the log');
    expect(registry.unavailableError('/v1/it')).toMatchObject({ status: 503, code: 'plugin_failed' });
    expect(registry.readiness().get('it')).toMatchObject({ state: 'failed', ready: false });
    expect(events).toEqual(['open tts', 'setup it', 'close tts']);
    expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject([{ fields: { plugin: 'it' } }]);
    // The same desired state is not retried.
    registry.applyDesiredStates(new Map());
    expect(registry.report('it').state).toBe('failed');
    works = true;
    registry.applyDesiredStates(wish({ it: true }));
    await until(registry, 'it', 'on');
    await registry.close();
  });

  test('a service that fails to open does not affect others and leaves nothing open', async () => {
    const events: string[] = [];
    const parts = new LazyServices({
      tts: () => opened('tts', events),
      embed: () => opened('embed', events),
      stt: () => Promise.reject(new Error('the file is missing')),
    });
    const good = plugin('good', { needs: ['tts'] }, events);
    const bad = plugin('bad', { needs: ['tts', 'embed', 'stt'] }, events);
    const registry = await start([good, bad], undefined, {
      services: parts,
      desiredStates: wish({ good: false, bad: false }),
    });
    registry.applyDesiredStates(wish({ good: true, bad: true }));
    await until(registry, 'bad', 'failed');
    await until(registry, 'good', 'on');
    expect(events).toEqual(['open tts', 'setup good', 'open embed', 'close embed']);
    await registry.close();
    expect(events.slice(4)).toEqual(['close good', 'close tts']);
  });

  test('shutdown does not wait for a service that is being opened, nor for draining work', async () => {
    const events: string[] = [];
    const opening = Promise.withResolvers<never>();
    const parts = {
      slotNames: new Set(['stt', 'tts'] as const),
      provide: (needs: ReadonlySet<SlotName>) =>
        needs.has('stt') ? opening.promise : Promise.resolve({ tts: {} }),
      close: async () => opening.reject(new Error('closed')),
    } as unknown as RegistryOptions['services'];
    const stuck = plugin('stuck', { needs: ['tts'], drain: () => new Promise(() => {}) }, events);
    const registry = await start([stuck, plugin('slow', { needs: ['stt'] }, events)], undefined, {
      services: parts,
      desiredStates: wish({ slow: false }),
    });
    registry.applyDesiredStates(wish({ slow: true, stuck: false }));
    await registry.drain(AbortSignal.abort());
    await registry.close();
    expect(events).toEqual(['setup stuck', 'drain stuck', 'close stuck']);
    // Nothing starts anymore.
    registry.applyDesiredStates(wish({ stuck: true }));
    expect(events).toHaveLength(3);
  });
});

/** A service of the test that records its close. */
function opened(name: string, events: string[]) {
  events.push(`open ${name}`);
  return {
    value: { ids: [`model of ${name}`], get: () => undefined },
    async close() {
      events.push(`close ${name}`);
    },
  };
}

test('random switches and failures: dependencies start before and stop after, and everything is closed once', async () => {
  const NAMES = ['base', 'middle', 'top', 'alone'] as const;
  const NODES = {
    base: { needs: ['tts'], offers: ['operations'] },
    middle: { needs: ['operations', 'stt'], offers: ['webSearch'] },
    top: { needs: ['webSearch', 'tts'], offers: [] },
    alone: { needs: ['tts', 'stt'], offers: [] },
  } as const satisfies Record<string, Pick<AnyPlugin, 'needs' | 'offers'>>;
  /** Services and plugins that each plugin requires to be open. */
  const BELOW = {
    base: ['tts'],
    middle: ['base', 'stt'],
    top: ['middle', 'tts'],
    alone: ['tts', 'stt'],
  } as const;
  const step = fc.record({
    name: fc.constantFrom(...NAMES),
    enabled: fc.boolean(),
    fails: fc.boolean(),
    turns: fc.integer({ min: 0, max: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(), async (steps, seed) => {
      const random = seededRandom(seed);
      const takesLong = () => turns(Math.floor(random() * 6));
      /** Open services and plugins, by name. */
      const open = new Set<string>();
      const failing = new Set<string>();
      // Collected here, because the registry catches errors of plugins.
      const faults: string[] = [];
      const check = (holds: boolean, fault: string) => void (holds || faults.push(fault));
      const begin = (name: string) => {
        check(!open.has(name), `${name} is opened twice`);
        open.add(name);
      };
      const end = async (name: string) => {
        await takesLong();
        check(open.delete(name), `${name} is closed twice`);
      };
      const plugins = NAMES.map((name): AnyPlugin => {
        const { needs, offers } = NODES[name];
        const finds = (when: string) => {
          for (const each of BELOW[name]) check(open.has(each), `${name} lacks ${each} ${when}`);
        };
        return {
          name,
          needs,
          offers,
          routes: [],
          async setup(slots) {
            finds('at its start');
            for (const need of needs) check(slots[need] !== undefined, `${name} is not given ${need}`);
            await takesLong();
            if (failing.has(name)) throw new Error('fails');
            begin(name);
            return {
              provides: Object.fromEntries(offers.map((offer) => [offer, {}])),
              ready: () => ({ ready: true }),
              async drain() {
                await takesLong();
                finds('when it has drained');
              },
              async close() {
                await end(name);
                finds('when it has closed');
              },
            };
          },
        };
      });
      let isUnsteady = false;
      const part = (name: string) => async () => {
        await takesLong();
        if (isUnsteady && random() < 0.3) throw new Error('is missing');
        begin(name);
        return { value: { ids: [], get: () => undefined }, close: () => end(name) };
      };
      const registry = await start(plugins, undefined, {
        services: new LazyServices({ tts: part('tts'), stt: part('stt') } as ServiceFactories),
      });
      const wished = new Map<string, boolean>(NAMES.map((name) => [name, true]));
      isUnsteady = true;
      for (const { name, enabled, fails, turns: count } of steps) {
        if (fails) failing.add(name);
        else failing.delete(name);
        wished.set(name, enabled);
        registry.applyDesiredStates(wish({ [name]: enabled }));
        await turns(count);
      }
      // A failed plugin may be retried once.
      failing.clear();
      isUnsteady = false;
      registry.applyDesiredStates(wish(Object.fromEntries(wished)));
      const on = new Set<string>();
      for (const name of NAMES) {
        const hasNeeds = BELOW[name].every((each) => !(each in NODES) || on.has(each));
        if (wished.get(name) && hasNeeds) on.add(name);
      }
      await vi.waitFor(
        () => {
          for (const name of NAMES) expect(registry.report(name).state).toBe(on.has(name) ? 'on' : 'off');
          const below = NAMES.filter((name) => on.has(name)).flatMap((name) => BELOW[name]);
          expect(open).toEqual(new Set([...on, ...below]));
        },
        { ...PATIENCE, interval: 1 },
      );
      await registry.close();
      expect(open).toEqual(new Set());
      expect(faults).toEqual([]);
    }),
    { numRuns: repetitions(10, 100) },
  );
});

/** Yields to other tasks a number of times. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}
