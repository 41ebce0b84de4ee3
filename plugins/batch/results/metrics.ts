/** What `/metrics` tells of batches. */

import type { Metrics } from '../../../src/contract/core/metrics.ts';

/** A batch knows the second of its creation. */
const WAIT_SECONDS = [1, 5, 15, 60, 300, 1800, 7200, 43_200];

export type BatchMetrics = ReturnType<typeof batchMetrics>;

export function batchMetrics(metrics: Metrics) {
  return {
    /** `result` is `completed` or `failed`; counted when it is saved. */
    lines: metrics.counter('batch_lines_total', 'Lines of batches that have a result.', [
      'endpoint',
      'result',
    ]),
    ended: metrics.counter('batches_finished_total', 'Batches that have ended.', ['status']),
    /** Observed when a runner has a batch that nobody had before. */
    wait: metrics.histogram(
      'batch_wait_seconds',
      'Time from the creation of a batch to its first runner, in whole seconds.',
      [],
      WAIT_SECONDS,
    ),
  };
}
