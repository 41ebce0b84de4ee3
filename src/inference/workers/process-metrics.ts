/** Metrics that all kinds of worker processes share. */

import type { Metrics } from '../../contract/core/metrics.ts';
import type { Priority } from '../../contract/engines/engine.ts';

const QUEUE_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

/** Returns a function that observes the queue time of a request, in ms. */
export function queueTimeObserver(
  metrics: Metrics,
): (model: string, priority: Priority, waitedMs: number) => void {
  const seconds = metrics.histogram(
    'inference_queue_seconds',
    'Queue time of requests before a process starts them.',
    ['model', 'priority'],
    QUEUE_SECONDS,
  );
  return (model, priority, waitedMs) => seconds.observe({ model, priority }, waitedMs / 1000);
}
