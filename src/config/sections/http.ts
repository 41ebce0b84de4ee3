import type { NetworkRange } from '../../kit/validation/network-address.ts';
import { parseRange } from '../../kit/validation/network-address.ts';
import { integer, type Location, list, section, text } from '../section.ts';

/** Settings for clients of the HTTP API. */
export const HTTP = section('http', {
  /** Origins of web pages that can call the API, in addition to the service's own; undefined allows any. */
  allowedOrigins: list('allowed_origins', {
    maxCharacters: 300,
    maxItems: 1000,
    default: undefined,
    parse: origin,
    example: ['https://app.example'],
    doc: 'origins of web pages that may call the API; default: any',
  }),
  /** Security contact, a URI for /.well-known/security.txt; undefined for none. */
  securityContact: text('security_contact', {
    maxCharacters: 300,
    default: undefined,
    parse: contact,
    example: 'mailto:security@company.example',
    doc: 'contact in /.well-known/security.txt; default: no such file',
  }),
  /** Max age of Strict-Transport-Security, in seconds; 0 omits the header. */
  strictTransportSeconds: integer('strict_transport_seconds', {
    min: 0,
    max: 63_072_000,
    default: 0,
    example: 31_536_000,
    doc: 'max-age of the HSTS header on the TLS port; default 0, no header',
  }),
  /** Maximum number of invalid keys per minute and address that get 401; further ones get 429. */
  invalidKeysPerMinute: integer('invalid_keys_per_minute', {
    min: 1,
    max: 1_000_000_000,
    default: 600,
    formerly: 'wrong_keys_per_minute',
    doc: 'per client address; further invalid keys get 429 instead of 401; valid keys are always accepted',
  }),
  /** Proxies whose `x-forwarded-for` header is trusted. */
  trustedProxies: list<readonly NetworkRange[], NetworkRange>('trusted_proxies', {
    maxCharacters: 100,
    maxItems: 1000,
    default: [],
    parse: range,
    example: ['10.0.0.0/8'],
    doc: 'proxies whose x-forwarded-for header is trusted; default: none',
  }),
});

/** A contact URI according to RFC 9116, section 2.5.3, on one line. */
const CONTACT = /^(mailto:[!-~]+@[!-~]+|https:\/\/[!-~]+|tel:[+\d().-]+)$/;

/** @throws ConfigError for an origin in another form than browsers send; it would never match. */
function origin(written: string, at: Location): string {
  const { protocol, host } = URL.parse(written) ?? {};
  if (host && !written.includes('*') && written === `${protocol}//${host}`) return written;
  throw at.error(
    'must be an origin as sent by browsers, such as "https://app.example" or "http://localhost:5173": lower case, without path, wildcard, user or default port',
  );
}

function contact(written: string, at: Location): string {
  if (CONTACT.test(written)) return written;
  throw at.error(
    'must be an address such as "mailto:security@company.example", "https://company.example/security" or "tel:+1-201-555-0123"',
  );
}

function range(written: string, at: Location): NetworkRange {
  const parsed = parseRange(written);
  if (parsed !== undefined) return parsed;
  throw at.error('must be an address or a range such as "10.0.0.0/8"');
}
