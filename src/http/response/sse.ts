/** Server-sent events in the format of OpenAI's SDKs (openai-wire 1.6). */

import { toRecordLine } from '../../kit/text/record-line.ts';
import { errorBody, toServiceError } from './error-body.ts';

/** Headers of an event stream response. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

const encoder = new TextEncoder();

/** An unnamed event with a JSON value. */
export function sseEvent(data: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`data: ${toRecordLine(data)}\n\n`);
}

/** A named event with a JSON value. */
export function sseNamedEvent(name: string, data: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`event: ${name}\ndata: ${toRecordLine(data)}\n\n`);
}

/** Terminates a stream of chat completion chunks. */
export const SSE_DONE = encoder.encode('data: [DONE]\n\n');

/** Terminates a stream that fails after the response headers were sent. SDKs throw the error in its body. */
export function sseError(thrown: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(`event: error\ndata: ${toRecordLine(errorBody(toServiceError(thrown)))}\n\n`);
}
