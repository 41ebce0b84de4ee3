/** Converts rejections of chat and embedding requests to errors that the caller can act on. */

import { invalidRequest, ServiceError } from '../../../contract/core/error.ts';

/** Statuses for an invalid or unsupported request. llama.cpp uses 501 for features that its model lacks. */
const REJECTION_STATUSES: ReadonlySet<number> = new Set([400, 422, 501]);
/** A prompt that exceeds the context: a sentence of OpenAI, vLLM and SGLang, and an error type of llama.cpp. */
const CONTEXT_EXCEEDED =
  /context[ _](length|size|window)|maximum (context|sequence|input)|longer than the model|too many tokens/i;

/** The server does not support `stream_options`. */
export class StreamOptionsError extends ServiceError {
  constructor() {
    super('upstream', 'The upstream server of this model does not support stream options.', {
      code: 'upstream_error',
    });
  }
}

/**
 * The error for a rejected chat or embedding request. The message of the server is not passed on, because it may quote
 * anything.
 * @param body the start of the response body.
 * @returns undefined if the status does not indicate an invalid request.
 */
export function explainRejection(status: number, body: string): ServiceError | undefined {
  if (!REJECTION_STATUSES.has(status)) return undefined;
  if (body.includes('stream_options')) return new StreamOptionsError();
  if (CONTEXT_EXCEEDED.test(body)) {
    const message = 'The input exceeds the context length of the model.';
    return invalidRequest(message, undefined, 'context_length_exceeded');
  }
  return invalidRequest(
    `The upstream server of this model rejected the request (HTTP status ${status}): unsupported content or parameters.`,
  );
}
