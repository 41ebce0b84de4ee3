/** What `/metrics` and traces tell of language models. */

import type { Metrics } from '../../../contract/core/metrics.ts';
import type { Tracer } from '../../../contract/core/tracer.ts';
import type { Priority } from '../../../contract/engines/engine.ts';
import { restartCounter, queueTimeObserver } from '../../workers/process-metrics.ts';

export interface LaneMeter {
  /** A request is worked on from now on. Called where it was asked for. Times are monotonic, in ms. */
  begun(priority: Priority, arrivedMs: number, nowMs: number): void;
  /** A process has ended by itself. */
  processCrashed(): void;
}

/** @param model its id in CONFIG. */
export function laneMeter(model: string, metrics: Metrics, tracer: Tracer): LaneMeter {
  const waited = queueTimeObserver(metrics);
  return {
    begun(priority, arrivedMs, nowMs) {
      waited(model, priority, nowMs - arrivedMs);
      tracer.recordSpan('queue', { attributes: { model, priority } }, arrivedMs, nowMs);
    },
    processCrashed: restartCounter(metrics, 'language_model'),
  };
}
