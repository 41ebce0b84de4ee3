/** Converts failures of upstream servers to errors that are safe to show to callers. */

import { ServiceError } from '../../../contract/core/error.ts';

const MAX_RETRY_S = 60;

/**
 * The error for an HTTP status. The message of the upstream is neither shown nor logged, because it may quote the input,
 * the upstream's model name or its key. 429 and 503 become `overloaded` with `Retry-After`, so that clients back off.
 */
export function upstreamStatusError(status: number, headers: Headers): ServiceError {
  if (status === 429 || status === 503) {
    const afterS = Number(headers.get('retry-after') ?? 1);
    return new ServiceError('overloaded', 'The upstream server of this model is overloaded. Retry later.', {
      code: 'server_overloaded',
      retryAfterS: afterS > 0 && afterS <= MAX_RETRY_S ? afterS : 1,
    });
  }
  if (status === 413) {
    const message =
      'The request exceeds the size limit of the upstream server of this model. Split it into smaller requests.';
    return new ServiceError('payload_too_large', message, { code: 'payload_too_large' });
  }
  return upstreamError(`it returned HTTP status ${status}`);
}

/** Any other failure. `detail` is a clause without a period; it must not contain text of the upstream. */
export function upstreamError(detail: string, cause?: unknown): ServiceError {
  return new ServiceError('upstream', `The upstream server of this model failed: ${detail}.`, {
    code: 'upstream_error',
    cause,
  });
}

/** Names that are safe to log: identifiers, not sentences. */
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * The error name in a response body, for the log: `error.type` or `error.code` in OpenAI's format (vLLM, llama.cpp,
 * Ollama), `detail.error` or `detail.type` of FastAPI servers, or a top-level `type` or `code`.
 * Undefined if there is none, or if it is not an identifier.
 */
export function upstreamErrorName(body: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  const inner = fieldOf(parsed, 'error') ?? fieldOf(parsed, 'detail') ?? parsed;
  for (const field of ['type', 'code', 'error']) {
    const value = fieldOf(inner, field);
    if (typeof value === 'string' && IDENTIFIER.test(value)) return value;
  }
  return undefined;
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Record<string, unknown>)[field];
}
