/** Whole bodies of other servers. */

import { upstreamFault } from './errors.ts';

/** Longest answer that is read at once, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a body. @throws ServiceError `upstream` when it is too long. */
export async function bodyText(portions: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<string> {
  const parts: Uint8Array[] = [];
  let lengthBytes = 0;
  for await (const portion of portions) {
    lengthBytes += portion.length;
    if (lengthBytes > maxBytes) throw upstreamFault('its answer is too long');
    parts.push(portion);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The media type of an answer, in small letters. */
export function mediaTypeOf(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
