import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalText, scaledInteger } from './decimal.ts';

test.each([
  ['0', 6, 0n],
  ['12', 6, 12_000_000n],
  ['0.5', 6, 500_000n],
  ['1.5e-7', 12, 150_000n],
  ['1e3', 2, 100_000n],
  ['1.50', 1, 15n],
  ['0.000001', 6, 1n],
])('%s with %d places is %d', (text, places, units) => {
  expect(scaledInteger(text, places)).toBe(units);
});

test.each(['', '-1', '+1', '.5', '5.', '1,5', '1e999', 'Infinity', 'NaN', '0x10', ' 1', '1_000'])(
  '%j is not a valid number',
  (text) => {
    expect(scaledInteger(text, 6)).toBeUndefined();
  },
);

test('rejects more decimal places instead of rounding', () => {
  expect(scaledInteger('0.0000001', 6)).toBeUndefined();
  expect(scaledInteger('1e-7', 6)).toBeUndefined();
});

test('formatted numbers parse to the same value', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.integer({ min: 1, max: 12 }), (units, places) => {
      const text = decimalText(units, places);
      expect(text).not.toMatch(/\.\d*0$|^0\d/);
      expect(scaledInteger(text, places)).toBe(units);
    }),
  );
});

test('floating point numbers with few digits keep them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (millionths) => {
      expect(scaledInteger(String(millionths / 1e6), 6)).toBe(BigInt(millionths));
    }),
  );
});

test('negative values have a sign', () => {
  expect(decimalText(-1_500_000n, 6)).toBe('-1.5');
});
