/** Addresses of the internet, as settings and connections write them. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses that begin alike, in IPv4 or IPv6. */
export type NetworkRange = readonly [start: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** What one customer of a network is given of IPv6, and may change its address in. */
const SENDER_BITS = 64;

/** Reads `10.0.0.0/8`, `2001:db8::/32` or one address; undefined for anything else. */
export function parseRange(text: string): NetworkRange | undefined {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const start = parseAddress(address);
  if (start === undefined) return undefined;
  const most = start.kind() === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? most : Number(bits);
  return length <= most ? [start, length] : undefined;
}

/** Whether an address lies in one of the ranges; what is no address lies in none. */
export function isWithin(address: string, ranges: readonly NetworkRange[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  return ranges.some(([start, bits]) => start.kind() === parsed.kind() && parsed.match(start, bits));
}

/** Who counts as one sender: an address of IPv4, the first 64 bits of one of IPv6. */
export function clientNetwork(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return parsed?.toString() ?? address;
  const bytes = parsed.toByteArray().fill(0, SENDER_BITS / 8);
  return ipaddr.fromByteArray(bytes).toString();
}

/** IPv4 that is written as IPv6 is IPv4; of which interface an address is (`%eth0`) is left out. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/%.*$/, ''));
}
