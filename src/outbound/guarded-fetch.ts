/** Downloads from URLs of callers, restricted to hosts on the public internet (protection against SSRF). */

import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { invalidRequest, ServiceError } from '../contract/core/error.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import {
  allowedAddresses,
  checkedUrl,
  type HostAddress,
  hostOf,
  PUBLIC_URLS,
  portOf,
  type UrlRules,
} from './public-url.ts';

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);
export interface GuardedFetchSettings extends Partial<UrlRules> {
  /** Maximum content length. */
  readonly maxBytes: number;
  /** Time limit until the first byte, and between two chunks. */
  readonly idleMs?: number;
  /** Time limit of the whole download, including redirects. */
  readonly totalMs?: number;
  /** For tests. Trusted certificate authorities in PEM, instead of the default ones. */
  readonly ca?: string;
}

/** Fetches content over HTTPS. Resolves each host name once and connects only to the addresses that were checked. */
export class GuardedFetch {
  readonly #settings: Required<Omit<GuardedFetchSettings, 'ca'>> & { readonly ca: string | undefined };

  constructor({ idleMs = 15_000, totalMs = 180_000, ca, ...rest }: GuardedFetchSettings) {
    this.#settings = { ...PUBLIC_URLS, idleMs, totalMs, ca, ...rest };
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
    let url = checkedUrl(text, this.#settings, fail);
    for (let hops = 0; ; hops += 1) {
      const addresses = await allowedAddresses(url, this.#settings, fail, signal);
      const response = await this.#request(url, addresses, signal);
      const { statusCode, headers } = response;
      if (statusCode === 200 && [undefined, 'identity'].includes(headers['content-encoding']))
        return response;
      response.destroy();
      if (!REDIRECTS.has(statusCode) || headers.location === undefined) {
        if (statusCode === 200) throw fail('must be served without compression');
        throw fail(`could not be downloaded: the server returned status ${statusCode}`);
      }
      if (hops === MAX_REDIRECTS) throw fail(`redirects more than ${MAX_REDIRECTS} times`);
      url = checkedUrl(headers.location, this.#settings, fail, url);
    }
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
