import type { Id } from '../core/id.ts';
import type { KeyRole } from './api-key.ts';

/** Sender of a request, and the request id of the API and the log. */
export interface Caller {
  readonly organization: string;
  /** Public id of the API key. */
  readonly keyId: string;
  readonly requestId: Id<'req_'>;
}

/** Owner and permissions of an API key. */
export interface Principal extends Omit<Caller, 'requestId'> {
  readonly role: KeyRole;
  /**
   * Whether the key may enable and disable plugins of the whole service: an admin key of the operator's
   * organization.
   */
  readonly operator: boolean;
  /** Absent for keys of API_KEYS. */
  readonly storedKey?: Id<'key_'>;
}
