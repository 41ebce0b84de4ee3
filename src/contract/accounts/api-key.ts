/** API keys that were created at runtime. The service stores only their hashes. */

import type { Id } from '../core/id.ts';

/** Roles of a key. An `admin` key can also create and revoke keys of its organization. */
export const KEY_ROLES = ['admin', 'member'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

export interface ApiKeyRecord {
  readonly id: Id<'key_'>;
  readonly organization: string;
  /** Display name. */
  readonly name: string | null;
  /** First characters of the key, so that users can tell keys apart. */
  readonly hint: string;
  readonly role: KeyRole;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds; null while the key is active. */
  readonly revokedAt: number | null;
}

/** An API key to store. */
export interface NewApiKey {
  readonly organization: string;
  /** SHA-256 in hex. */
  readonly keyHash: string;
  readonly hint: string;
  readonly role: KeyRole;
  readonly name?: string | null | undefined;
}

export interface ApiKeyPage {
  readonly keys: readonly ApiKeyRecord[];
  readonly hasMore: boolean;
}

/** Which keys a revocation may affect. */
export interface RevokeScope {
  /** The organization that the key must belong to. */
  readonly organization: string;
  /**
   * Rejects the revocation of the last active admin key of the organization. Check and revocation are one step, also for
   * concurrent revocations.
   */
  readonly keepAdmin: boolean;
}

export interface ApiKeyStore {
  /**
   * Stores a key.
   * @param maxActiveKeys maximum number of active keys of the organization, including this one; undefined
   *   means unlimited.
   * @throws ServiceError `invalid_request` (`key_limit_exceeded`) if the organization has that many keys.
   */
  create(key: NewApiKey, maxActiveKeys?: number): Promise<ApiKeyRecord>;
  /** Lists all keys, oldest first, including revoked ones. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /**
   * Lists keys of an organization, newest first, including revoked ones.
   * @param query.after id of the last key of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) if the organization has no such key.
   */
  listOf(query: {
    readonly organization: string;
    readonly limit: number;
    readonly after?: string | undefined;
  }): Promise<ApiKeyPage>;
  /**
   * Revokes a key. Other processes can accept it for a few more seconds.
   * @param scope limits the revocation; undefined allows any key.
   * @returns false if the key does not exist, is already revoked, or belongs to another organization.
   * @throws ServiceError `conflict` (`last_admin_key`) if `scope.keepAdmin` forbids the revocation; the key
   *   stays active.
   */
  revoke(id: string, scope?: RevokeScope): Promise<boolean>;
  /** Returns the active key with this hash. */
  findByHash(keyHash: string): Promise<ApiKeyRecord | undefined>;
}
