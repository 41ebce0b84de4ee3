import type { ApiKeyRecord, ApiKeyStore } from '../contract/api-key.ts';
import { hashApiKey, newApiKey } from '../kit/api-key.ts';

const HINT_CHARACTERS = 7;

/** A key just made: `key` is shown once to its owner and kept nowhere. */
export interface IssuedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** Makes a key for an organization and stores its hash. */
export async function issueKey(store: ApiKeyStore, organization: string): Promise<IssuedKey> {
  const key = newApiKey();
  const hint = `${key.slice(0, HINT_CHARACTERS)}…`;
  return { key, record: await store.create({ organization, keyHash: hashApiKey(key), hint }) };
}

/**
 * The key of a first start (contract, API_KEYS): made when none was ever stored, so that a fresh service
 * is usable but never open. Revoked keys count as stored: whoever revoked them did not ask for a new one.
 */
export async function issueFirstKey(store: ApiKeyStore): Promise<IssuedKey | undefined> {
  const stored = await store.list();
  return stored.length === 0 ? issueKey(store, 'default') : undefined;
}
