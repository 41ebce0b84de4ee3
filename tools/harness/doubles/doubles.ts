/** Test doubles of the services that the core passes to engines and plugins. */

import type { CallLimits, RequestLimits } from '../../../src/contract/accounts/limits.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { Metrics } from '../../../src/contract/core/metrics.ts';

/** Logs nothing. */
export const silentLog: Logger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};

/** Counts nothing. */
export const noMetrics: Metrics = {
  counter: () => ({ add: () => undefined }),
  upDownCounter: () => ({ add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
  gauge: () => () => undefined,
};

/** Allows all calls. */
export const noRequestLimits: RequestLimits = { countRequest: async () => undefined };
export const noCallLimits: CallLimits = { acquire: async () => () => undefined };
