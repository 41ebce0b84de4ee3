import type { ReadyReport } from '../../contract/engines/engine.ts';
import {
  STORAGE_PLACES,
  type StorageHealth,
  type StoragePlace,
} from '../../contract/stores/storage-health.ts';
import type { ListedModel } from './models.ts';
import type { PluginStatus } from './plugins.ts';
import type { ServingPhase } from './serving-phase.ts';

/** Whether a plugin accepts work. */
export interface PluginReadiness extends ReadyReport {
  readonly state: PluginStatus['state'];
}

/** Whether a model accepts work. */
export interface ModelReadiness extends ReadyReport {
  /** What the model does, as in GET /v1/models. */
  readonly task: ListedModel['task'];
}

/** Everything that decides whether a load balancer should send requests to this process. */
export interface ReadinessInput {
  readonly phase: ServingPhase;
  /** Plugins that are not off, by name. */
  readonly plugins: ReadonlyMap<string, PluginReadiness>;
  /** Models of the plugins that are on, by id. */
  readonly models: ReadonlyMap<string, ModelReadiness>;
  /** Whether each store has space. */
  readonly storage: ReadonlyMap<StoragePlace, ReadyReport>;
  /** Ids of models that CONFIG marks with `required = true`. */
  readonly requiredModels: ReadonlySet<string>;
}

/** The `status` of `/readyz`; only `ready` is sent with HTTP status 200. */
export type ReadinessStatus = 'ready' | 'unavailable' | 'stopping';

/**
 * With a full database, no request can be billed, so the status is `unavailable`. Other full stores are only reported, because
 * most requests do not use them. One unavailable model does not remove a process from the load balancer while others work: the status is `unavailable`
 * only if a required model is unavailable, or all models are. Without models, one plugin that accepts work is enough.
 */
export function readinessStatus(input: ReadinessInput): ReadinessStatus {
  const { phase, plugins, models, storage, requiredModels } = input;
  if (phase !== 'serving') return 'stopping';
  if (storage.get('database')?.ready === false) return 'unavailable';
  for (const [id, { ready }] of models) {
    if (!ready && requiredModels.has(id)) return 'unavailable';
  }
  const candidates: readonly ReadyReport[] =
    models.size > 0 ? [...models.values()] : [...plugins.values()].filter(({ state }) => state === 'on');
  return candidates.length === 0 || candidates.some(({ ready }) => ready) ? 'ready' : 'unavailable';
}

/** The report of each store for {@link ReadinessInput}. */
export function storageReports(storage: StorageHealth): ReadinessInput['storage'] {
  return new Map(
    STORAGE_PLACES.map((place) => [
      place,
      storage.isFull(place) ? { ready: false, detail: 'storage is full' } : { ready: true },
    ]),
  );
}
