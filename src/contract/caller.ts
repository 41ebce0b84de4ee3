import type { Id } from './id.ts';

/** Who sent a request, and the name of that request on the wire and in the log. */
export interface Caller {
  readonly organization: string;
  /** Name of the key that is not the key. */
  readonly keyId: string;
  readonly requestId: Id<'request'>;
}
