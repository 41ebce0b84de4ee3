import type { ApiKeyRecord, ApiKeyStore, KeyRole } from '../../contract/accounts/api-key.ts';
import { hashApiKey, newApiKey } from './api-key.ts';

const HINT_CHARACTERS = 7;

/** A key just made: `key` is shown once to its owner and kept nowhere. */
export interface IssuedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** Whose key it is to be, and what it may do. */
export interface NewKeyOptions {
  readonly organization: string;
  readonly role: KeyRole;
  readonly name?: string | null | undefined;
}

/**
 * Makes a key and stores its hash.
 * @param most as {@link ApiKeyStore.create} has it.
 */
export async function issueKey(
  store: Pick<ApiKeyStore, 'create'>,
  wish: NewKeyOptions,
  most?: number,
): Promise<IssuedKey> {
  const key = newApiKey();
  const hint = `${key.slice(0, HINT_CHARACTERS)}…`;
  return { key, record: await store.create({ ...wish, keyHash: hashApiKey(key), hint }, most) };
}

/**
 * The key of a first start (contract, API_KEYS): made when none was ever stored, so that a fresh service
 * is usable but never open. Revoked keys count as stored: whoever revoked them did not ask for a new one.
 */
export async function issueFirstKey(store: ApiKeyStore): Promise<IssuedKey | undefined> {
  const stored = await store.list();
  return stored.length === 0 ? issueKey(store, { organization: 'default', role: 'admin' }) : undefined;
}
