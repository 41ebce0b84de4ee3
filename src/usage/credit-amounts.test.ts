import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_GRANTED } from '../contract/accounts/accounts-store.ts';
import { creditNumber, creditText, parseCredits } from './credit-amounts.ts';

test('amounts are formatted, parsed and converted to JSON without loss', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_GRANTED }), (amount) => {
      expect(parseCredits(creditText(amount))).toBe(amount);
      const shown = JSON.parse(JSON.stringify(creditNumber(amount))) as number;
      expect(Math.round(shown * 1e6)).toBe(amount);
    }),
  );
});

test.each(['', '-1', '1.0000001', 'ten', '1e20', '1 000'])('%j is not an amount', (text) => {
  expect(parseCredits(text)).toBeUndefined();
});
