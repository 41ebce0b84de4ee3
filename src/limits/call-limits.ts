/** Limit of concurrent calls, counted in this process or in Redis. */

import type { CallLimits, LimitedUser, PerUser } from '../contract/accounts/limits.ts';
import type { Clock } from '../contract/core/clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { RedisCircuitBreaker } from './redis-circuit-breaker.ts';

const RETRY_AFTER_S = 2;
/** Duration of a slot in Redis without renewal, in ms; slots of crashed machines expire. */
const LEASE_MS = 60_000;
const RENEWAL_MS = 20_000;

/**
 * Acquires all slots or none. Each key of KEYS is a sorted set of calls, scored by the expiry of their
 * leases.
 */
const ACQUIRE_SCRIPT = `
for at, set in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', set, '-inf', ARGV[1])
  if redis.call('ZCARD', set) >= tonumber(ARGV[3 + at]) then return at end
end
for _, set in ipairs(KEYS) do
  redis.call('ZADD', set, ARGV[2], ARGV[3])
  redis.call('PEXPIRE', set, ${2 * LEASE_MS})
end
return 0`;

interface Slot {
  readonly scope: 'key' | 'organization';
  readonly name: string;
  readonly limit: number;
}

/** Storage of slots. */
interface SlotStore {
  /**
   * Acquires a slot in each scope for a call.
   * @returns the first scope without a free slot; undefined on success.
   */
  acquire(slots: readonly Slot[], call: string): Promise<Slot | undefined>;
  release(slots: readonly Slot[], call: string): Promise<void>;
}

export interface CallLimitsOptions {
  readonly limits: PerUser;
  /** Shared counters of all machines; without Redis this process counts by itself. */
  readonly redis: RedisCircuitBreaker | undefined;
  readonly clock: Clock;
}

/** Call limits with a renewal timer, which `close` stops. */
export interface OpenCallLimits extends CallLimits {
  close(): void;
}

export function callLimits({ limits, redis, clock }: CallLimitsOptions): OpenCallLimits {
  const store = redis === undefined ? memoryStore() : new RedisStore(redis, clock);
  return {
    async acquire(user, call) {
      const slots = slotsOf(limits, user);
      if (slots.length === 0) return () => undefined;
      const missing = await store.acquire(slots, call);
      if (missing !== undefined) throw tooMany(missing);
      return () => void store.release(slots, call);
    },
    close() {
      if (store instanceof RedisStore) store.close();
    },
  };
}

function slotsOf({ key, organization }: PerUser, user: LimitedUser): Slot[] {
  const slots: Slot[] = [];
  if (key !== undefined) slots.push({ scope: 'key', name: user.keyId, limit: key });
  if (organization !== undefined) {
    slots.push({ scope: 'organization', name: user.organization, limit: organization });
  }
  return slots;
}

function tooMany({ scope, limit }: Slot): ServiceError {
  return new ServiceError(
    'rate_limited',
    `Concurrency limit per ${scope === 'key' ? 'API key' : 'organization'} reached: ${limit} calls in flight. Retry when one finishes.`,
    { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
  );
}

function setOf({ scope, name }: Slot): string {
  return `calls:${scope}:${name}`;
}

function memoryStore(): SlotStore {
  const open = new Map<string, Set<string>>();
  return {
    async acquire(slots, call) {
      const missing = slots.find((slot) => (open.get(setOf(slot))?.size ?? 0) >= slot.limit);
      if (missing !== undefined) return missing;
      for (const slot of slots) {
        const calls = open.get(setOf(slot)) ?? new Set();
        open.set(setOf(slot), calls.add(call));
      }
      return undefined;
    },
    async release(slots, call) {
      for (const slot of slots) {
        const calls = open.get(setOf(slot));
        calls?.delete(call);
        if (calls?.size === 0) open.delete(setOf(slot));
      }
    },
  };
}

class RedisStore implements SlotStore {
  readonly #redis: RedisCircuitBreaker;
  readonly #clock: Clock;
  /** Counters of this process while Redis is unavailable. */
  readonly #local = memoryStore();
  /** Sorted sets of the calls scope leases are renewed. */
  readonly #leased = new Map<string, readonly string[]>();
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

  async acquire(slots: readonly Slot[], call: string): Promise<Slot | undefined> {
    const sets = slots.map(setOf);
    const limits = slots.map(({ limit }) => limit);
    const now = this.#clock.now();
    const outcome = await this.#redis.run((redis) =>
      redis.eval(ACQUIRE_SCRIPT, sets.length, ...sets, now, now + LEASE_MS, call, ...limits),
    );
    if (outcome === undefined) return this.#local.acquire(slots, call);
    const at = Number(outcome.result);
    if (at === 0) this.#leased.set(call, sets);
    return at === 0 ? undefined : slots[at - 1];
  }

  async release(slots: readonly Slot[], call: string): Promise<void> {
    await this.#local.release(slots, call);
    const sets = this.#leased.get(call);
    this.#leased.delete(call);
    // A slot that cannot be released expires with its lease.
    for (const set of sets ?? []) await this.#redis.run((redis) => redis.zrem(set, call));
  }

  async #renew(): Promise<void> {
    const until = this.#clock.now() + LEASE_MS;
    for (const [call, sets] of this.#leased) {
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
