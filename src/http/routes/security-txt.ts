import { Elysia } from 'elysia';
import type { Clock } from '../../contract/core/clock.ts';
import { publicPage } from '../openapi/openapi.ts';

export const SECURITY_TXT_PATH = '/.well-known/security.txt';

/** RFC 9116 (2.5.5) recommends less than a year, so that stale copies are not trusted. */
const GOOD_FOR_MS = 30 * 86_400_000;

/**
 * `/.well-known/security.txt` (RFC 9116): where to report vulnerabilities.
 * @param contact a URI without line breaks.
 */
export function securityTxtRoutes(contact: string, clock: Clock) {
  return new Elysia({ name: 'security-txt', tags: ['service'] }).get(
    SECURITY_TXT_PATH,
    ({ set }) => {
      set.headers['content-type'] = 'text/plain; charset=utf-8';
      const expires = new Date(clock.now() + GOOD_FOR_MS).toISOString();
      return `Contact: ${contact}\nExpires: ${expires}\n`;
    },
    { detail: publicPage('Security contact', 'text/plain', 'Where to report vulnerabilities (RFC 9116).') },
  );
}
