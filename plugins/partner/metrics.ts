/** What `/metrics` tells of calls of the partner platform. */

import type { Metrics } from '../../src/contract/core/metrics.ts';

const FINAL_SECONDS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];

/** The counters and histograms that all calls share. */
export type PartnerMetrics = ReturnType<typeof partnerMetrics>;

export function partnerMetrics(metrics: Metrics) {
  return {
    turns: metrics.counter('partner_turns_total', 'Turns of customers that have ended.', ['status']),
    partials: metrics.counter('partner_partials_total', 'Partial transcripts that were sent.', []),
    final: metrics.histogram(
      'partner_final_seconds',
      'Time from the silence that ended a turn to its transcript.',
      [],
      FINAL_SECONDS,
    ),
  };
}
