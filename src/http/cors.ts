/**
 * Browser clients of any origin may call the service: what protects it is the key in a header, never a
 * cookie, so another site gains nothing from a visitor's browser (docs/decisions/browsers-of-any-origin.md).
 */

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
  ...['openai-poll-after-ms', 'x-model-note'],
].join(', ');
const MAX_AGE_S = 86_400;

/** Headers for the answer to a request from a page; none for other clients. */
export function corsHeaders(request: Request): Record<string, string> {
  if (!request.headers.has('origin')) return {};
  return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS };
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
