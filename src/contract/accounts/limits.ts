/** Rate and concurrency limits of API keys and organizations, shared by all machines that share a Redis. */

import type { Id } from '../core/id.ts';
import type { Caller } from './caller.ts';

/** Key and organization that a request counts against. */
export type LimitedUser = Pick<Caller, 'keyId' | 'organization'>;

/** Undefined means unlimited. */
export interface LimitSettings {
  readonly requestsPerMinute: PerUser;
  readonly concurrentCalls: PerUser;
}

export interface PerUser {
  readonly key: number | undefined;
  readonly organization: number | undefined;
}

/** Request rate limit. */
export interface RequestLimits {
  /**
   * Counts a request.
   * @throws ServiceError `rate_limited` with a retry delay if the key or the organization exceeds its limit.
   */
  countRequest(user: LimitedUser): Promise<void>;
}

/** Limit of concurrent billed calls. */
export interface CallLimits {
  /**
   * Acquires a slot for a call.
   * @returns a function that releases the slot; must be called once.
   * @throws ServiceError `rate_limited` if the key or the organization has too many open calls.
   */
  acquire(user: LimitedUser, call: Id<'usage_'>): Promise<() => void>;
}
