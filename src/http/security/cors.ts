/**
 * CORS. All origins are allowed unless CONFIG lists the allowed ones. Requests are authenticated by a key in a header, never
 * by a cookie, so a foreign site cannot use a visitor's credentials (docs/decisions/browsers-of-any-origin.md).
 */

import { ServiceError } from '../../contract/core/error.ts';
import { asksForSocket } from '../transport/socket.ts';

/** A header name (RFC 9110, 5.1). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/** Response headers that pages may read in addition to the CORS-safelisted ones. */
const EXPOSED_HEADERS = [
  ...['x-request-id', 'retry-after', 'x-should-retry'],
  ...['accept-ranges', 'content-disposition', 'content-range', 'etag'],
  'openai-poll-after-ms',
].join(', ');
const MAX_AGE_S = 86_400;

/** Decides which origins may use the service. */
export interface OriginRules {
  /** CORS headers of the response to a request. */
  headersFor(request: Request): Record<string, string>;
  /**
   * Browsers do not apply CORS to WebSockets, so the server checks their origin.
   * @throws ServiceError `forbidden` if the origin is not allowed.
   */
  assertSocketOrigin(request: Request): void;
}

/** @param allowed origins in the notation of browsers (`https://host:port`); undefined allows all. */
export function originRules(allowed: readonly string[] | undefined): OriginRules {
  if (allowed === undefined) return { headersFor: anyOrigin, assertSocketOrigin: () => undefined };
  const listed = new Set(allowed);
  return {
    headersFor(request) {
      const origin = request.headers.get('origin');
      // A cache must not serve the response for one origin to another.
      const vary = { vary: 'origin' };
      return origin !== null && listed.has(origin) ? { ...vary, ...readableBy(origin) } : vary;
    },
    assertSocketOrigin({ headers }) {
      const origin = headers.get('origin');
      if (!asksForSocket(headers) || origin === null || listed.has(origin)) return;
      // Same origin: the service's own pages.
      if (URL.parse(origin)?.host === headers.get('host')) return;
      throw new ServiceError('forbidden', 'Origin not allowed.', {
        param: 'Origin',
      });
    },
  };
}

/** Requests without an `Origin` header do not come from a page and get no CORS headers. */
function anyOrigin(request: Request): Record<string, string> {
  return request.headers.has('origin') ? readableBy('*') : {};
}

function readableBy(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS };
}

/** Whether this is a CORS preflight request. It carries no API key. */
export function isPreflight(request: Request): boolean {
  return request.method === 'OPTIONS' && request.headers.has('access-control-request-method');
}

/**
 * The response to a CORS preflight request. It allows every header that the page asks for: clients send their own, such as
 * `http-referer` and `traceparent`, and no header gives a page the credentials of its visitor.
 */
export function preflightResponse(request: Request): Response {
  const asked = request.headers.get('access-control-request-headers')?.split(',') ?? [];
  const names = asked.map((name) => name.trim()).filter((name) => HEADER_NAME.test(name));
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      ...(names.length > 0 && { 'access-control-allow-headers': names.join(', ') }),
      'access-control-max-age': String(MAX_AGE_S),
    },
  });
}
