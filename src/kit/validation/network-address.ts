/** IP addresses and ranges of settings and connections. */

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A CIDR range of IPv4 or IPv6 addresses. */
export type NetworkRange = readonly [start: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** Prefix length of an IPv6 network of one customer, who can change the address within it. */
const SENDER_BITS = 64;

/** Parses `10.0.0.0/8`, `2001:db8::/32` or a single address; undefined for anything else. */
export function parseRange(text: string): NetworkRange | undefined {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const start = parseAddress(address);
  if (start === undefined) return undefined;
  const maxBits = start.kind() === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? maxBits : Number(bits);
  return length <= maxBits ? [start, length] : undefined;
}

/** Whether an address is in one of the ranges; false for an invalid address. */
export function isWithin(address: string, ranges: readonly NetworkRange[]): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined) return false;
  return ranges.some(([start, bits]) => start.kind() === parsed.kind() && parsed.match(start, bits));
}

/**
 * Returns the key under which requests of a client are counted: the IPv4 address, or the first 64 bits of the
 * IPv6 address.
 */
export function clientNetwork(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return parsed?.toString() ?? address;
  const bytes = parsed.toByteArray().fill(0, SENDER_BITS / 8);
  return ipaddr.fromByteArray(bytes).toString();
}

/** Converts IPv4-mapped IPv6 addresses to IPv4 and ignores the zone (`%eth0`). */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/%.*$/, ''));
}
