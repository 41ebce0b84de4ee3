import type { Id } from '../core/id.ts';
import type { KeyRole } from './api-key.ts';

/** Who sent a request, and the name of that request on the wire and in the log. */
export interface Caller {
  readonly organization: string;
  /** Name of the key that is not the key. */
  readonly keyId: string;
  readonly requestId: Id<'request'>;
}

/** Whose key a request carries, and what that key may do beside using the service. */
export interface Principal extends Omit<Caller, 'requestId'> {
  readonly role: KeyRole;
  /** Whether it may switch plugins of the whole service: an admin's key of an organization that runs it. */
  readonly operator: boolean;
  /** Absent of a fixed key. */
  readonly storedKey?: Id<'key'>;
}
