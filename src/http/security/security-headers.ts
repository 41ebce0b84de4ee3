/**
 * Headers of every answer: it is what its type says, and nothing else than data, so a browser that shows it loads nothing,
 * frames it nowhere, and keeps no copy. Pages and files that may be kept say so themselves.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/**
 * An answer over TLS that tells browsers to come by TLS alone from now on (RFC 6797).
 * @param seconds how long; 0 tells nothing.
 */
export function overTlsOnly(answer: Response, seconds: number): Response {
  if (seconds > 0) answer.headers.set('strict-transport-security', `max-age=${seconds}`);
  return answer;
}
