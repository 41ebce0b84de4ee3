import type { ApiKeyRecord, ApiKeyStore } from '../contract/api-key.ts';
import type { Clock } from '../contract/clock.ts';

/** How long a key may still be good after another process revoked it. */
export const KEY_LIFETIME_MS = 5000;
/** Keys that are remembered; an organization has a few. */
export const MAX_CACHED_KEYS = 10_000;

interface Entry {
  readonly record: Promise<ApiKeyRecord | undefined>;
  readonly untilMs: number;
}

/**
 * Remembers for five seconds which keys are good, so that not every request asks the server for its key. Requests
 * that come together ask once. A key revoked through this store is forgotten at once; keys that were not found
 * are asked for every time, so that a new one works at once.
 */
export function cachedApiKeyStore(store: ApiKeyStore, clock: Clock): ApiKeyStore {
  /** By hash, the oldest question first. */
  const entries = new Map<string, Entry>();

  function ask(keyHash: string): Promise<ApiKeyRecord | undefined> {
    // From the question on: a revocation while it is answered counts from here.
    const entry = { record: store.findByHash(keyHash), untilMs: clock.monotonicMs() + KEY_LIFETIME_MS };
    entries.delete(keyHash);
    entries.set(keyHash, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_CACHED_KEYS && oldest !== undefined) entries.delete(oldest);
    const forget = () => {
      if (entries.get(keyHash) === entry) entries.delete(keyHash);
    };
    entry.record.then((record) => record ?? forget(), forget);
    return entry.record;
  }

  return {
    create: (key, most) => store.create(key, most),
    list: () => store.list(),
    listOf: (query) => store.listOf(query),
    async revoke(id, scope) {
      const revoked = await store.revoke(id, scope);
      for (const [keyHash, { record }] of entries) {
        const known = await record.catch(() => undefined);
        if (known?.id === id) entries.delete(keyHash);
      }
      return revoked;
    },
    findByHash(keyHash) {
      const entry = entries.get(keyHash);
      return entry !== undefined && clock.monotonicMs() < entry.untilMs ? entry.record : ask(keyHash);
    },
  };
}
