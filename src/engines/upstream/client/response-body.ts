/** Reads complete response bodies of upstream servers. */

import { upstreamError } from './upstream-error.ts';

/** Default size limit of a body in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a body as UTF-8 text. @throws ServiceError `upstream` when it exceeds `maxBytes`. */
export async function readBodyText(chunks: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<string> {
  const read: Uint8Array[] = [];
  let lengthBytes = 0;
  for await (const chunk of chunks) {
    lengthBytes += chunk.length;
    if (lengthBytes > maxBytes) throw upstreamError('the response is too long');
    read.push(chunk);
  }
  return Buffer.concat(read).toString('utf8');
}

/** The media type of a response, in lower case and without parameters; empty if there is none. */
export function mediaTypeOf(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
