/** URLs of callers that servers fetch, restricted to hosts on the public internet (protection against SSRF). */

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ServiceError } from '../contract/core/error.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';

const MAX_CHARACTERS = 2048;
/** The allocated IPv6 range (IANA). Special-purpose ranges within it are checked separately. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** An IP address of a host name. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** What a URL may refer to. Tests with a server on the same host replace the rules. */
export interface UrlRules {
  readonly resolve: (host: string) => Promise<readonly HostAddress[]>;
  readonly isAllowedAddress: (address: string) => boolean;
  readonly ports: ReadonlySet<number>;
}

/**
 * Whether an IPv4 or IPv6 address is on the public internet. Excludes loopback, private and link-local addresses (cloud
 * metadata services), reserved ranges, and IPv6 addresses that embed an IPv4 address (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

export const PUBLIC_URLS: UrlRules = {
  resolve: (host) => lookup(host, { all: true }),
  isAllowedAddress: isPublicAddress,
  ports: new Set([443]),
};

/** Creates the error of a URL. @param problem continues the name of its field. */
type UrlFailure = (problem: string) => ServiceError;

/**
 * Parses a URL.
 * @param base the URL that redirects to it.
 * @throws ServiceError of `fail` unless it is an https URL with an allowed port, without credentials.
 */
export function checkedUrl(text: string, { ports }: UrlRules, fail: UrlFailure, base?: URL): URL {
  if (text.length > MAX_CHARACTERS) throw fail(`must be a URL of at most ${MAX_CHARACTERS} characters`);
  const url = URL.parse(text, base?.href);
  if (url?.protocol !== 'https:') {
    throw fail(base ? 'redirects to a URL that is not https' : 'must be an https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw fail('must be a URL without a user name and a password');
  }
  if (!ports.has(portOf(url))) throw fail('must be a URL without a port');
  return url;
}

/**
 * Resolves the host of a URL.
 * @throws ServiceError of `fail`, the same for unknown names and for internal hosts, so that names cannot be probed.
 */
export async function allowedAddresses(
  url: URL,
  { resolve, isAllowedAddress }: UrlRules,
  fail: UrlFailure,
  signal: AbortSignal,
): Promise<readonly HostAddress[]> {
  const host = hostOf(url);
  const family = isIP(host);
  const found = family === 0 ? resolve(host).catch(() => []) : Promise.resolve([{ address: host, family }]);
  const addresses = (await Promise.race([found, waitForAbort(signal)])) ?? [];
  signal.throwIfAborted();
  if (addresses.length > 0 && addresses.every(({ address }) => isAllowedAddress(address))) return addresses;
  throw fail('must be at a host on the public internet');
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export function portOf(url: URL): number {
  return Number(url.port || 443);
}
