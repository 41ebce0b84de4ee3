/** What `/metrics` tells of stored voices. */

import type { Metrics } from '../../src/contract/core/metrics.ts';

export type VoiceMetrics = ReturnType<typeof voiceMetrics>;

export function voiceMetrics(metrics: Metrics) {
  return {
    /**
     * `result` is `stored`, `rejected` (the clip cannot be used, or the organization has all its voices), `cancelled` (the
     * client left) or `failed`. What was refused before any work, such as a bad form, is not counted.
     */
    enrollments: metrics.counter('voice_enrollments_total', 'Clips that were worked on to store a voice.', [
      'result',
    ]),
    /** Of a voice, whatever it was before. */
    adaptations: metrics.counter('voice_adaptations_total', 'Better adaptations that were saved.', []),
  };
}
