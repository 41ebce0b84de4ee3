/**
 * Pages of other origins: all may call the service unless CONFIG names those that may. What protects it is the key in a
 * header, never a cookie, so another site gains nothing from a visitor's browser (docs/decisions/browsers-of-any-origin.md).
 */

import { ServiceError } from '../../contract/core/error.ts';
import { asksForSocket } from '../transport/socket.ts';

/** Headers that OpenAI's SDK sends from a browser (openai-wire 1.1), and our own. */
const ALLOWED_HEADERS = [
  'authorization',
  'x-api-key',
  'x-partner-secret',
  'content-type',
  'openai-organization',
  'openai-project',
  'x-stainless-lang',
  'x-stainless-package-version',
  'x-stainless-os',
  'x-stainless-arch',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-retry-count',
  'x-stainless-timeout',
  'x-stainless-helper-method',
  'x-stainless-poll-helper',
  'x-stainless-custom-poll-interval',
  'idempotency-key',
  'range',
  'if-range',
  'if-none-match',
];

/** What a page may read of an answer, beside what every page may. */
const EXPOSED_HEADERS = [
  ...['x-request-id', 'retry-after', 'x-should-retry'],
  ...['accept-ranges', 'content-disposition', 'content-range', 'etag'],
  'openai-poll-after-ms',
].join(', ');
const MAX_AGE_S = 86_400;

/** Which pages may call. */
export interface OriginRules {
  /** Headers of the answer to a request; with them a browser lets the page read it. */
  headersFor(request: Request): Record<string, string>;
  /**
   * Browsers let any page open a WebSocket, so that is for the server to refuse.
   * @throws ServiceError `forbidden`.
   */
  refuseSocket(request: Request): void;
}

/** @param allowed origins as browsers write them (`https://host:port`); undefined is all. */
export function originRules(allowed: readonly string[] | undefined): OriginRules {
  if (allowed === undefined) return { headersFor: anyOrigin, refuseSocket: () => undefined };
  const listed = new Set(allowed);
  return {
    headersFor(request) {
      const origin = request.headers.get('origin');
      // A cache must not hand the answer for one page to another.
      const vary = { vary: 'origin' };
      return origin !== null && listed.has(origin) ? { ...vary, ...readableBy(origin) } : vary;
    },
    refuseSocket({ headers }) {
      const origin = headers.get('origin');
      if (!asksForSocket(headers) || origin === null || listed.has(origin)) return;
      // The service's own pages.
      if (URL.parse(origin)?.host === headers.get('host')) return;
      throw new ServiceError('forbidden', "Pages of this 'Origin' may not connect here.", {
        param: 'Origin',
      });
    },
  };
}

/** None for clients that are no pages. */
function anyOrigin(request: Request): Record<string, string> {
  return request.headers.has('origin') ? readableBy('*') : {};
}

function readableBy(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS };
}

/** Whether this is a browser's question before the real request. It carries no key. */
export function isPreflight(request: Request): boolean {
  return request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
}

export function preflightAnswer(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': ALLOWED_HEADERS.join(', '),
      'access-control-max-age': String(MAX_AGE_S),
    },
  });
}
