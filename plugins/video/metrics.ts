/** What `/metrics` tells of videos. */

import type { Metrics } from '../../src/contract/core/metrics.ts';

const MAKING_SECONDS = [1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1800, 7200];

export type VideoMetrics = ReturnType<typeof videoMetrics>;

export function videoMetrics(metrics: Metrics) {
  return {
    ended: metrics.counter('videos_finished_total', 'Video jobs that have ended.', ['status']),
    /** Observed in the process that has made one. */
    making: metrics.histogram(
      'video_generation_seconds',
      'Time that a segment took to make, from its last runner on.',
      ['model'],
      MAKING_SECONDS,
    ),
  };
}
