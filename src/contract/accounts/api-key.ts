/** API keys that were made at run time. The service keeps their hashes only. */

import type { Id } from '../core/id.ts';

/** What a key may do beside using the service: an admin's makes and ends keys of its organization. */
export const KEY_ROLES = ['admin', 'member'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

export interface ApiKeyRecord {
  readonly id: Id<'key'>;
  readonly organization: string;
  /** What its owner calls it. */
  readonly name: string | null;
  /** First characters of the key, so that a person can tell keys apart. */
  readonly hint: string;
  readonly role: KeyRole;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds, or null while the key is good. */
  readonly revokedAt: number | null;
}

/** A key to be stored. */
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
   * @param most good keys that the organization may have with this one; undefined is any number.
   * @throws ServiceError `invalid_request` (`key_limit_exceeded`) when it has that many.
   */
  create(key: NewApiKey, most?: number): Promise<ApiKeyRecord>;
  /** All keys, oldest first, revoked ones too. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /**
   * Keys of one organization, newest first, revoked ones too.
   * @param query.after id of the last key of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) when the organization has no such key.
   */
  listOf(query: {
    readonly organization: string;
    readonly limit: number;
    readonly after?: string | undefined;
  }): Promise<ApiKeyPage>;
  /**
   * Revokes a key. Other processes may accept it for a few seconds more.
   * @param scope limits the revocation; undefined allows any key.
   * @returns false when the key does not exist, is already revoked, or belongs to another organization.
   * @throws ServiceError `conflict` (`last_admin_key`) when `scope.keepAdmin` forbids it; the key stays active.
   */
  revoke(id: string, scope?: RevokeScope): Promise<boolean>;
  /** The key with this hash, unless it was revoked. */
  findByHash(keyHash: string): Promise<ApiKeyRecord | undefined>;
}
