import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitByDefinition } from '../../test/reference/sentences.ts';
import { SentenceChunker, splitSentences } from './sentences.ts';

/** Pieces that texts are made of, so that random ones meet every rule. */
const fragments = fc.constantFrom(
  ...[
    '. ',
    '.',
    '... ',
    '…',
    '? ',
    '!',
    '?!',
    '。',
    '！',
    '」',
    '「',
    '"',
    "'",
    '” ',
    '“',
    '(',
    ') ',
    ', ',
    '; ',
    ': ',
    ':',
  ],
  ...[' ', '  ', '\n', '\r\n', '\n\n', '\u00a0', '-', ' — ', '*', '、', '，', '/', '@', '$'],
  ...[
    'Mr',
    'Dr',
    'U.S',
    'e.g',
    'i.e',
    'a.m',
    'No',
    'Fig',
    'Inc',
    'etc',
    'St',
    'J',
    'R',
    'vs',
    'al',
    'I',
    'A',
    'iv',
  ],
  ...[
    'The',
    'the',
    'It',
    'He',
    'Bob',
    'word',
    'x',
    'Extraordinarily',
    "don't",
    'is',
    '3',
    '42',
    '3.14',
    '1892',
  ],
  ...[
    '彼',
    'と',
    'っ',
    '今天',
    'アイ',
    '한국',
    'é',
    'E\u0301',
    '\u0301',
    '😀',
    '👩‍👩‍👧‍👦',
    '👍🏽',
    '🇯🇵',
    '#️⃣',
    'क्षि',
    'नमस्ते',
    '।',
  ],
  ...['\ud83d', '\ude00', '\ud800', '\u200b', '\u0000'],
);
const texts = fc.array(fragments, { maxLength: 60, size: 'max' }).map((parts) => parts.join(''));
/** Few stops and many words, so that the limits of length are met. */
const longTexts = fc
  .array(
    fc.oneof(
      {
        weight: 12,
        arbitrary: fc.constantFrom('word', ' ', 'another', '漢字', 'e\u0301', '👩‍👩‍👧‍👦', 'x'.repeat(90)),
      },
      fragments,
    ),
    {
      minLength: 100,
      maxLength: 400,
      size: 'max',
    },
  )
  .map((parts) => parts.join(''));

describe('any text', () => {
  test('has the chunks that the rules define', () => {
    // The reference leaves the half of a surrogate pair and a control character to the other properties.
    const plain = (text: string) =>
      text.replace(/[\p{Surrogate}\p{Cc}\u200b]/gu, (c) => (/\s/.test(c) ? c : ''));
    fc.assert(
      fc.property(fc.oneof(texts, longTexts).map(plain), (text) => {
        expect(splitSentences(text)).toEqual(splitByDefinition(text));
      }),
      { numRuns: 400 },
    );
  });

  test('is whole in its chunks, none of them empty', () => {
    fc.assert(
      fc.property(fc.oneof(texts, longTexts, fc.string({ unit: 'binary' })), (text) => {
        const chunks = splitSentences(text);
        expect(chunks.join('') === text).toBe(true);
        expect(chunks.includes('')).toBe(false);
        if (text.trim() !== '') expect(chunks.every((chunk) => chunk.trim() !== '')).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('has the same chunks in any split, between the halves of a pair too', () => {
    fc.assert(
      fc.property(
        fc.oneof(texts, longTexts),
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 }),
        (text, steps) => {
          const chunker = new SentenceChunker();
          const chunks: string[] = [];
          let at = 0;
          for (let i = 0; at < text.length; i++) {
            // A step of 0 is an empty push; the 1 keeps a list of zeros from going on for ever.
            const step = i % 2 === 0 ? (steps[i % steps.length] ?? 1) : 1;
            chunks.push(...chunker.push(text.slice(at, at + step)));
            at += step;
          }
          chunks.push(...chunker.flush());
          expect(chunks).toEqual(splitSentences(text));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('keeps grapheme clusters whole and passes short enough', () => {
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
    fc.assert(
      fc.property(fc.oneof(texts, longTexts), (text) => {
        const chunks = splitSentences(text);
        for (const chunk of chunks) expect([...chunk.trim()].length).toBeLessThanOrEqual(600);
        const starts = new Set([...segmenter.segment(text)].map(({ index }) => index));
        let at = 0;
        for (const chunk of chunks) {
          expect(starts.has(at)).toBe(true);
          at += chunk.length;
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('linear time', () => {
  const HOSTILE = [
    'x',
    'a.a.a.',
    '"',
    '. ',
    '.',
    'a. ',
    '( ',
    '"" ',
    '\u0301',
    'a\n',
    '\n',
    ' ',
    'Mr. ',
    'U.S. (',
    '。',
    ', ',
    'A.',
    '\u200d😀',
  ];

  /** The best of some runs, in ms. */
  function bestMs(runs: number, work: () => void): number {
    const times = Array.from({ length: runs }, () => {
      const start = performance.now();
      work();
      return performance.now() - start;
    });
    return Math.min(...times);
  }

  test('5,000 characters without a space take less than 1 ms', () => {
    const text = 'x'.repeat(5_000);
    expect(bestMs(10, () => splitSentences(text))).toBeLessThan(1);
  });

  test.each(HOSTILE)('a quarter of a million of %j, at once and bit by bit', (part) => {
    const text = part.repeat(250_000 / part.length);
    // A quadratic step would take minutes; the bound only tells that apart.
    expect(bestMs(1, () => splitSentences(text))).toBeLessThan(1_000);
    const chunker = new SentenceChunker();
    const start = performance.now();
    for (let at = 0; at < text.length; at += 10) chunker.push(text.slice(at, at + 10));
    chunker.flush();
    expect(performance.now() - start).toBeLessThan(2_000);
    chunker.close();
  });
});
