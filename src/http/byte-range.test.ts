import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteRangeOf } from './byte-range.ts';

describe('a range of 10 bytes', () => {
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
  ])('%s', (header, start, end) => {
    expect(byteRangeOf(header, 10)).toEqual({ start, end });
  });

  it.each(['bytes=10-', 'bytes=10-10', 'bytes=99-100', 'bytes=-0'])('%s is none of them', (header) => {
    expect(byteRangeOf(header, 10)).toBe('none');
  });

  it.each([
    ...[null, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=5-3', 'bytes=0-1,3-4', 'items=0-1'],
    ...['bytes=0x1-2', 'bytes=1.5-2', 'bytes=--1', 'bytes=0-1 2', `bytes=0-${'9'.repeat(16)}`],
  ])('%j asks for all', (header) => {
    expect(byteRangeOf(header, 10)).toBeUndefined();
  });
});

it('of nothing there is no range', () => {
  for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) expect(byteRangeOf(header, 0)).toBe('none');
});

it('lies within the bytes, whatever is asked', () => {
  const header = fc.oneof(
    fc.string(),
    fc.tuple(fc.nat(300), fc.nat(300)).map(([a, b]) => `bytes=${a}-${b}`),
    fc.nat(300).map((a) => `bytes=${a}-`),
    fc.nat(300).map((a) => `bytes=-${a}`),
  );
  fc.assert(
    fc.property(header, fc.nat(200), (asked, length) => {
      const range = byteRangeOf(asked, length);
      if (range === undefined || range === 'none') return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.start).toBeLessThan(range.end);
      expect(range.end).toBeLessThanOrEqual(length);
    }),
  );
});
