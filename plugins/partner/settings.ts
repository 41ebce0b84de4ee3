import { integer, section } from '../../src/config/section.ts';

export const partnerSettings = [
  section('partner', {
    /** Silence that ends a turn of the customer. */
    silenceMs: integer('silence_ms', {
      min: 100,
      max: 2000,
      default: 350,
      doc: 'end-of-turn silence; lower values respond faster but interrupt more',
    }),
    /** New audio after which an open turn is transcribed again for a partial result; 0 disables partial results. */
    partialMs: integer('partial_ms', {
      min: 0,
      max: 10_000,
      default: 700,
      doc: 'new audio before an open turn is transcribed again for a partial; 0: no partials',
    }),
  }),
  section('limits', {
    partnerCallsPerOrganization: integer('partner_calls_per_organization', {
      min: 1,
      max: 1_000_000,
      default: 1000,
      doc: 'concurrent calls; further calls get 429',
    }),
  }),
] as const;
