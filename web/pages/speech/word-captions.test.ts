import { describe, expect, test } from 'vitest';
import { captionsOf, cuesOf } from './word-captions.ts';

/** Words of half a second each, without pauses. */
const spoken = (text: string) =>
  text.split(' ').map((word, index) => ({ word, start: index / 2, end: (index + 1) / 2 }));

describe('cues', () => {
  test('end with a sentence and not with an abbreviation', () => {
    const cues = cuesOf(spoken('Dr. Smith is here. "Who?" It is 5 p.m. here.'));
    expect(cues).toEqual([
      { start: 0, end: 2, lines: ['Dr. Smith is here.'] },
      { start: 2, end: 2.5, lines: ['"Who?"'] },
      { start: 2.5, end: 5, lines: ['It is 5 p.m. here.'] },
    ]);
  });

  test('have two lines of at most 42 characters, broken at punctuation', () => {
    const text =
      'When the last train had left the station, a dog was on the platform, next to a suitcase that waited for a passenger who never came';
    const cues = cuesOf(spoken(text));
    expect(cues.map(({ lines }) => lines)).toEqual([
      ['When the last train had left the station,', 'a dog was on the platform,'],
      ['next to a suitcase that waited', 'for a passenger who never came'],
    ]);
  });

  test.each([
    'a'.repeat(200),
    `${'b'.repeat(41)} ${'c'.repeat(42)} ${'d'.repeat(43)} e`,
    '一'.repeat(100),
    'word '.repeat(100).trim(),
    `one, ${'two '.repeat(30)}${'😀'.repeat(90)}`.trim(),
  ])('keep their limits and all text: %s', (text) => {
    const words = spoken(text);
    const cues = cuesOf(words);
    for (const { start, end, lines } of cues) {
      expect(lines.length).toBeLessThanOrEqual(2);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect([...line].length).toBeLessThanOrEqual(42);
      expect(end).toBeGreaterThan(start);
    }
    for (const [index, { start }] of cues.entries()) {
      expect(start).toBeGreaterThanOrEqual(cues[index - 1]?.end ?? 0);
    }
    expect(
      cues
        .flatMap(({ lines }) => lines)
        .join('')
        .replaceAll(' ', ''),
    ).toBe(text.replaceAll(' ', ''));
  });

  test('have no spaces between Chinese or Japanese words', () => {
    expect(cuesOf(spoken('我们 用 iPhone 去， 《红 楼》'))[0]?.lines).toEqual(['我们用 iPhone 去，《红楼》']);
    expect(cuesOf(spoken('明日、 テ ニス を'))[0]?.lines).toEqual(['明日、テニスを']);
  });

  test('end before a pause', () => {
    const words = [
      { word: 'One', start: 0, end: 0.5 },
      { word: 'two', start: 1.5, end: 1.5 },
    ];
    expect(cuesOf(words)).toEqual([
      { start: 0, end: 0.5, lines: ['One'] },
      { start: 1.5, end: 1.501, lines: ['two'] },
    ]);
  });
});

test('SubRip numbers its captions', () => {
  expect(captionsOf(spoken('Stop! Go on.'), 'srt')).toBe(
    '1\n00:00:00,000 --> 00:00:00,500\nStop!\n\n2\n00:00:00,500 --> 00:00:01,500\nGo on.\n\n',
  );
  expect(captionsOf([], 'srt')).toBe('');
});

test('WebVTT escapes its text', () => {
  const words = [{ word: 'R&D<-->', start: 3725.0004, end: 3725.5 }];
  expect(captionsOf(words, 'vtt')).toBe('WEBVTT\n\n01:02:05.000 --> 01:02:05.500\nR&amp;D&lt;--&gt;\n\n');
  expect(captionsOf([], 'vtt')).toBe('WEBVTT\n\n');
});
