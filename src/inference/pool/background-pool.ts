import { BackgroundWorker } from '../workers/background-worker.ts';
import { type InferencePool, type InferencePoolOptions, inferencePool } from './inference-pool.ts';

export interface BackgroundPoolOptions<Spec> extends Omit<InferencePoolOptions<Spec>, 'lowPriority'> {
  /** Default: 5 minutes. */
  readonly idleMs?: number;
}

/** A pool for background work. Its processes run under SCHED_IDLE, start with the first job, and stop when idle. */
export function backgroundPool<Spec>(
  options: BackgroundPoolOptions<Spec>,
): Pick<InferencePool, 'runJob' | 'close'> {
  const { log, idleMs } = options;
  const createWorker = () => inferencePool({ ...options, lowPriority: true });
  const worker = new BackgroundWorker({ name: 'background inference pool', createWorker, log, idleMs });
  return {
    runJob: (model, spec, signal) => worker.runJob((pool) => pool.runJob(model, spec, signal)),
    close: () => worker.close(),
  };
}
