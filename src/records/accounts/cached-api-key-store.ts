import type { ApiKeyRecord, ApiKeyStore } from '../../contract/accounts/api-key.ts';
import type { Clock } from '../../contract/core/clock.ts';
import { batchedLookup } from '../lib/batched-lookup.ts';
import type { ApiKeyLookup } from './api-key-store.ts';

/** How long this process accepts a key after another process revoked it. */
export const KEY_LIFETIME_MS = 5000;
/** How long this process rejects a key that was not found, unless it creates the key itself. */
export const UNKNOWN_LIFETIME_MS = 1000;
/** Entries of each of the two caches. */
export const MAX_CACHED_KEYS = 10_000;

/**
 * Caches lookups of keys, so that a request with a recently used key needs no query. Unknown keys have a cache of their own
 * and cannot evict valid ones. Concurrent lookups share queries. A key that is created or revoked through this store takes
 * effect immediately.
 */
export function cachedApiKeyStore(store: ApiKeyStore & ApiKeyLookup, clock: Clock): ApiKeyStore {
  const valid = new ExpiringMap<ApiKeyRecord>(clock);
  const unknown = new ExpiringMap<true>(clock);
  const lookup = batchedLookup(store.findByHashes);
  /** Lookups in progress, by hash. A change of keys replaces the map, so that no later request uses their results. */
  let lookups = new Map<string, Promise<ApiKeyRecord | undefined>>();

  async function find(keyHash: string): Promise<ApiKeyRecord | undefined> {
    const current = lookups;
    const startedMs = clock.monotonicMs();
    try {
      const record = await lookup(keyHash);
      if (current !== lookups) return record;
      if (record === undefined) unknown.set(keyHash, true, startedMs + UNKNOWN_LIFETIME_MS);
      else valid.set(keyHash, record, startedMs + KEY_LIFETIME_MS);
      return record;
    } finally {
      current.delete(keyHash);
    }
  }

  return {
    list: () => store.list(),
    listOf: (query) => store.listOf(query),
    async create(key, maxKeys) {
      try {
        return await store.create(key, maxKeys);
      } finally {
        lookups = new Map();
        unknown.delete(key.keyHash);
      }
    },
    async revoke(id, scope) {
      try {
        return await store.revoke(id, scope);
      } finally {
        lookups = new Map();
        valid.deleteWhere((record) => record.id === id);
      }
    },
    async findByHash(keyHash) {
      const record = valid.get(keyHash);
      if (record !== undefined || unknown.get(keyHash)) return record;
      const started = lookups.get(keyHash) ?? find(keyHash);
      lookups.set(keyHash, started);
      return started;
    },
  };
}

/** Values that expire. At most {@link MAX_CACHED_KEYS}; the oldest is dropped first. */
class ExpiringMap<Value> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: Value; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#clock.monotonicMs() < entry.untilMs ? entry.value : undefined;
  }

  set(key: string, value: Value, untilMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_CACHED_KEYS && oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value)) this.#entries.delete(key);
  }
}
