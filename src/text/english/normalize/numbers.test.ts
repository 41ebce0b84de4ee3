import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repetitions } from '../../../../test/harness/tier.ts';
import {
  cardinal,
  decade,
  digitByDigit,
  fraction,
  MAX_CARDINAL_DIGITS,
  ordinal,
  plural,
  withoutThousands,
  writtenNumber,
  year,
} from './numbers.ts';

describe('cardinal', () => {
  test.each([
    ['0', 'zero'],
    ['7', 'seven'],
    ['13', 'thirteen'],
    ['40', 'forty'],
    ['99', 'ninety-nine'],
    ['100', 'one hundred'],
    ['115', 'one hundred fifteen'],
    ['1000', 'one thousand'],
    ['1001', 'one thousand one'],
    ['20300', 'twenty thousand three hundred'],
    ['1000000', 'one million'],
    ['2000000007', 'two billion seven'],
    ['007', 'seven'],
    ['999999999999999999999', undefined],
  ])('%s', (digits, spoken) => {
    const result = cardinal(digits);
    if (spoken === undefined) expect(result).toMatch(/^nine hundred ninety-nine quintillion/);
    else expect(result).toBe(spoken);
  });

  test('reads numbers beyond the largest named scale digit by digit', () => {
    const digits = '1'.repeat(MAX_CARDINAL_DIGITS + 1);
    expect(cardinal(digits)).toBe(digitByDigit(digits));
  });

  test('every number up to a million has a distinct reading', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.nat(1_000_000), (a, b) => {
        expect(cardinal(String(a)) === cardinal(String(b))).toBe(a === b);
      }),
      { numRuns: repetitions(100, 300) },
    );
  });
});

test.each([
  ['1', 'first'],
  ['2', 'second'],
  ['3', 'third'],
  ['5', 'fifth'],
  ['8', 'eighth'],
  ['9', 'ninth'],
  ['12', 'twelfth'],
  ['20', 'twentieth'],
  ['21', 'twenty-first'],
  ['100', 'one hundredth'],
  ['112', 'one hundred twelfth'],
])('ordinal %s', (digits, spoken) => expect(ordinal(digits)).toBe(spoken));

test.each([
  ['1066', 'ten sixty-six'],
  ['1492', 'fourteen ninety-two'],
  ['1800', 'eighteen hundred'],
  ['1905', 'nineteen oh five'],
  ['1984', 'nineteen eighty-four'],
  ['2000', 'two thousand'],
  ['2007', 'two thousand seven'],
  ['2010', 'twenty ten'],
  ['2024', 'twenty twenty-four'],
  ['800', 'eight hundred'],
])('year %s', (digits, spoken) => expect(year(digits)).toBe(spoken));

test.each([
  ['1990', 'nineteen nineties'],
  ['60', 'sixties'],
])('decade %s', (digits, spoken) => expect(decade(digits)).toBe(spoken));

test.each([
  ['six', 'sixes'],
  ['twenty', 'twenties'],
  ['ten', 'tens'],
])('plural of %s', (one, many) => expect(plural(one)).toBe(many));

test.each([
  ['1,234', 'one thousand two hundred thirty-four'],
  ['-5', 'minus five'],
  ['+5', 'plus five'],
  ['3.14', 'three point one four'],
  ['.5', 'point five'],
  ['0.05', 'zero point zero five'],
  ['½', 'one half'],
  ['¾', 'three quarters'],
  ['2½', 'two and a half'],
  ['5⅓', 'five and one third'],
  ['007', 'zero zero seven'],
  ['1,23', undefined],
  ['1,2345', undefined],
  ['-', undefined],
  ['', undefined],
  ['1.', undefined],
  ['1.5½', undefined],
  ['a1', undefined],
])('written number %s', (written, spoken) => expect(writtenNumber(written)).toBe(spoken));

test.each([
  ['1', '2', 'one half'],
  ['3', '4', 'three quarters'],
  ['2', '3', 'two thirds'],
  ['5', '8', 'five eighths'],
  ['3', '100', 'three one hundredths'],
  ['7', '24', undefined],
  ['5', '5', undefined],
  ['24', '7', undefined],
  ['0', '5', undefined],
  ['01', '2', undefined],
])('fraction %s/%s', (top, bottom, spoken) => expect(fraction(top, bottom)).toBe(spoken));

test.each([
  ['12,345,678', '12345678'],
  ['123', '123'],
  ['1234,567', undefined],
  [',123', undefined],
])('thousands in %s', (written, digits) => expect(withoutThousands(written)).toBe(digits));
