/** Numbers that the kinds of processes have in common. */

import type { Metrics } from '../../contract/core/metrics.ts';
import type { Priority } from '../../contract/engines/engine.ts';

const QUEUE_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

/** What a process does, as `/metrics` names it. */
export type ProcessRole = 'inference' | 'voice_activity' | 'language_model';

/** Observes how long a request waited until a process began with it. */
export function queueSeconds(
  metrics: Metrics,
): (model: string, priority: Priority, waitedMs: number) => void {
  const seconds = metrics.histogram(
    'inference_queue_seconds',
    'Time that a request waited until a process began with it.',
    ['model', 'priority'],
    QUEUE_SECONDS,
  );
  return (model, priority, waitedMs) => seconds.observe({ model, priority }, waitedMs / 1000);
}

/** Counts processes of a role that ended by themselves and are replaced. */
export function lostProcesses(metrics: Metrics, role: ProcessRole): () => void {
  const lost = metrics.counter(
    'worker_restarts_total',
    'Processes that ended by themselves and were started again.',
    ['process'],
  );
  // Born at 0, or the first loss would be no increase.
  lost.add({ process: role }, 0);
  return () => lost.add({ process: role });
}
