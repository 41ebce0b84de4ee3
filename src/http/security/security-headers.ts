/**
 * Default security headers of every response: no content sniffing, no scripts or other resources, no framing, no caching.
 * Routes that serve pages or cacheable files override them.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/**
 * Adds HTTP Strict Transport Security (RFC 6797) to a response over TLS.
 * @param seconds `max-age`; with 0 the header is not set.
 */
export function withHsts(response: Response, seconds: number): Response {
  if (seconds > 0) response.headers.set('strict-transport-security', `max-age=${seconds}`);
  return response;
}
