/** Metrics of batches. */

import type { Metrics } from '../../../src/contract/core/metrics.ts';

/** Creation times have a resolution of one second. */
const WAIT_SECONDS = [1, 5, 15, 60, 300, 1800, 7200, 43_200];

export type BatchMetrics = ReturnType<typeof batchMetrics>;

export function batchMetrics(metrics: Metrics) {
  return {
    /** `result` is `completed` or `failed`. Counted when the result is saved. */
    lines: metrics.counter('batch_lines_total', 'Batch lines with a saved result.', ['endpoint', 'result']),
    finished: metrics.counter('batches_finished_total', 'Finished batches.', ['status']),
    /** Observed when a batch is claimed for the first time. */
    wait: metrics.histogram(
      'batch_wait_seconds',
      'Time from the creation of a batch to its first runner, in whole seconds.',
      [],
      WAIT_SECONDS,
    ),
  };
}

export function openBatchesGauge(metrics: Metrics, batches: { readonly open: number }): void {
  const help = 'Unfinished batches of all machines, as of the last check.';
  metrics.gauge('batches_open', help, () => batches.open);
}
