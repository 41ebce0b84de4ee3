import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repetitions } from '../../../../test/harness/tier.ts';
import { MAX_PASS_TOKENS, splitPhonemes, tokensOf, vocabularyOf } from './tokens.ts';

const vocabulary = vocabularyOf({ ' ': 16, a: 43, b: 44, '.': 4 });

describe('tokens', () => {
  test('each symbol is mapped to its id, and unknown symbols are skipped', () => {
    expect(tokensOf('ab. ✂a', vocabulary)).toEqual([43, 44, 4, 16, 43]);
    expect(tokensOf('', vocabulary)).toEqual([]);
  });

  test('an empty vocabulary is rejected', () => {
    expect(() => vocabularyOf({})).toThrow('vocabulary');
    expect(() => vocabularyOf({ ab: 1 })).toThrow('vocabulary');
  });
});

describe('passes', () => {
  const sentence = (symbols: number) => `${'a'.repeat(symbols - 1)}.`;

  test('a short text is one step, an empty text none', () => {
    expect(splitPhonemes('a'.repeat(MAX_PASS_TOKENS))).toEqual(['a'.repeat(MAX_PASS_TOKENS)]);
    expect(splitPhonemes('')).toEqual([]);
  });

  test('a sentence end is preferred to a later comma, a comma to a later blank', () => {
    expect(splitPhonemes(`${sentence(8)} bb, bb bb`, 12)).toEqual([sentence(8), ' bb, bb bb']);
    expect(splitPhonemes('aaaaaa, bb bbbbbb', 12)).toEqual(['aaaaaa,', ' bb bbbbbb']);
    expect(splitPhonemes('aaa aaa bbbbbbbb', 12)).toEqual(['aaa aaa ', 'bbbbbbbb']);
  });

  test('a break near the start is not used, because it would leave a very short step', () => {
    expect(splitPhonemes('a. bbbb bbbb bbbb', 12)).toEqual(['a. bbbb ', 'bbbb bbbb']);
  });

  test('text without breaks is split at the limit', () => {
    expect(splitPhonemes('a'.repeat(25), 10).map((part) => part.length)).toEqual([10, 10, 5]);
  });

  test('the parts are the whole input and none exceeds the limit', () => {
    const symbols = fc.string({
      unit: fc.constantFrom('a', 'ˈ', 'ʧ', ' ', ',', '.', '—', '”'),
      maxLength: 3000,
    });
    fc.assert(
      fc.property(symbols, fc.integer({ min: 1, max: MAX_PASS_TOKENS }), (phonemes, limit) => {
        const parts = splitPhonemes(phonemes, limit);
        expect(parts.join('')).toBe(phonemes);
        for (const part of parts) expect([...part].length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: repetitions(67, 200) },
    );
  });
});
