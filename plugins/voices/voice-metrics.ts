/** What `/metrics` tells of stored voices. */

import type { Metrics } from '../../src/contract/metrics.ts';

export type VoiceMetrics = ReturnType<typeof voiceMetrics>;

export function voiceMetrics(metrics: Metrics) {
  return {
    /** `result` is `stored`, `refused` (the clip or the form is at fault) or `failed`. */
    enrollments: metrics.counter('voice_enrollments_total', 'Requests to store a voice.', ['result']),
    /** Of a voice, whatever it was before. */
    adaptations: metrics.counter('voice_adaptations_total', 'Better adaptations that were saved.', []),
  };
}
