import type { ByteRange } from '../../contract/stores/blob-store.ts';

/**
 * Parses a `Range` header (RFC 9110, 14). Several ranges and malformed values are ignored, as 14.2 allows. The number of
 * digits of a position is not limited (14.1.2).
 * @param header the value of `Range`.
 * @returns one range; undefined for the complete content; `none` when the range starts after the last byte.
 */
export function byteRangeOf(header: string | null, lengthBytes: number): ByteRange | 'none' | undefined {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (first === '') {
    // Suffix range: the last N bytes.
    const start = Math.max(0, lengthBytes - Number(last));
    return start < lengthBytes ? { start, end: lengthBytes } : 'none';
  }
  // Compare with all digits. Afterwards rounding is harmless: positions within the content are exact as numbers.
  if (last !== '' && BigInt(last) < BigInt(first)) return undefined;
  const start = Number(first);
  const end = last === '' ? lengthBytes : Math.min(Number(last) + 1, lengthBytes);
  return start < lengthBytes ? { start, end } : 'none';
}
