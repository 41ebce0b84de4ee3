/** What an upstream says went wrong, as the service may tell it. */

import { ServiceError } from '../../../contract/core/error.ts';

const MAX_RETRY_S = 60;

/**
 * The refusal of an upstream. Its own words are neither shown nor logged: they may quote the input, the
 * upstream's name of the model or its key. Too many requests stays that, so that clients wait.
 */
export function upstreamRefusal(status: number, headers: Headers): ServiceError {
  if (status === 429 || status === 503) {
    const afterS = Number(headers.get('retry-after') ?? 1);
    return new ServiceError(
      'overloaded',
      'The server behind this model has more to do than it can take. Try again shortly.',
      {
        code: 'server_overloaded',
        retryAfterS: afterS > 0 && afterS <= MAX_RETRY_S ? afterS : 1,
      },
    );
  }
  if (status === 413) {
    const message =
      'The request is larger than the server behind this model takes at once; send it in parts.';
    return new ServiceError('payload_too_large', message, { code: 'payload_too_large' });
  }
  return upstreamFault(`it answered with HTTP status ${status}`);
}

/** Any other failure; `what` continues "The server behind this model failed: …". */
export function upstreamFault(what: string, cause?: unknown): ServiceError {
  return new ServiceError('upstream', `The server behind this model failed: ${what}.`, {
    code: 'upstream_error',
    cause,
  });
}

/** Names that are safe in a log: an identifier, not a sentence. */
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * The kind of error that a body names, for the log: `error.type` or `error.code` of OpenAI's shape (vLLM,
 * llama.cpp, Ollama), `detail.error` or `detail.type` of FastAPI servers, a flat `type` or `code`.
 * Undefined when it is none of these or not an identifier.
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
