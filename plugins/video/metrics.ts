/** Metrics of videos. */

import type { Metrics } from '../../src/contract/core/metrics.ts';

const GENERATION_SECONDS = [1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1800, 7200];

export type VideoMetrics = ReturnType<typeof videoMetrics>;

export function videoMetrics(metrics: Metrics) {
  return {
    finished: metrics.counter('videos_finished_total', 'Finished video jobs.', ['status']),
    /** Observed by the process that completed the job. */
    generation: metrics.histogram(
      'video_generation_seconds',
      'Generation time of a segment, from its last claim.',
      ['model'],
      GENERATION_SECONDS,
    ),
  };
}

export function openVideosGauge(metrics: Metrics, videos: { readonly open: number }): void {
  const help = 'Unfinished videos of all machines, as of the last check.';
  metrics.gauge('videos_open', help, () => videos.open);
}
