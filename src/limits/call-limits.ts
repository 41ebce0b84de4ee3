/** Calls at once, counted here or in Redis. */

import type { CallLimits, LimitedUser, PerUser } from '../contract/accounts/limits.ts';
import type { Clock } from '../contract/core/clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { RedisCircuitBreaker } from './redis-circuit-breaker.ts';

const RETRY_AFTER_S = 2;
/** A place in Redis that is not renewed for so long belongs to a machine that died. */
const LEASE_MS = 60_000;
const RENEWAL_MS = 20_000;

/** Takes all places or none: each key of KEYS is a sorted set of calls by the end of their leases. */
const ENTER = `
for at, set in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', set, '-inf', ARGV[1])
  if redis.call('ZCARD', set) >= tonumber(ARGV[3 + at]) then return at end
end
for _, set in ipairs(KEYS) do
  redis.call('ZADD', set, ARGV[2], ARGV[3])
  redis.call('PEXPIRE', set, ${2 * LEASE_MS})
end
return 0`;

interface Place {
  readonly whose: 'key' | 'organization';
  readonly name: string;
  readonly limit: number;
}

/** Where places are counted. */
interface PlaceStore {
  /** Takes a place of each for a call; the place that is missing otherwise. */
  enter(places: readonly Place[], call: string): Promise<Place | undefined>;
  leave(places: readonly Place[], call: string): Promise<void>;
}

export interface CallLimitsOptions {
  readonly limits: PerUser;
  /** Counts for all machines; without it this process counts by itself. */
  readonly redis: RedisCircuitBreaker | undefined;
  readonly clock: Clock;
}

/** Open limits; `close` ends what they do by themselves. */
export interface OpenCallLimits extends CallLimits {
  close(): void;
}

export function callLimits({ limits, redis, clock }: CallLimitsOptions): OpenCallLimits {
  const store = redis === undefined ? memoryStore() : new RedisStore(redis, clock);
  return {
    async acquire(user, call) {
      const places = placesOf(limits, user);
      if (places.length === 0) return () => undefined;
      const missing = await store.enter(places, call);
      if (missing !== undefined) throw tooMany(missing);
      return () => void store.leave(places, call);
    },
    close() {
      if (store instanceof RedisStore) store.close();
    },
  };
}

function placesOf({ key, organization }: PerUser, user: LimitedUser): Place[] {
  const places: Place[] = [];
  if (key !== undefined) places.push({ whose: 'key', name: user.keyId, limit: key });
  if (organization !== undefined) {
    places.push({ whose: 'organization', name: user.organization, limit: organization });
  }
  return places;
}

function tooMany({ whose, limit }: Place): ServiceError {
  return new ServiceError(
    'rate_limited',
    `Your ${whose === 'key' ? 'API key' : 'organization'} may have ${limit} calls open at once. Try again when one has ended.`,
    { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
  );
}

function setOf({ whose, name }: Place): string {
  return `calls:${whose}:${name}`;
}

function memoryStore(): PlaceStore {
  const open = new Map<string, Set<string>>();
  return {
    async enter(places, call) {
      const missing = places.find((place) => (open.get(setOf(place))?.size ?? 0) >= place.limit);
      if (missing !== undefined) return missing;
      for (const place of places) {
        const calls = open.get(setOf(place)) ?? new Set();
        open.set(setOf(place), calls.add(call));
      }
      return undefined;
    },
    async leave(places, call) {
      for (const place of places) {
        const calls = open.get(setOf(place));
        calls?.delete(call);
        if (calls?.size === 0) open.delete(setOf(place));
      }
    },
  };
}

class RedisStore implements PlaceStore {
  readonly #redis: RedisCircuitBreaker;
  readonly #clock: Clock;
  /** Counts for this process alone while Redis is away. */
  readonly #meanwhile = memoryStore();
  /** Sets of the calls whose leases are renewed. */
  readonly #held = new Map<string, readonly string[]>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(redis: RedisCircuitBreaker, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
    this.#timer = setInterval(() => void this.#renew(), RENEWAL_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async enter(places: readonly Place[], call: string): Promise<Place | undefined> {
    const sets = places.map(setOf);
    const limits = places.map(({ limit }) => limit);
    const now = this.#clock.now();
    const asked = await this.#redis.run((redis) =>
      redis.eval(ENTER, sets.length, ...sets, now, now + LEASE_MS, call, ...limits),
    );
    if (asked === undefined) return this.#meanwhile.enter(places, call);
    const at = Number(asked.answer);
    if (at === 0) this.#held.set(call, sets);
    return at === 0 ? undefined : places[at - 1];
  }

  async leave(places: readonly Place[], call: string): Promise<void> {
    await this.#meanwhile.leave(places, call);
    const sets = this.#held.get(call);
    this.#held.delete(call);
    // A place that cannot be given back ends with its lease.
    for (const set of sets ?? []) await this.#redis.run((redis) => redis.zrem(set, call));
  }

  async #renew(): Promise<void> {
    const until = this.#clock.now() + LEASE_MS;
    for (const [call, sets] of this.#held) {
      for (const set of sets) {
        await this.#redis.run((redis) =>
          redis
            .multi()
            .zadd(set, 'XX', until, call)
            .pexpire(set, 2 * LEASE_MS)
            .exec(),
        );
      }
    }
  }
}
