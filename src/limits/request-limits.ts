/** Requests of a minute, counted here or in Redis (rate-limiter-flexible: a window that begins with its first request). */

import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitedUser, PerUser, RequestLimits } from '../contract/accounts/limits.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { RedisCircuitBreaker } from './redis-circuit-breaker.ts';

const WINDOW_S = 60;

/**
 * @param redis counts for all machines; without it, or while it is away, this process counts by itself.
 */
export function requestLimits({ key, organization }: PerUser, redis: RedisCircuitBreaker | undefined): RequestLimits {
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
  whose: 'key' | 'organization',
  limit: number | undefined,
  redis: RedisCircuitBreaker | undefined,
  nameOf: (user: LimitedUser) => string,
): Counter | undefined {
  if (limit === undefined) return undefined;
  const window = { points: limit, duration: WINDOW_S, keyPrefix: `requests:${whose}` };
  const memory = new RateLimiterMemory(window);
  const shared = redis && new RateLimiterRedis({ ...window, storeClient: redis.client });
  return async (user) => {
    const name = nameOf(user);
    try {
      const counted = shared && (await redis.run(() => shared.consume(name)));
      if (counted === undefined) await memory.consume(name);
    } catch (rejected) {
      if (!(rejected instanceof RateLimiterRes)) throw rejected;
      throw tooMany(whose, limit, rejected.msBeforeNext);
    }
  };
}

function tooMany(whose: string, limit: number, waitMs: number): ServiceError {
  const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
  return new ServiceError(
    'rate_limited',
    `Your ${whose === 'key' ? 'API key' : 'organization'} may send ${limit} requests a minute. Try again in ${retryAfterS} s.`,
    { code: 'rate_limit_exceeded', retryAfterS },
  );
}
