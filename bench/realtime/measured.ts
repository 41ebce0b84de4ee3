import type { Row } from '../report.ts';

/** What one part of the realtime bench found out. */
export interface Measured {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}
