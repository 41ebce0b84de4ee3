/** Responses with stored content: complete, a byte range (RFC 9110, 14), or 304 when the client's copy is current. */

import { ServiceError } from '../../contract/core/error.ts';
import type { ByteRange } from '../../contract/stores/blob-store.ts';
import { started } from '../../kit/async/started.ts';
import { byteRangeOf } from './byte-range.ts';
import { matchesEntityTag } from './entity-tag.ts';
import { headResponse } from './head-response.ts';
import { streamedBody } from './streamed-body.ts';

/**
 * Content up to this size is sent from memory, with a `content-length`. Longer content is streamed, and the runtime omits
 * the `content-length` of streams (oven-sh/bun#10507); clients get the length from HEAD or from `content-range`.
 */
export const WHOLE_BYTES = 1024 * 1024;
/** Only the client itself may cache the content, and it must revalidate each time. */
const CACHING = 'private, no-cache';

export interface StoredContent {
  /** Name of the content in error messages, such as `file`. */
  readonly noun: string;
  readonly lengthBytes: number;
  /** Strong entity tag, including the quotation marks. */
  readonly etag: string;
  /** `content-type` and `content-disposition`. */
  readonly headers: Readonly<Record<string, string>>;
  /** @param range if absent, all bytes are read. */
  read(
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>>;
}

/**
 * Creates the response to GET and HEAD of stored content.
 * @param errorHeaders receives the headers that belong to an error response (`content-range` for 416).
 * @throws ServiceError `range_not_satisfiable`; errors of `read` before the first byte.
 */
export async function contentResponse(
  content: StoredContent,
  request: Request,
  errorHeaders: Record<string, string | number>,
): Promise<Response> {
  const { noun, lengthBytes, etag } = content;
  // Preconditions are evaluated before the range (RFC 9110, 13.2.2).
  if (matchesEntityTag(request.headers.get('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: { etag, 'cache-control': CACHING } });
  }
  const range = rangeOf(request, lengthBytes, etag);
  if (range === 'none') {
    errorHeaders['content-range'] = `bytes */${lengthBytes}`;
    throw new ServiceError(
      'range_not_satisfiable',
      `'Range' must start within the ${lengthBytes} bytes of the ${noun}.`,
      { param: 'Range' },
    );
  }
  const { start, end } = range ?? { start: 0, end: lengthBytes };
  const response = {
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
  if (request.method === 'HEAD') return headResponse(end - start, response);
  const disconnected = new AbortController();
  const bytes = await content.read(AbortSignal.any([request.signal, disconnected.signal]), range);
  if (end - start <= WHOLE_BYTES) return new Response(Buffer.concat(await Array.fromAsync(bytes)), response);
  // An error before the first byte can still be returned with an HTTP status.
  const body = (await started(bytes)) ?? bytes;
  return new Response(streamedBody(body, disconnected, request), response);
}

/** The requested range. `Range` is ignored if `If-Range` names other content (RFC 9110, 13.1.5). */
function rangeOf(request: Request, lengthBytes: number, etag: string) {
  const onlyIf = request.headers.get('if-range');
  if (onlyIf !== null && onlyIf !== etag) return undefined;
  return byteRangeOf(request.headers.get('range'), lengthBytes);
}
