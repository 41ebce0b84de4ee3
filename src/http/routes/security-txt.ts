import type { Clock } from '../../contract/core/clock.ts';
import type { Route } from '../../contract/route.ts';
import { publicPage } from '../openapi/route-docs.ts';
import { route } from '../route.ts';

const SECURITY_TXT_PATH = '/.well-known/security.txt';

/** RFC 9116 (2.5.5) recommends less than a year, so that stale copies are not trusted. */
const GOOD_FOR_MS = 30 * 86_400_000;

/**
 * `/.well-known/security.txt` (RFC 9116): where to report vulnerabilities.
 * @param contact a URI without line breaks.
 */
export function securityTxtRoutes(contact: string, clock: Clock): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: SECURITY_TXT_PATH,
      ...publicPage('Security contact', 'text/plain', 'Where to report vulnerabilities (RFC 9116).'),
      handle({ set }) {
        set.headers['content-type'] = 'text/plain; charset=utf-8';
        const expires = new Date(clock.now() + GOOD_FOR_MS).toISOString();
        return `Contact: ${contact}\nExpires: ${expires}\n`;
      },
    }),
  ];
}
