/** Downloads from URLs of callers, restricted to hosts on the public internet (protection against SSRF). */

import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { invalidRequest, ServiceError } from '../contract/core/error.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);
const MAX_CHARACTERS = 2048;
/** The allocated IPv6 range (IANA). Special-purpose ranges within it are checked separately. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** An IP address of a host name. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

export interface GuardedFetchSettings {
  /** Max. content length. */
  readonly maxBytes: number;
  /** Time limit until the first byte, and between two chunks. */
  readonly idleMs?: number;
  /** Time limit of the whole download, including redirects. */
  readonly totalMs?: number;
  // The following options are for tests with a server on the same host.
  readonly resolve?: (host: string) => Promise<readonly HostAddress[]>;
  readonly isAllowedAddress?: (address: string) => boolean;
  readonly ports?: ReadonlySet<number>;
  /** Trusted certificate authorities in PEM, instead of the default ones. */
  readonly ca?: string;
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

/** Fetches content over HTTPS. Resolves each host name once and connects only to the addresses that were checked. */
export class GuardedFetch {
  readonly #settings: Required<Omit<GuardedFetchSettings, 'ca'>> & { readonly ca: string | undefined };

  constructor({
    idleMs = 15_000,
    totalMs = 180_000,
    resolve = (host) => lookup(host, { all: true }),
    isAllowedAddress = isPublicAddress,
    ports = new Set([443]),
    ca,
    ...rest
  }: GuardedFetchSettings) {
    this.#settings = { idleMs, totalMs, resolve, isAllowedAddress, ports, ca, ...rest };
  }

  /**
   * Streams the content of a URL with backpressure. Returning the generator closes the connection.
   * @param text the URL.
   * @param field the request field that errors refer to.
   * @throws ServiceError `invalid_request` if the URL is not allowed, or if the download fails or is too long, also after
   *   the first chunks; the signal's reason after an abort.
   */
  async *fetch(
    text: string,
    field: string,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { totalMs, idleMs, maxBytes } = this.#settings;
    const timeout = new AbortController();
    const aborted = AbortSignal.any([signal, timeout.signal]);
    const timers = [totalMs, idleMs].map((ms) => setTimeout(() => timeout.abort(), ms));
    const fail = (problem: string) => invalidRequest(`'${field}' ${problem}.`, field, 'invalid_value');
    try {
      const response = await this.#follow(text, fail, aborted);
      try {
        const tooLong = () => fail(`must have at most ${maxBytes} bytes`);
        if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLong();
        let lengthBytes = 0;
        for await (const chunk of untilAborted<Uint8Array>(response, aborted)) {
          lengthBytes += chunk.length;
          if (lengthBytes > maxBytes) throw tooLong();
          timers[1]?.refresh();
          yield chunk;
        }
        if (!response.complete) throw fail('could not be downloaded completely');
      } finally {
        response.destroy();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.signal.aborted) throw fail('took too long to download');
      if (error instanceof ServiceError) throw error;
      // Network errors could reveal information about internal hosts.
      throw fail('could not be downloaded: the server is unreachable or has no valid certificate');
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  /** Follows redirects and returns the response with the content. */
  async #follow(
    text: string,
    fail: (problem: string) => ServiceError,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    let url = this.#checkedUrl(text, fail);
    for (let hops = 0; ; hops += 1) {
      const response = await this.#request(url, await this.#addressesOf(url, fail, signal), signal);
      const { statusCode, headers } = response;
      if (statusCode === 200 && [undefined, 'identity'].includes(headers['content-encoding']))
        return response;
      response.destroy();
      if (!REDIRECTS.has(statusCode) || headers.location === undefined) {
        if (statusCode === 200) throw fail('must be served without compression');
        throw fail(`could not be downloaded: the server returned status ${statusCode}`);
      }
      if (hops === MAX_REDIRECTS) throw fail(`redirects more than ${MAX_REDIRECTS} times`);
      url = this.#checkedUrl(headers.location, fail, url);
    }
  }

  #checkedUrl(text: string, fail: (problem: string) => ServiceError, base?: URL): URL {
    if (text.length > MAX_CHARACTERS) throw fail(`must be a URL of at most ${MAX_CHARACTERS} characters`);
    const url = URL.parse(text, base?.href);
    if (url?.protocol !== 'https:') {
      throw fail(base ? 'redirects to a URL that is not https' : 'must be an https URL');
    }
    if (url.username !== '' || url.password !== '') {
      throw fail('must be a URL without a user name and a password');
    }
    if (!this.#settings.ports.has(portOf(url))) throw fail('must be a URL without a port');
    return url;
  }

  /** @throws ServiceError the same error for unknown names and for internal hosts, so that names cannot be probed. */
  async #addressesOf(
    url: URL,
    fail: (problem: string) => ServiceError,
    signal: AbortSignal,
  ): Promise<readonly HostAddress[]> {
    const { resolve, isAllowedAddress } = this.#settings;
    const host = hostOf(url);
    const family = isIP(host);
    const found = family === 0 ? resolve(host).catch(() => []) : Promise.resolve([{ address: host, family }]);
    const addresses = (await Promise.race([found, waitForAbort(signal)])) ?? [];
    signal.throwIfAborted();
    if (addresses.length > 0 && addresses.every(({ address }) => isAllowedAddress(address))) return addresses;
    throw fail('must be at a host on the public internet');
  }

  /** Sends a request to one of the addresses, without a proxy, connection reuse or another DNS lookup. */
  #request(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<IncomingMessage> {
    const { ca } = this.#settings;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = httpsRequest({
      host: hostOf(url),
      port: portOf(url),
      path: `${url.pathname}${url.search}`,
      agent: false,
      ...(ca !== undefined && { ca }),
      lookup: (_host, _options, found) => found(null, [...addresses]),
      headers: { accept: 'video/*, */*;q=0.1', 'accept-encoding': 'identity', 'user-agent': 'voice-service' },
    });
    const stop = () => request.destroy(new Error('the download was aborted'));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    request.once('response', resolve);
    request.on('error', reject);
    request.once('close', () => {
      signal.removeEventListener('abort', stop);
      reject(new Error('the connection was closed'));
    });
    request.end();
    return promise;
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function portOf(url: URL): number {
  return Number(url.port || 443);
}
