/** Stored bytes as an answer: all of them, a range of them (RFC 9110, 14), or that the client has them. */

import { ServiceError } from '../../contract/core/error.ts';
import type { ByteRange } from '../../contract/stores/blob-store.ts';
import { startingWith } from '../../kit/async/prepend.ts';
import { byteRangeOf } from './byte-range.ts';
import { isKnownTo } from './entity-tag.ts';
import { headAnswer } from './head-answer.ts';
import { streamedBody } from './streamed-body.ts';

/**
 * Content up to this is sent whole. The runtime sends a stream in pieces and leaves its `content-length` out
 * (oven-sh/bun#10507); HEAD and `content-range` tell it for longer ones.
 */
const WHOLE_BYTES = 1024 * 1024;
/** Kept by nobody but the client, who asks each time whether it may still have it. */
const CACHING = 'private, no-cache';

export interface StoredContent {
  /** What a message calls it: `file`. */
  readonly noun: string;
  readonly lengthBytes: number;
  /** Its entity tag: strong, with its quotation marks. */
  readonly etag: string;
  /** Its type, and how it is to be saved. */
  readonly headers: Readonly<Record<string, string>>;
  /** @param range absent is all of it. */
  read(
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>>;
}

/**
 * Answers GET and HEAD of stored content.
 * @param refusal headers that a refusal will have.
 * @throws ServiceError `range_not_satisfiable`; what `read` throws before the first byte.
 */
export async function contentAnswer(
  content: StoredContent,
  request: Request,
  refusal: Record<string, string | number>,
): Promise<Response> {
  const { noun, lengthBytes, etag } = content;
  // Before a range is looked at (RFC 9110, 13.2.2).
  if (isKnownTo(request.headers.get('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { etag, 'cache-control': CACHING } });
  }
  const range = rangeOf(request, lengthBytes, etag);
  if (range === 'none') {
    refusal['content-range'] = `bytes */${lengthBytes}`;
    throw new ServiceError(
      'range_not_satisfiable',
      `'Range' must begin within the ${lengthBytes} bytes of the ${noun}.`,
      { param: 'Range' },
    );
  }
  const { start, end } = range ?? { start: 0, end: lengthBytes };
  const answer = {
    status: range === undefined ? 200 : 206,
    headers: {
      ...content.headers,
      'cache-control': CACHING,
      'content-length': String(end - start),
      'accept-ranges': 'bytes',
      etag,
      ...(range && { 'content-range': `bytes ${start}-${end - 1}/${lengthBytes}` }),
    },
  };
  if (request.method === 'HEAD') return headAnswer(end - start, answer);
  const left = new AbortController();
  const bytes = await content.read(AbortSignal.any([request.signal, left.signal]), range);
  if (end - start <= WHOLE_BYTES) return new Response(Buffer.concat(await Array.fromAsync(bytes)), answer);
  // What fails before the first byte can still be told by a status.
  const first = await bytes.next();
  const chunks = first.done ? bytes : startingWith(first.value, bytes);
  return new Response(streamedBody(chunks, left, request), answer);
}

/** The range that a request asks for; all when it asks for one of what it takes for other content (RFC 9110, 13.1.5). */
function rangeOf(request: Request, lengthBytes: number, etag: string) {
  const onlyIf = request.headers.get('if-range');
  if (onlyIf !== null && onlyIf !== etag) return undefined;
  return byteRangeOf(request.headers.get('range'), lengthBytes);
}
