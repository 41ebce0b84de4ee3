/** Limit of concurrent calls, counted in this process or in Redis. */

import type { CallLimits, LimitedUser, PerUser } from '../contract/accounts/limits.ts';
import type { Clock } from '../contract/core/clock.ts';
import { concurrencyLimitError, type LimitScope, Quota } from '../kit/limits/quota.ts';
import type { RedisCircuitBreaker } from './redis-circuit-breaker.ts';

const NOUN = 'calls';
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

/** Limit of the calls of one key or organization. */
interface Slot {
  readonly scope: LimitScope;
  /** Key of its sorted set in Redis. */
  readonly set: string;
  readonly limit: number;
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
  const { key = Number.POSITIVE_INFINITY, organization = Number.POSITIVE_INFINITY } = limits;
  const local = new Quota(NOUN, { perKey: key, perOrganization: organization });
  const leases = redis && new CallLeases(redis, clock);
  return {
    async acquire(user, call) {
      const slots = slotsOf(limits, user);
      if (slots.length === 0) return () => undefined;
      return (await leases?.acquire(slots, call)) ?? local.acquire(user);
    },
    close: () => leases?.close(),
  };
}

function slotsOf({ key, organization }: PerUser, user: LimitedUser): Slot[] {
  const slots: Slot[] = [];
  if (key !== undefined) slots.push({ scope: 'API key', set: `calls:key:${user.keyId}`, limit: key });
  if (organization !== undefined) {
    slots.push({
      scope: 'organization',
      set: `calls:organization:${user.organization}`,
      limit: organization,
    });
  }
  return slots;
}

/** Slots of this process in Redis, which are renewed until their release. */
class CallLeases {
  readonly #redis: RedisCircuitBreaker;
  readonly #clock: Clock;
  /** Sorted sets of each call. */
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

  /**
   * Acquires all slots for a call.
   * @returns a function that releases the slots; undefined if Redis is unavailable.
   * @throws ServiceError `rate_limited` if a limit is reached.
   */
  async acquire(slots: readonly Slot[], call: string): Promise<(() => void) | undefined> {
    const sets = slots.map(({ set }) => set);
    const limits = slots.map(({ limit }) => limit);
    const now = this.#clock.now();
    const outcome = await this.#redis.run((redis) =>
      redis.eval(ACQUIRE_SCRIPT, sets.length, ...sets, now, now + LEASE_MS, call, ...limits),
    );
    if (outcome === undefined) return undefined;
    const full = slots[Number(outcome.result) - 1];
    if (full !== undefined) throw concurrencyLimitError(full.scope, full.limit, full.limit, NOUN);
    this.#leased.set(call, sets);
    return () => void this.#release(call);
  }

  async #release(call: string): Promise<void> {
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
