/** Metrics and trace spans of language model workers. */

import type { Metrics } from '../../../contract/core/metrics.ts';
import type { Tracer } from '../../../contract/core/tracer.ts';
import type { Priority } from '../../../contract/engines/engine.ts';
import { queueTimeObserver } from '../../../inference/workers/process-metrics.ts';
import { restartCounter } from '../../../kit/process/restart-counter.ts';

export interface LlamaWorkerMeter {
  /** Generation starts. Call it in the async context of the request. Times are monotonic, in ms. */
  requestStarted(priority: Priority, arrivedMs: number, nowMs: number): void;
  /** A worker process exited unexpectedly. */
  processCrashed(): void;
}

/** @param model id of the model in CONFIG. */
export function llamaWorkerMeter(model: string, metrics: Metrics, tracer: Tracer): LlamaWorkerMeter {
  const waited = queueTimeObserver(metrics);
  return {
    requestStarted(priority, arrivedMs, nowMs) {
      waited(model, priority, nowMs - arrivedMs);
      tracer.recordSpan('queue', { attributes: { model, priority } }, arrivedMs, nowMs);
    },
    processCrashed: restartCounter(metrics, 'language_model'),
  };
}
