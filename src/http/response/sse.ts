/** Server-sent events as OpenAI's SDKs read them (openai-wire 1.6). */

import { errorBody, toServiceError } from './error-body.ts';

/** Headers of an answer that consists of events. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

const encoder = new TextEncoder();

/** One event with a JSON value. */
export function sseEvent(data: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`data: ${JSON.stringify(data)}\n\n`);
}

/** One event that has a name, with a JSON value. */
export function sseNamedEvent(name: string, data: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The end of a stream of chat chunks. */
export const SSE_DONE = encoder.encode('data: [DONE]\n\n');

/** What ends a stream that failed after its head went out; SDKs throw the error that it holds. */
export function sseError(thrown: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(`event: error\ndata: ${JSON.stringify(errorBody(toServiceError(thrown)))}\n\n`);
}
