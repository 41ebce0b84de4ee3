import type { ApiKeyRecord, ApiKeyStore, KeyRole } from '../../contract/accounts/api-key.ts';
import { hashApiKey, newApiKey } from './api-key.ts';

const HINT_CHARACTERS = 7;

/** A newly issued key. `key` is shown once and stored nowhere. */
export interface IssuedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** Organization, role and name of a new key. */
export interface NewKeyOptions {
  readonly organization: string;
  readonly role: KeyRole;
  readonly name?: string | null | undefined;
}

/**
 * Creates a key and stores its hash.
 * @param maxActiveKeys see {@link ApiKeyStore.create}.
 */
export async function issueKey(
  store: Pick<ApiKeyStore, 'create'>,
  options: NewKeyOptions,
  maxActiveKeys?: number,
): Promise<IssuedKey> {
  const key = newApiKey();
  const hint = `${key.slice(0, HINT_CHARACTERS)}…`;
  return { key, record: await store.create({ ...options, keyHash: hashApiKey(key), hint }, maxActiveKeys) };
}

/**
 * Issues the key of the first start (contract, API_KEYS) if no key was ever stored, so that a new service is
 * usable but never open. Revoked keys count as stored.
 */
export async function issueFirstKey(store: ApiKeyStore): Promise<IssuedKey | undefined> {
  const stored = await store.list();
  return stored.length === 0 ? issueKey(store, { organization: 'default', role: 'admin' }) : undefined;
}
