/** What a caller may know when a server refuses what the caller asked for. */

import { invalidRequest, ServiceError } from '../../../contract/core/error.ts';

/** What servers answer to a request that they cannot take; llama.cpp has 501 for what its model lacks. */
const REFUSALS: ReadonlySet<number> = new Set([400, 422, 501]);
/** OpenAI, vLLM and SGLang write a sentence about it, llama.cpp has a type for it. */
const TOO_LONG =
  /context[ _](length|size|window)|maximum (context|sequence|input)|longer than the model|too many tokens/i;

/** The server knows no `stream_options`. */
export class StreamOptionsRefused extends ServiceError {
  constructor() {
    super('upstream', 'The server behind this model knows no stream options.', { code: 'upstream_error' });
  }
}

/**
 * The refusal of a conversation or of texts: it is about what the caller sent, so the caller learns of it, but
 * not by the server's words, which may quote anything.
 * @param body the beginning of what the server said.
 * @returns undefined for everything that is not the caller's doing.
 */
export function explainRefusal(status: number, body: string): ServiceError | undefined {
  if (!REFUSALS.has(status)) return undefined;
  if (body.includes('stream_options')) return new StreamOptionsRefused();
  if (TOO_LONG.test(body)) {
    const message = 'The input is longer than the context of the model.';
    return invalidRequest(message, undefined, 'context_length_exceeded');
  }
  return invalidRequest(
    `The server behind this model refused the request (HTTP status ${status}): it cannot take something of its content or parameters.`,
  );
}
