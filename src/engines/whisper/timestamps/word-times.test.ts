import { describe, expect, test } from 'vitest';
import { smallTokenizer } from '../../../../test/generators/small-tokenizer.ts';
import type { Attention } from '../shared/token-alignment.ts';
import { splitWords, type TimedSegment, wordTimes } from './word-times.ts';

const tokenizer = smallTokenizer();
const texts = (text: string, language = 'en') =>
  splitWords(tokenizer, tokenizer.encode(text), language).map((word) => word.text);

describe('splitWords', () => {
  test.each([
    [' So it is', ['\u0020So', ' it', ' is']],
    // Closing punctuation is separate here; it is attached to its word when the times are known.
    [' "Well," he said...', [' ', '"Well', ',', '"', ' he', ' said', '.', '.', '.']],
    ['naïve €5', ['naïve', ' €5']],
    ['', []],
  ])('%j', (text, words) => {
    expect(texts(text)).toEqual(words);
  });

  test('splits every character in a language without spaces', () => {
    expect(texts('你好，a', 'zh')).toEqual(['你', '好', '，', 'a']);
  });

  test('counts all tokens, including those of invalid characters', () => {
    const tokens = [0xe4, 97, 0xe4, 0xbd, 0xa0, 98, 0xe4];
    for (const language of ['en', 'zh']) {
      const words = splitWords(tokenizer, tokens, language);
      expect(words.map((word) => word.text).join('')).toBe(tokenizer.decode(tokens));
      expect(words.reduce((sum, word) => sum + word.count, 0)).toBe(tokens.length);
    }
  });
});

/** Attention in which the tokens of each text start at its time and take one frame of 20 ms each. */
function spoken(
  pieces: readonly (readonly [text: string, startS: number, endS: number])[],
  durationS: number,
) {
  const frames = Math.round(durationS * 50);
  const spans = pieces.flatMap(([text, startS, endS]) => {
    const count = tokenizer.encode(text).length;
    return Array.from({ length: count }, (_, index) => startS + ((endS - startS) * index) / count);
  });
  spans.push(pieces.at(-1)?.[2] ?? 0);
  const rows = spans.length;
  const data = new Float32Array(rows * frames).fill(0.001);
  for (const [row, startS] of spans.entries()) {
    const to = Math.round((spans[row + 1] ?? durationS) * 50);
    for (let frame = Math.round(startS * 50); frame < Math.max(to, Math.round(startS * 50) + 1); frame++) {
      data[row * frames + Math.min(frame, frames - 1)] = 1;
    }
  }
  return { data, heads: 1, rows, frames } satisfies Attention;
}
const segment = (text: string, startS: number, endS: number): TimedSegment => ({
  startS,
  endS,
  tokens: tokenizer.encode(text),
});
const near = (actual: number | undefined, expected: number) =>
  expect(Math.abs((actual ?? Number.NaN) - expected), `${actual} is near ${expected}`).toBeLessThan(0.1);

describe('wordTimes', () => {
  test('returns the spoken times of words with attached punctuation', () => {
    const attention = spoken(
      [
        [' "alpha"', 0.2, 1],
        [' bravo,', 1, 1.8],
        [' charlie.', 2, 2.8],
      ],
      4,
    );
    const [only] = wordTimes(tokenizer, {
      attention,
      firstRow: 0,
      segments: [segment(' "alpha" bravo, charlie.', 0.2, 2.8)],
      language: 'en',
      durationS: 4,
      pauses: [],
      lastSpeechS: 0,
    });
    expect(only?.words.map(({ word }) => word)).toEqual(['"alpha"', 'bravo,', 'charlie.']);
    near(only?.words[1]?.startS, 1);
    near(only?.words[2]?.endS, 2.8);
    expect([only?.startS, only?.endS]).toEqual([only?.words[0]?.startS, only?.words[2]?.endS]);
  });

  test('does not stretch the word after a sentence over the pause before it', () => {
    const attention = spoken(
      [
        [' alpha', 0, 0.6],
        ['.', 0.6, 0.7],
        [' bravo', 0.7, 3.6],
        [' charlie', 3.6, 4.2],
      ],
      5,
    );
    const [only] = wordTimes(tokenizer, {
      attention,
      firstRow: 0,
      segments: [segment(' alpha. bravo charlie', 0, 4.2)],
      language: 'en',
      durationS: 5,
      pauses: [],
      lastSpeechS: 0,
    });
    const bravo = only?.words[1];
    expect(bravo?.word).toBe('bravo');
    near(bravo?.endS, 3.6);
    expect(bravo?.startS).toBeGreaterThan(2);
  });

  test('limits a long word to the side of a pause with its larger part', () => {
    const attention = spoken(
      [
        [' alpha', 0, 0.5],
        [' bravo', 0.5, 2.2],
        [' charlie', 2.2, 2.7],
        [' delta', 2.7, 4.4],
        [' echo', 4.4, 4.9],
      ],
      5,
    );
    const [only] = wordTimes(tokenizer, {
      attention,
      firstRow: 0,
      segments: [segment(' alpha bravo charlie delta echo', 0, 4.9)],
      language: 'en',
      durationS: 5,
      pauses: [
        { startS: 0.2, endS: 0.4 },
        { startS: 0.6, endS: 1.7 },
        { startS: 3.2, endS: 4.4 },
      ],
      lastSpeechS: 0,
    });
    const [alpha, bravo, , delta] = only?.words ?? [];
    near(alpha?.endS, 0.5);
    near(bravo?.startS, 1.7);
    near(bravo?.endS, 2.2);
    near(delta?.startS, 2.7);
    near(delta?.endS, 3.2);
  });

  test('assigns words to segments and prefers the time of the segment to a distant one', () => {
    const attention = spoken(
      [
        [' alpha bravo', 0.5, 1.5],
        [' charlie', 1.6, 4.4],
        [' delta', 4.4, 4.9],
      ],
      6,
    );
    const [first, second] = wordTimes(tokenizer, {
      attention,
      firstRow: 0,
      segments: [segment(' alpha bravo', 0.4, 1.5), segment(' charlie delta', 3.8, 5)],
      language: 'en',
      durationS: 6,
      pauses: [],
      lastSpeechS: 0,
    });
    expect(first?.words.map(({ word }) => word)).toEqual(['alpha', 'bravo']);
    expect(second?.words.map(({ word }) => word)).toEqual(['charlie', 'delta']);
    expect(second?.words[0]?.startS).toBeGreaterThan(3);
  });

  test('returns times in order and within the audio, regardless of the segments', () => {
    const attention = spoken(
      [
        [' alpha', 0, 1],
        [' bravo', 1, 1.9],
      ],
      2,
    );
    const segments = [segment(' alpha', 5, 1), segment('', 1, 1), segment(' bravo', 0, 29)];
    const found = wordTimes(tokenizer, {
      attention,
      firstRow: 0,
      segments,
      language: undefined,
      durationS: 1.93,
      pauses: [],
      lastSpeechS: -3,
    });
    const times = found.flatMap((one) => [
      one.startS,
      ...one.words.flatMap((w) => [w.startS, w.endS]),
      one.endS,
    ]);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(0);
    expect(times.at(-1)).toBeLessThanOrEqual(1.93);
    expect(found.map(({ words }) => words.length)).toEqual([1, 0, 1]);
  });

  test('returns no words without text, and rejects a mismatch of rows and tokens', () => {
    const attention = { data: new Float32Array(10).fill(1), heads: 1, rows: 1, frames: 10 };
    const window = { attention, firstRow: 0, language: 'en', durationS: 1, pauses: [], lastSpeechS: 0 };
    expect(wordTimes(tokenizer, { ...window, segments: [] })).toEqual([]);
    expect(() => wordTimes(tokenizer, { ...window, segments: [segment('a', 0, 1)] })).toThrow('1 rows');
  });
});
