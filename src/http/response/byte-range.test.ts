import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteRangeOf } from './byte-range.ts';

describe('byteRangeOf with 10 bytes', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-9', 0, 10],
    ['bytes=3-5', 3, 6],
    ['bytes=3-', 3, 10],
    ['bytes=3-99999', 3, 10],
    ['bytes=9-', 9, 10],
    ['bytes=-1', 9, 10],
    ['bytes=-10', 0, 10],
    ['bytes=-99', 0, 10],
    ['Bytes= 2-4 ', 2, 5],
    ['bytes=007-0008', 7, 9],
    ['bytes=0-99999999999999999999999999', 0, 10],
    ['bytes=-99999999999999999999999', 0, 10],
    [`bytes=3-${'9'.repeat(400)}`, 3, 10],
  ])('%s', (header, start, end) => {
    expect(byteRangeOf(header, 10)).toEqual({ start, end });
  });

  it.each([
    ...['bytes=10-', 'bytes=10-10', 'bytes=99-100', 'bytes=-0', 'bytes=99999999999999999999-'],
    ...[`bytes=${'9'.repeat(400)}-`, `bytes=9007199254740992-${'9'.repeat(400)}`],
  ])('%s is not satisfiable', (header) => {
    expect(byteRangeOf(header, 10)).toBe('none');
  });

  it.each([
    ...[null, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=5-3', 'bytes=0-1,3-4', 'items=0-1'],
    ...['bytes=0x1-2', 'bytes=1.5-2', 'bytes=--1', 'bytes=0-1 2'],
    ...['bytes=9007199254740993-9007199254740992'],
  ])('%j selects all bytes', (header) => {
    expect(byteRangeOf(header, 10)).toBeUndefined();
  });
});

it('empty content has no ranges', () => {
  for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) expect(byteRangeOf(header, 0)).toBe('none');
});

/** RFC 9110, 14.1.2, with arbitrary-precision numbers. */
function reference(first: bigint | undefined, last: bigint | undefined, length: bigint) {
  if (first === undefined && last === undefined) return undefined;
  if (first !== undefined && last !== undefined && last < first) return undefined;
  const isShorter = last !== undefined && last < length;
  const start = first ?? (isShorter ? length - (last ?? 0n) : 0n);
  const end = first !== undefined && isShorter ? last + 1n : length;
  return start < length ? { start: Number(start), end: Number(end) } : 'none';
}

it('agrees with the RFC for all positions', () => {
  const bound = 2n ** 53n;
  const position = fc.option(
    fc.oneof(
      fc.bigInt(0n, 300n),
      fc.bigInt(bound - 3n, bound + 3n),
      fc.bigInt(0n, 10n ** 40n),
      fc.constant(10n ** 400n),
    ),
    { nil: undefined },
  );
  const length = fc.oneof(
    fc.nat(200),
    fc.integer({ min: Number.MAX_SAFE_INTEGER - 3, max: Number.MAX_SAFE_INTEGER }),
  );
  fc.assert(
    fc.property(position, position, fc.nat(3), length, (first, last, zeros, lengthBytes) => {
      const written = (at: bigint | undefined) => (at === undefined ? '' : `${'0'.repeat(zeros)}${at}`);
      const header = `bytes=${written(first)}-${written(last)}`;
      expect(byteRangeOf(header, lengthBytes)).toEqual(reference(first, last, BigInt(lengthBytes)));
    }),
    { numRuns: 2000 },
  );
});

it('ignores malformed headers', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(200), (header, length) => {
      fc.pre(!/^bytes=\s*\d*-\d*\s*$/i.test(header));
      expect(byteRangeOf(header, length)).toBeUndefined();
    }),
  );
});
