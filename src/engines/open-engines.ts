/** Opens the engines for the model ids of CONFIG. All embedded models share one pool of inference processes. */

import { fileURLToPath } from 'node:url';
import type { Clock } from '../contract/core/clock.ts';
import { StartError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import type { InferenceSettings } from '../contract/core/settings.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { ServiceProvider } from '../contract/plugin.ts';
import { AudioLoad } from '../inference/audio-load.ts';
import { engineMetrics } from '../inference/engine-metrics.ts';
import { PooledModels } from '../inference/on-demand/pooled-models.ts';
import { SharedDownload, type Weights } from '../inference/on-demand/shared-download.ts';
import { backgroundPool } from '../inference/pool/background-pool.ts';
import { inferencePool } from '../inference/pool/inference-pool.ts';
import type { PoolSpec } from '../inference/pool/model-loader.ts';
import { poolMeter } from '../inference/pool/pool-metrics.ts';
import { LazyServices, type ServiceFactories } from '../kit/lifecycle/lazy-services.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import { DEFAULT_HUB_ENDPOINT, type HubSettings } from '../models/hub-reference.ts';
import { COMPONENTS } from './families.ts';
import { ENGINE_TASKS, type EngineHost, type ModelTables, modelTables, SLOT_OF_TASK } from './family.ts';
import { pooledModels } from './pool-models.ts';
import { openTask } from './task-table.ts';

const WORKER_ENTRY = fileURLToPath(new URL('./inference-worker.ts', import.meta.url));
const DEFAULT_HUB: HubSettings = { endpoint: DEFAULT_HUB_ENDPOINT, token: undefined };

export interface EngineOptions {
  /** Absent tables are empty. */
  readonly models: Partial<ModelTables>;
  /** Ids that follow another model, by id: they share its engine. Absent: none. */
  readonly followers?: ReadonlyMap<string, string>;
  readonly inference: InferenceSettings;
  readonly modelsDir: string;
  /** Server of weights `hf:…`. Absent: the public one, without a token. */
  readonly hub?: HubSettings;
  /** Ids of models that are loaded at the start regardless of their size. Absent: none. */
  readonly requiredModels?: ReadonlySet<string>;
  /** Idle time in ms after which a model that was loaded on demand is unloaded; 0 or absent: never. */
  readonly modelIdleMs?: number;
  /** Pause after a failed download or load of a model that is not on disk. Absent: 30 s. */
  readonly modelRetryMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Absent: no tracing. */
  readonly tracer?: Tracer;
}

/**
 * Returns the provider of the engine slots. Only models of needed slots are loaded, and `provide` resolves when they
 * have loaded. `provide` throws a StartError that names the missing model file, voice or library of the execution
 * provider.
 */
export function engineProvider(options: EngineOptions): ServiceProvider {
  const { inference: settings, modelsDir, hub = DEFAULT_HUB, followers = new Map() } = options;
  const { clock, log, metrics, tracer = noopTracer } = options;
  const tables = modelTables(options.models);
  const audioLoad = new AudioLoad();
  const poolOptions = { entry: WORKER_ENTRY, settings, clock, log, meter: poolMeter(metrics, tracer) };
  const pool = inferencePool<PoolSpec>({
    ...poolOptions,
    models: {},
    onLoad: (level) => audioLoad.set(level),
  });
  const download = (weights: Weights) =>
    new SharedDownload({
      weights,
      onNote: (note) => log.info('model download', { note }),
      nowMs: () => clock.monotonicMs(),
    });
  const pooled = new PooledModels({ pool, modelsDir, hub, download });
  const host: EngineHost = {
    tables,
    pooled,
    inference: settings,
    modelsDir,
    hub,
    requiredModels: options.requiredModels ?? new Set(),
    modelIdleMs: options.modelIdleMs ?? 0,
    modelRetryMs: options.modelRetryMs,
    audioLoad,
    clock,
    log,
    metrics,
    tracer,
    instrument: engineMetrics({ clock, metrics, tracer }),
    backgroundPool(models, workers = settings.workers) {
      if (settings.provider !== 'cpu') return undefined;
      return backgroundPool<PoolSpec>({ ...poolOptions, settings: { ...settings, workers }, models });
    },
    download,
  };
  const tasks = ENGINE_TASKS.map((task) => [SLOT_OF_TASK[task], () => openTask(task, host, followers)]);
  const components = COMPONENTS.map((component) => [component.slot, () => component.open(host)]);
  const services = new LazyServices(Object.fromEntries([...tasks, ...components]) as ServiceFactories);
  return {
    slotNames: services.slotNames,
    async provide(needs) {
      try {
        const models = pooledModels(needs, tables, modelsDir);
        pooled.check(models);
        // Services that use a model close before the pool unloads it, and open after the pool has loaded it.
        await services.closeExcept(needs);
        await pooled.load(models);
        return await services.provide(needs);
      } catch (error) {
        throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
    async close() {
      try {
        await services.close();
      } finally {
        await pool.close();
      }
    },
  };
}
