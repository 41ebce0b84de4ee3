import packageJson from '../package.json' with { type: 'json' };
import { openBlobs } from '../src/blobs/open-blobs.ts';
import type { Clock } from '../src/contract/core/clock.ts';
import type { ModelFiles } from '../src/contract/model-table.ts';
import type { ServiceProvider, Slots } from '../src/contract/plugin.ts';
import { openJobs } from '../src/jobs/open-jobs.ts';
import { combineProviders, LazyServices, serviceHandle } from '../src/kit/lifecycle/lazy-services.ts';
import type { RootLogger } from '../src/kit/logging/json-logger.ts';
import { callLimits } from '../src/limits/call-limits.ts';
import { RedisCircuitBreaker } from '../src/limits/redis-circuit-breaker.ts';
import { createMetrics } from '../src/metrics/registry.ts';
import { isEnabled } from '../src/plugin-host/graph.ts';
import { type AnyPlugin, startPlugins } from '../src/plugin-host/registry.ts';
import { StoredSwitches } from '../src/plugin-host/switches.ts';
import { openTracing } from '../src/tracing/open-tracing.ts';
import { startAccounts } from '../src/usage/start-accounts.ts';
import { Composition } from './composition.ts';
import type { Config } from './config.ts';
import { Front } from './front.ts';
import { openListeners } from './listeners.ts';
import {
  openDatabase,
  openStorage,
  openStores,
  type StoreFailures,
  type Stores,
  storeFailures,
} from './stores.ts';

/** A build of the service; server/main.ts uses the real one. */
export interface Build {
  /** All features, in the order of the contract's PLUGINS. */
  plugins(config: Config): readonly AnyPlugin[];
  /** The files of the models on this machine, by model id. Absent: no model has files. */
  modelFiles?(config: Config): Promise<ReadonlyMap<string, ModelFiles>>;
  /** Creates the services that plugins need: engines of the configured models, audio decoding etc. */
  services(config: Config, base: Pick<Slots, 'clock' | 'log' | 'metrics' | 'tracer'>): ServiceProvider;
}

/** What is known before the first service. */
export interface Seed {
  readonly build: Build;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: RootLogger;
  /** Every plugin of the build. */
  readonly available: readonly AnyPlugin[];
  /** Plugins that PLUGINS loads. */
  readonly plugins: readonly AnyPlugin[];
}

/** What reports requests, calls and plugins to metrics and logs. */
type Base = Pick<Slots, 'clock' | 'log' | 'metrics' | 'tracer'>;
type Accounts = Awaited<ReturnType<typeof startAccounts>>;

const foundation = new Composition<Seed>()
  .with({ name: 'metrics', open: ({ clock }) => createMetrics(clock), close: (it) => it.close() })
  .with({ name: 'front', open: ({ plugins }) => new Front(plugins.map(({ name }) => name)) })
  // Before the database, so that a second process on the same port changes nothing there.
  .with({ name: 'listeners', open: openListeners, close: (it) => it.close() })
  .with({
    name: 'storage',
    open: ({ config, clock, metrics }) => openStorage(config, clock, metrics),
    close: (it) => it.close(),
  })
  .with({ name: 'failures', open: ({ metrics, storage }) => storeFailures(metrics, storage) })
  .with({
    name: 'records',
    open: ({ config, log, failures }) => openDatabase(config, log, failures),
    close: (it) => it.close(),
  })
  // Requests that outlived the grace time end before the database is closed.
  .with({ name: 'requests', open: ({ listeners }) => listeners, close: (it) => it.stop() })
  .with({ name: 'stores', open: ({ records, config, clock }) => openStores(records, config, clock) })
  .with({
    name: 'desiredStates',
    async open({ stores, front }) {
      const desiredStates = await stores.switches.list();
      front.awaited = front.awaited.filter((name) => isEnabled(desiredStates, name));
      return desiredStates;
    },
  });

const accounting = foundation
  .with({
    name: 'tracing',
    open: ({ config, clock, log, metrics }) =>
      openTracing(config.tracing, { version: packageJson.version, clock, log, metrics }),
    close: (it) => it.close(),
  })
  .with({
    name: 'base',
    open: ({ clock, log, metrics, tracing: { tracer } }): Base => ({ clock, log, metrics, tracer }),
  })
  .with({
    name: 'redis',
    open: async ({ config: { redisUrl } }) => {
      if (redisUrl === undefined) return undefined;
      // Imported only if needed, to start faster.
      const { openRedis } = await import('../src/redis/open-redis.ts');
      return openRedis(redisUrl);
    },
    close: (it) => it?.disconnect(),
  })
  .with({
    name: 'redisBreaker',
    open: ({ redis, clock, log, failures }) =>
      redis && new RedisCircuitBreaker({ redis, clock, log, failed: failures('redis') }),
  })
  .with({
    name: 'limits',
    open: ({ config: { rateLimits }, redisBreaker: redis, clock }) =>
      callLimits({ limits: rateLimits.concurrentCalls, redis, clock }),
    close: (it) => it.close(),
  })
  .with({
    name: 'accounts',
    open: ({ base, stores: { journal }, config: { prices }, limits }) =>
      startAccounts({ ...base, journal, prices, limits }),
    close: (it) => it.close(),
  });

/** The services of the process, in the order in which they are opened. */
export const services = accounting
  .with({
    name: 'registry',
    open: ({ build, config, plugins, base, accounts, stores, storage, failures, desiredStates, front }) =>
      startPlugins({
        plugins,
        core: coreSlots(base, accounts, stores, storage),
        services: pluginServices({ build, config, base, stores, failures }),
        desiredStates,
        graceMs: config.shutdownGraceMs,
        log: base.log,
        metrics: base.metrics,
        onChange: () => front.rebuild(),
      }),
    close: (it) => it.close(),
  })
  .with({
    name: 'switches',
    open: ({ available, registry, stores, log }) =>
      new StoredSwitches({ available, registry, store: stores.switches, log }),
    close: (it) => it.close(),
  });

/** The opened services, with what they started from. */
export type Running = Awaited<ReturnType<typeof services.open>>['services'];

/** Services that are always available to plugins. */
function coreSlots(
  base: Base,
  { calls, lineCalls, jobCalls }: Accounts,
  { slots }: Stores,
  storage: Slots['storage'],
): Partial<Slots> {
  return { ...base, ...slots, calls, lineCalls, jobCalls, storage };
}

/** Services that are open while a plugin needs them. */
function pluginServices({
  build,
  config,
  base,
  stores,
  failures,
}: {
  readonly build: Build;
  readonly config: Config;
  readonly base: Base;
  readonly stores: Stores;
  readonly failures: StoreFailures;
}): ServiceProvider {
  const { clock, log, tracer } = base;
  const jobSettings = {
    redisUrl: config.redisUrl,
    store: stores.jobs,
    clock,
    log,
    tracer,
    runs: config.runsJobs,
    failed: failures('redis'),
  };
  return combineProviders([
    build.services(config, base),
    new LazyServices({
      blobs: async () => serviceHandle(await openBlobs(config.blobs, clock, failures('blobs'))),
      jobs: async () => serviceHandle(await openJobs(jobSettings)),
    }),
  ]);
}
