import type { ByteRange } from '../../contract/stores/blob-store.ts';

/**
 * Which bytes a request asks for (RFC 9110, 14): one range, or undefined for all of them. Several ranges and what
 * cannot be read are answered with all, as 14.2 allows. Positions may have as many digits as they like (14.1.2).
 * @param header the value of `Range`.
 * @returns `none` when the range is behind the last byte.
 */
export function byteRangeOf(header: string | null, lengthBytes: number): ByteRange | 'none' | undefined {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (first === '') {
    // The last so many bytes.
    const start = Math.max(0, lengthBytes - Number(last));
    return start < lengthBytes ? { start, end: lengthBytes } : 'none';
  }
  // Which of two comes first is told by all their digits; what lies behind the end may be rounded, since no content is
  // so long that a position in it is.
  if (last !== '' && BigInt(last) < BigInt(first)) return undefined;
  const start = Number(first);
  const end = last === '' ? lengthBytes : Math.min(Number(last) + 1, lengthBytes);
  return start < lengthBytes ? { start, end } : 'none';
}
