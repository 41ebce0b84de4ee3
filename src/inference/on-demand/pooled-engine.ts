import type { Logger } from '../../contract/core/logger.ts';
import type { ReadyReport } from '../../contract/engines/engine.ts';
import type { PooledModels } from './pooled-models.ts';
import { RetriedLoad } from './retried-load.ts';

interface Closable {
  ready(): ReadyReport;
  close(): Promise<void>;
}

/** Where the models of the pool are loaded. */
interface PoolHost {
  readonly pooled: PooledModels;
  readonly log: Logger;
  /** Pause after a failed download or load. Undefined: 30 s. */
  readonly modelRetryMs: number | undefined;
}

interface PooledEngineOptions<Engine extends Closable> {
  /** Model id, for messages to clients. */
  readonly model: string;
  /** Name in the pool. */
  readonly name: string;
  /** Opens the engine of a model that the pool has loaded. */
  readonly open: () => Engine;
  /** The engine of a model whose files are not on disk yet. */
  readonly openLater: (load: RetriedLoad<Engine>) => Engine;
}

/** Opens the engine of a model in the pool. A model whose files are not on disk is downloaded and loaded in the background. */
export function openPooledEngine<Engine extends Closable>(
  { pooled, log, modelRetryMs: retryMs }: PoolHost,
  { model, name, open, openLater }: PooledEngineOptions<Engine>,
): Engine {
  const download = pooled.absent(name);
  if (download === undefined) return open();
  const load = async () => {
    await pooled.loadAbsent(name);
    // An error of this id is not one of others with the same weights, which stay loaded.
    return open();
  };
  return openLater(new RetriedLoad({ model, download, load, log, retryMs }));
}
