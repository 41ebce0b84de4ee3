/** API keys that were made at run time. The service keeps their hashes only. */

import type { Id } from './id.ts';

export interface ApiKeyRecord {
  readonly id: Id<'key'>;
  readonly organization: string;
  /** First characters of the key, so that a person can tell keys apart. */
  readonly hint: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds, or null while the key is good. */
  readonly revokedAt: number | null;
}

export interface ApiKeyStore {
  /** @param keyHash SHA-256 in hex. */
  create(key: { organization: string; keyHash: string; hint: string }): Promise<ApiKeyRecord>;
  /** All keys, oldest first, revoked ones too. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /** Ends a key; other processes may take it for good for a few seconds more. False when there is no such key or it was revoked before. */
  revoke(id: string): Promise<boolean>;
  /** The key with this hash, unless it was revoked. */
  findByHash(keyHash: string): Promise<ApiKeyRecord | undefined>;
}
