import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FRONT_ENDS } from './front-end.ts';

/** Characters with a meaning in the rules of several languages, and any other ones. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...'0123456789.,:/-–+%€$£₹°ºª½²@#&*_()[]¿?¡! \n',
        'km',
        'h',
        'am',
        'a. m.',
        'XIV',
        'Sr.',
        'etc.',
        'बजे',
        '第',
        '年',
        '月',
        '元',
        '，',
        ' constructor ',
        ' toString ',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('the words of any text', () => {
  test.each(FRONT_ENDS.map((frontEnd) => [frontEnd.language, frontEnd] as const))('in %s', (_, { words }) => {
    fc.assert(
      fc.property(text, (written) => {
        let last = 0;
        for (const { text: word, source } of words(written)) {
          expect(word).toMatch(/^\S+$/u);
          // Positions never go back, so that the times of words do not either.
          expect(source).toBeGreaterThanOrEqual(last);
          expect(source).toBeLessThan(written.length);
          last = source;
        }
      }),
    );
  });
});
