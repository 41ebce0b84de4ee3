import { Elysia } from 'elysia';
import type { Clock } from '../../contract/core/clock.ts';
import { publicPage } from '../openapi/openapi.ts';

export const SECURITY_TXT_PATH = '/.well-known/security.txt';

/** Within a year, so that nobody trusts a copy that nobody looks after (RFC 9116, 2.5.5). */
const GOOD_FOR_MS = 30 * 86_400_000;

/**
 * `/.well-known/security.txt` (RFC 9116): whom to tell of a weakness of this service.
 * @param contact a URI in one line.
 */
export function securityTxtRoutes(contact: string, clock: Clock) {
  return new Elysia({ name: 'security-txt', tags: ['service'] }).get(
    SECURITY_TXT_PATH,
    ({ set }) => {
      set.headers['content-type'] = 'text/plain; charset=utf-8';
      const expires = new Date(clock.now() + GOOD_FOR_MS).toISOString();
      return `Contact: ${contact}\nExpires: ${expires}\n`;
    },
    { detail: publicPage('Whom to tell of a weakness', 'text/plain', 'As RFC 9116 has it.') },
  );
}
