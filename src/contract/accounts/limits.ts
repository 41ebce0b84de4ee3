/** How much of the service a key and an organization may use; the same on every machine that shares a Redis. */

import type { Id } from '../core/id.ts';
import type { Caller } from './caller.ts';

/** Whose use is counted. */
export type LimitedUser = Pick<Caller, 'keyId' | 'organization'>;

/** Undefined is without a limit. */
export interface LimitSettings {
  readonly requestsPerMinute: PerUser;
  readonly concurrentCalls: PerUser;
}

export interface PerUser {
  readonly key: number | undefined;
  readonly organization: number | undefined;
}

/** Requests over time. */
export interface RequestLimits {
  /**
   * Counts a request.
   * @throws ServiceError `rate_limited` with the time to wait when the key or the organization has sent too many.
   */
  countRequest(user: LimitedUser): Promise<void>;
}

/** Billed calls at once. */
export interface CallLimits {
  /**
   * Takes a place for a call; the result gives it back, once.
   * @throws ServiceError `rate_limited` when the key or the organization has too many open.
   */
  acquire(user: LimitedUser, call: Id<'usage'>): Promise<() => void>;
}
