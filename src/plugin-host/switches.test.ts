import { afterEach, expect, test } from 'vitest';
import { noMetrics } from '../../tools/harness/doubles/doubles.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import type { PluginSwitchStore } from '../contract/stores/plugin-switch-store.ts';
import { LazyServices } from '../kit/lifecycle/lazy-services.ts';
import { pluginSwitchStore } from '../records/stores/plugin-switch-store.ts';
import { type AnyPlugin, startPlugins } from './registry.ts';
import { StoredSwitches } from './switches.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function plugin(name: string, node: Partial<AnyPlugin> = {}): AnyPlugin {
  const { needs = [], offers = [] } = node;
  return {
    name,
    needs,
    offers,
    routes: [],
    setup: async () => ({
      provides: Object.fromEntries(offers.map((offer) => [offer, {}])),
      ready: () => ({ ready: true, detail: 'fine' }),
      drain: async () => undefined,
      close: async () => undefined,
    }),
  };
}

const RESPONSES = plugin('responses', { offers: ['operations'] });
const BATCH = plugin('batch', { needs: ['operations'] });
const SPEECH = plugin('speech');

function database(): PluginSwitchStore {
  const records = memoryRecords();
  closing.push(() => records.close());
  return pluginSwitchStore(records, new ManualClock());
}

/** A process with two of three plugins. */
async function open(store: PluginSwitchStore, log = new RecordingLogger()) {
  const registry = await startPlugins({
    plugins: [RESPONSES, BATCH],
    core: {},
    services: new LazyServices({}),
    desiredStates: await store.list(),
    graceMs: 1000,
    log,
    metrics: noMetrics,
    onChange: () => undefined,
  });
  closing.push(() => registry.close());
  const available = [SPEECH, RESPONSES, BATCH];
  const switches = new StoredSwitches({ available, registry, store, log, intervalMs: 5 });
  closing.push(() => switches.close());
  return { registry, switches };
}

test('lists every plugin of the build with its dependencies', async () => {
  const { switches } = await open(database());
  const common = { switchable: true, paths: [] };
  expect(await switches.list()).toEqual([
    { name: 'speech', enabled: false, state: 'off', ...common, switchable: false, needs: [], neededBy: [] },
    {
      name: 'responses',
      enabled: true,
      state: 'on',
      detail: 'fine',
      ...common,
      needs: [],
      neededBy: ['batch'],
    },
    {
      name: 'batch',
      enabled: true,
      state: 'on',
      detail: 'fine',
      ...common,
      needs: ['responses'],
      neededBy: [],
    },
  ]);
});

test('every process of the database applies a change, also one that starts later', async () => {
  const store = database();
  const [one, other] = [await open(store), await open(store)];
  expect(await one.switches.set('batch', false)).toMatchObject({ name: 'batch', enabled: false });
  for (const { registry } of [one, other]) {
    await expect.poll(() => registry.report('batch')).toEqual({ state: 'off' });
  }
  const third = await open(store);
  expect(third.registry.report('batch')).toEqual({ state: 'off' });
  await other.switches.set('batch', true);
  for (const { registry } of [one, third]) {
    await expect.poll(() => registry.report('batch')).toMatchObject({ state: 'on' });
  }
});

test.each([
  [
    'telepathy',
    false,
    { kind: 'not_found', param: 'name', message: expect.stringContaining('speech, responses') },
  ],
  ['speech', true, { kind: 'conflict', code: 'plugin_not_loaded' }],
  ['responses', false, { kind: 'conflict', code: 'plugin_needed' }],
])('%s cannot be set to %j, and nothing is stored', async (name, enabled, error) => {
  const store = database();
  const { switches } = await open(store);
  await expect(switches.set(name, enabled)).rejects.toMatchObject(error);
  expect(await store.list()).toEqual(new Map());
});

test('an unavailable database is logged once, changes nothing, and is polled until it recovers', async () => {
  const store = database();
  const log = new RecordingLogger();
  let isAway = false;
  let asked = 0;
  const unsteady: PluginSwitchStore = {
    ...store,
    async list() {
      asked += 1;
      if (isAway) throw new Error('away');
      return await store.list();
    },
  };
  const { registry } = await open(unsteady, log);
  isAway = true;
  await store.setEnabled('batch', false);
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before + 3);
  expect(registry.report('batch')).toMatchObject({ state: 'on' });
  expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  isAway = false;
  await expect.poll(() => registry.report('batch').state).toBe('off');
});
