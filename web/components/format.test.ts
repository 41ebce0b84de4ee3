import { describe, expect, test } from 'vitest';
import { formatBytes, formatCount, formatCredits, formatSeconds, formatShortCount } from './format.ts';

describe('formatted values', () => {
  test.each([
    [0, '0 s'],
    [0.004, '< 0.01 s'],
    [2.345, '2.35 s'],
    [12.34, '12.3 s'],
    [61, '1 min'],
    [3900, '1 h 5 min'],
  ])('%d seconds are formatted as %s', (seconds, words) => {
    expect(formatSeconds(seconds)).toBe(words);
  });

  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [1_234_567, '1.2 MB'],
    [999_999, '1.0 MB'],
    [250_000_000, '250 MB'],
  ])('%d bytes are formatted as %s', (bytes, words) => {
    expect(formatBytes(bytes)).toBe(words);
  });

  test('counts have thousands separators, and credits up to six decimals', () => {
    expect(formatCount(1234567)).toBe('1,234,567');
    expect(formatCredits(12.500001)).toBe('12.500001');
    expect([0.25, 9, 1500, 1_250_000].map(formatShortCount)).toEqual(['0.25', '9', '1.5K', '1.25M']);
  });
});
