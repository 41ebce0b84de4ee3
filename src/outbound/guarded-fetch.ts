/** Downloads on behalf of a caller, who must reach nothing by them that is not on the public internet. */

import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { invalidRequest, ServiceError } from '../contract/core/error.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);
const MAX_CHARACTERS = 2048;
/** IPv6 that is in use at all; ranges of it with another meaning are looked for beside it (IANA). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** An address that a name has. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

export interface GuardedFetchSettings {
  /** Longest content. */
  readonly maxBytes: number;
  /** How long a server may take to its first byte, and then between two portions. */
  readonly idleMs?: number;
  /** How long all of it may take, redirects too. */
  readonly totalMs?: number;
  /** For tests, with a server on this machine: */
  readonly resolve?: (host: string) => Promise<readonly HostAddress[]>;
  readonly mayReach?: (address: string) => boolean;
  readonly ports?: ReadonlySet<number>;
  /** Authorities in PEM that vouch for servers, instead of the usual ones. */
  readonly ca?: string;
}

/**
 * Whether an address is one of the public internet, in IPv4 or IPv6: not of this machine or network, not a metadata
 * service, not one that stands for an IPv4 address (mapped, NAT64, 6to4, Teredo), not reserved.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/** Fetches content over https. Every address is looked up here and connected to as it was checked. */
export class GuardedFetch {
  readonly #settings: Required<Omit<GuardedFetchSettings, 'ca'>> & { readonly ca: string | undefined };

  constructor({
    idleMs = 15_000,
    totalMs = 180_000,
    resolve = (host) => lookup(host, { all: true }),
    mayReach = isPublicAddress,
    ports = new Set([443]),
    ca,
    ...rest
  }: GuardedFetchSettings) {
    this.#settings = { idleMs, totalMs, resolve, mayReach, ports, ca, ...rest };
  }

  /**
   * The content at a URL, as fast as it is consumed; not consuming it ends the connection.
   * @param field the request's field that an error names.
   * @throws ServiceError `invalid_request` for a URL that is not allowed, and when the content cannot be had or is too
   *   long, also half-way; the signal's reason after an abort.
   */
  async *fetch(
    text: string,
    field: string,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { totalMs, idleMs, maxBytes } = this.#settings;
    const late = new AbortController();
    const ended = AbortSignal.any([signal, late.signal]);
    const timers = [totalMs, idleMs].map((ms) => setTimeout(() => late.abort(), ms));
    const fail = (problem: string) => invalidRequest(`'${field}' ${problem}.`, field, 'invalid_value');
    try {
      const answer = await this.#follow(text, fail, ended);
      try {
        const tooLong = () => fail(`must have at most ${maxBytes} bytes`);
        if (Number(answer.headers['content-length'] ?? 0) > maxBytes) throw tooLong();
        let lengthBytes = 0;
        for await (const chunk of untilAborted<Uint8Array>(answer, ended)) {
          lengthBytes += chunk.length;
          if (lengthBytes > maxBytes) throw tooLong();
          timers[1]?.refresh();
          yield chunk;
        }
        if (!answer.complete) throw fail('could not be downloaded to its end');
      } finally {
        answer.destroy();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) throw fail('took too long to download');
      if (error instanceof ServiceError) throw error;
      // What the network says may tell of what it found there.
      throw fail('could not be downloaded: its server cannot be reached, or not with a valid certificate');
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  /** The answer that has the content. */
  async #follow(
    text: string,
    fail: (problem: string) => ServiceError,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    let url = this.#allowed(text, fail);
    for (let hops = 0; ; hops += 1) {
      const answer = await this.#ask(url, await this.#addressesOf(url, fail, signal), signal);
      const { statusCode, headers } = answer;
      if (statusCode === 200 && [undefined, 'identity'].includes(headers['content-encoding'])) return answer;
      answer.destroy();
      if (!REDIRECTS.has(statusCode) || headers.location === undefined) {
        if (statusCode === 200) throw fail('must be sent as it is, not compressed, by its server');
        throw fail(`could not be downloaded: its server answered with status ${statusCode}`);
      }
      if (hops === MAX_REDIRECTS) throw fail(`is redirected more than ${MAX_REDIRECTS} times`);
      url = this.#allowed(headers.location, fail, url);
    }
  }

  #allowed(text: string, fail: (problem: string) => ServiceError, base?: URL): URL {
    if (text.length > MAX_CHARACTERS) throw fail(`must be a URL of at most ${MAX_CHARACTERS} characters`);
    const url = URL.parse(text, base?.href);
    if (url?.protocol !== 'https:') {
      throw fail(base ? 'is redirected to what is no https URL' : 'must be an https URL');
    }
    if (url.username !== '' || url.password !== '') {
      throw fail('must be a URL without a user name and a password');
    }
    if (!this.#settings.ports.has(portOf(url))) throw fail('must be a URL without a port');
    return url;
  }

  /** @throws one and the same refusal for a name that does not exist and for one that leads inside. */
  async #addressesOf(
    url: URL,
    fail: (problem: string) => ServiceError,
    signal: AbortSignal,
  ): Promise<readonly HostAddress[]> {
    const { resolve, mayReach } = this.#settings;
    const host = hostOf(url);
    const family = isIP(host);
    const found = family === 0 ? resolve(host).catch(() => []) : Promise.resolve([{ address: host, family }]);
    const addresses = (await Promise.race([found, waitForAbort(signal)])) ?? [];
    signal.throwIfAborted();
    if (addresses.length > 0 && addresses.every(({ address }) => mayReach(address))) return addresses;
    throw fail('must be at a host on the public internet');
  }

  /** Asks one of the addresses, by no other way: no proxy, no connection of before, no second look-up. */
  #ask(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<IncomingMessage> {
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
    const stop = () => request.destroy(new Error('the download was stopped'));
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
