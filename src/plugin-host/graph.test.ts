import { describe, expect, test } from 'vitest';
import type { Slots } from '../contract/plugin.ts';
import type { PluginDesiredState } from '../contract/stores/plugin-switch-store.ts';
import { enabledPlugins, type PluginNode, requireSwitchable, selectPlugins, startOrder } from './graph.ts';

type SlotName = keyof Slots;

function plugin(name: string, { needs = [], offers = [] }: Partial<PluginNode> = {}): PluginNode {
  return { name, needs, offers };
}

describe('PLUGINS', () => {
  const available = [plugin('speech'), plugin('voices'), plugin('batch')];
  const names = (chosen: readonly PluginNode[]) => chosen.map(({ name }) => name);

  test('loads all plugins if it is not set', () => {
    expect(names(selectPlugins(available, undefined))).toEqual(['speech', 'voices', 'batch']);
  });

  test('loads the named plugins, in the order of the build', () => {
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
  const order = (...plugins: PluginNode[]) =>
    startOrder(plugins, new Set<SlotName>(['clock', 'log'])).map(({ name }) => name);

  test('keeps the given order of independent plugins', () => {
    expect(order(plugin('c'), plugin('a', { needs: ['clock'] }), plugin('b'))).toEqual(['c', 'a', 'b']);
  });

  test('puts providers before their dependants', () => {
    const user = plugin('user', { needs: ['tts', 'calls'] });
    const middle = plugin('middle', { needs: ['tts'], offers: ['calls'] });
    const source = plugin('source', { offers: ['tts'] });
    expect(order(user, middle, source)).toEqual(['source', 'middle', 'user']);
  });

  test('the error of a need without a provider names both', () => {
    expect(() => order(plugin('speech', { needs: ['clock', 'tts'] }))).toThrow(
      /Plugin 'speech' needs 'tts', which neither the core nor a loaded plugin offers/,
    );
  });

  test('the error of a cycle describes it', () => {
    const a = plugin('a', { needs: ['tts'], offers: ['calls'] });
    const b = plugin('b', { needs: ['calls'], offers: ['tts'] });
    expect(() => order(plugin('fine'), a, b)).toThrow("'a' needs 'tts' of 'b', 'b' needs 'calls' of 'a'");
  });

  test('a plugin that depends on itself is a cycle', () => {
    expect(() => order(plugin('a', { needs: ['tts'], offers: ['tts'] }))).toThrow("'a' needs 'tts' of 'a'");
  });

  test('a service has one provider', () => {
    expect(() => order(plugin('a', { offers: ['tts'] }), plugin('b', { offers: ['tts'] }))).toThrow(
      "Plugin 'b' offers 'tts', which a offers already",
    );
    expect(() => order(plugin('a', { offers: ['clock'] }))).toThrow(
      "offers 'clock', which the core offers already",
    );
  });

  test('names are unique', () => {
    expect(() => order(plugin('a'), plugin('a'))).toThrow("Two plugins are named 'a'");
  });
});

describe('desired states', () => {
  const plugins = [
    plugin('responses', { offers: ['operations'] }),
    plugin('speech'),
    plugin('batch', { needs: ['operations'], offers: ['tts'] }),
    plugin('last', { needs: ['tts'] }),
  ];
  const wishes = (enabled: Readonly<Record<string, boolean>>) =>
    new Map(
      Object.entries(enabled).map(([name, isEnabled]): [string, PluginDesiredState] => [
        name,
        { enabled: isEnabled, revision: 1, changedAt: 0 },
      ]),
    );

  test.each([
    [{}, ['responses', 'speech', 'batch', 'last']],
    [{ speech: true }, ['responses', 'speech', 'batch', 'last']],
    [{ speech: false }, ['responses', 'batch', 'last']],
    [{ batch: false }, ['responses', 'speech']],
    [{ responses: false, batch: true }, ['speech']],
    [{ gone: false }, ['responses', 'speech', 'batch', 'last']],
  ])('%j leaves %j', (enabled, left) => {
    expect([...enabledPlugins(plugins, wishes(enabled))]).toEqual(left);
  });

  const ask = (enabled: Readonly<Record<string, boolean>>, name: string, to: boolean) => {
    const asked = plugins.find((each) => each.name === name);
    if (asked === undefined) throw new Error(`no ${name}`);
    return () => requireSwitchable(plugins, wishes(enabled), asked, to);
  };

  test('rejects disabling a dependency and enabling without one; the error names both plugins', () => {
    expect(ask({}, 'responses', false)).toThrow(
      "Plugin 'batch' depends on 'responses'. Disable 'batch' first.",
    );
    expect(ask({ responses: false, batch: false }, 'batch', true)).toThrow(
      "Plugin 'batch' depends on 'responses', which is disabled. Enable 'responses' first.",
    );
    expect(ask({}, 'responses', false)).toThrow(
      expect.objectContaining({ kind: 'conflict', code: 'plugin_needed' }),
    );
  });

  test('accepts all other changes', () => {
    expect(ask({}, 'speech', false)).not.toThrow();
    expect(ask({}, 'last', false)).not.toThrow();
    expect(ask({ batch: false }, 'responses', false)).not.toThrow();
    expect(ask({ batch: false }, 'batch', true)).not.toThrow();
    expect(ask({}, 'speech', true)).not.toThrow();
  });
});
