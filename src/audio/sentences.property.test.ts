import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repetitions } from '../../test/harness/tier.ts';
import { splitByDefinition } from '../../test/reference/sentences.ts';
import { SentenceChunker, splitSentences } from './sentences.ts';

/** Fragments from which random texts are built, so that every rule is exercised. */
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
/** Few full stops and many words, so that the length limits are reached. */
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

describe('for any text, the chunks', () => {
  test('match the reference implementation of the rules', () => {
    // The reference does not handle lone surrogates and control characters; other properties cover them.
    const plain = (text: string) =>
      text.replace(/[\p{Surrogate}\p{Cc}\u200b]/gu, (c) => (/\s/.test(c) ? c : ''));
    fc.assert(
      fc.property(fc.oneof(texts, longTexts).map(plain), (text) => {
        expect(splitSentences(text)).toEqual(splitByDefinition(text));
      }),
      { numRuns: repetitions(40, 400) },
    );
  });

  test('are not empty and join to the text', () => {
    fc.assert(
      fc.property(fc.oneof(texts, longTexts, fc.string({ unit: 'binary' })), (text) => {
        const chunks = splitSentences(text);
        expect(chunks.join('') === text).toBe(true);
        expect(chunks.includes('')).toBe(false);
        if (text.trim() !== '') expect(chunks.every((chunk) => chunk.trim() !== '')).toBe(true);
      }),
      { numRuns: repetitions(67, 400) },
    );
  });

  test('are the same however the text is split, even within a surrogate pair', () => {
    fc.assert(
      fc.property(
        fc.oneof(texts, longTexts),
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 }),
        (text, steps) => {
          const chunker = new SentenceChunker();
          const chunks: string[] = [];
          let at = 0;
          for (let i = 0; at < text.length; i++) {
            // A step of 0 is an empty push. The 1 prevents an endless loop for a list of zeros.
            const step = i % 2 === 0 ? (steps[i % steps.length] ?? 1) : 1;
            chunks.push(...chunker.push(text.slice(at, at + step)));
            at += step;
          }
          chunks.push(...chunker.flush());
          expect(chunks).toEqual(splitSentences(text));
        },
      ),
      { numRuns: repetitions(67, 200) },
    );
  });

  test('keep grapheme clusters whole and respect the length limits', () => {
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
      { numRuns: repetitions(67, 200) },
    );
  });
});

describe('the running time is linear', () => {
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

  // A quadratic algorithm would take minutes.
  test.each(HOSTILE)('for 250,000 characters of %j, in one push and in many', (part) => {
    const text = part.repeat(250_000 / part.length);
    splitSentences(text);
    const chunker = new SentenceChunker();
    for (let at = 0; at < text.length; at += 10) chunker.push(text.slice(at, at + 10));
    chunker.flush();
    chunker.close();
  });
});
