/** Metrics of the partner endpoints. */

import type { Metrics } from '../../src/contract/core/metrics.ts';

const FINAL_SECONDS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];

/** Counters and histograms shared by all calls. */
export type PartnerMetrics = ReturnType<typeof partnerMetrics>;

export function partnerMetrics(metrics: Metrics) {
  return {
    turns: metrics.counter('partner_turns_total', 'Finished customer turns.', ['status']),
    partials: metrics.counter('partner_partials_total', 'Partial transcripts sent.', []),
    final: metrics.histogram(
      'partner_final_seconds',
      'Time from the end of a turn to its final transcript.',
      [],
      FINAL_SECONDS,
    ),
  };
}
