import { expect, test } from 'vitest';
import type { PluginSwitchStore } from '../../src/contract/stores/plugin-switch-store.ts';
import type { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';

/** Contract of the plugin switch store. `open` returns an empty store that reads the time from `clock`. */
export function pluginSwitchStoreCases(open: () => Promise<PluginSwitchStore>, clock: ManualClock): void {
  const now = () => Math.floor(clock.now() / 1000);

  test('a plugin that was never switched has no stored state', async () => {
    expect(await (await open()).list()).toEqual(new Map());
  });

  test('the latest desired state of each plugin is stored; its revision grows with every switch', async () => {
    const store = await open();
    const first = now();
    await store.setEnabled('speech', false);
    await store.setEnabled('video', false);
    clock.advance(7000);
    await store.setEnabled('speech', false);
    await store.setEnabled('speech', true);
    expect(await store.list()).toEqual(
      new Map([
        ['speech', { enabled: true, revision: 3, changedAt: first + 7 }],
        ['video', { enabled: false, revision: 1, changedAt: first }],
      ]),
    );
  });

  test('every concurrent switch increments the revision', async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 5 }, (_, at) => store.setEnabled('speech', at % 2 === 0)));
    expect((await store.list()).get('speech')).toMatchObject({ revision: 5 });
  });
}
