/**
 * Limit of requests per minute, counted in this process or in Redis (rate-limiter-flexible: a fixed window
 * that starts with its first request).
 */

import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitedUser, PerUser, RequestLimits } from '../contract/accounts/limits.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { RedisCircuitBreaker } from './redis-circuit-breaker.ts';

const WINDOW_S = 60;

/**
 * @param redis shared counters of all machines; without it, or while it is unavailable, this process counts
 *   by itself.
 */
export function requestLimits(
  { key, organization }: PerUser,
  redis: RedisCircuitBreaker | undefined,
): RequestLimits {
  const counters = [
    counterOf('key', key, redis, (user) => user.keyId),
    counterOf('organization', organization, redis, (user) => user.organization),
  ].filter((counter) => counter !== undefined);
  return {
    async countRequest(user) {
      for (const counter of counters) await counter(user);
    },
  };
}

type Counter = (user: LimitedUser) => Promise<void>;

function counterOf(
  scope: 'key' | 'organization',
  limit: number | undefined,
  redis: RedisCircuitBreaker | undefined,
  nameOf: (user: LimitedUser) => string,
): Counter | undefined {
  if (limit === undefined) return undefined;
  const window = { points: limit, duration: WINDOW_S, keyPrefix: `requests:${scope}` };
  const memory = new RateLimiterMemory(window);
  const shared = redis && new RateLimiterRedis({ ...window, storeClient: redis.client });
  return async (user) => {
    const name = nameOf(user);
    try {
      const counted = shared && (await redis.run(() => shared.consume(name)));
      if (counted === undefined) await memory.consume(name);
    } catch (rejected) {
      if (!(rejected instanceof RateLimiterRes)) throw rejected;
      throw tooMany(scope, limit, rejected.msBeforeNext);
    }
  };
}

function tooMany(scope: string, limit: number, waitMs: number): ServiceError {
  const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
  return new ServiceError(
    'rate_limited',
    `Your ${scope === 'key' ? 'API key' : 'organization'} is limited to ${limit} requests per minute. Retry in ${retryAfterS} s.`,
    { code: 'rate_limit_exceeded', retryAfterS },
  );
}
