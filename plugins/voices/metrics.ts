/** Metrics of stored voices. */

import type { Metrics } from '../../src/contract/core/metrics.ts';

export type VoiceMetrics = ReturnType<typeof voiceMetrics>;

export function voiceMetrics(metrics: Metrics) {
  return {
    /**
     * `result` is `stored`, `rejected` (unsupported clip, or voice limit reached), `cancelled` (client disconnected) or
     * `failed`. Requests that are rejected before processing, such as invalid forms, are not counted.
     */
    enrollments: metrics.counter('voice_enrollments_total', 'Clips processed for enrollment.', ['result']),
  };
}
