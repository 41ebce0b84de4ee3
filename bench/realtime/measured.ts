import type { Row } from '../report.ts';

/** Results of one part of the realtime benchmark. */
export interface Measured {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}
