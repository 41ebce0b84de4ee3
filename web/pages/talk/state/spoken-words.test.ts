import { describe, expect, test } from 'vitest';
import { playedText } from './spoken-words.ts';

const COMPLETE = { lengthMs: 2000, isComplete: true };
const PIECES = [
  { text: 'One two. ', startMs: 0 },
  { text: 'Three four.', startMs: 1000 },
];
const at = (playedMs: number, audio = COMPLETE) => playedText(PIECES, audio, playedMs);

describe('playedText', () => {
  test('has the words of which half was played', () => {
    // Words of 4 and 5 characters in 1000 ms: 'One ' until 444 ms, 'two. ' until 1000 ms.
    expect([0, 221, 223, 721, 723, 1000].map((ms) => at(ms))).toEqual([
      '',
      '',
      'One',
      'One',
      'One two.',
      'One two.',
    ]);
  });

  test('continues with the next piece at its time', () => {
    expect(at(1100)).toBe('One two.');
    expect(at(1300)).toBe('One two. Three');
    expect(at(2000)).toBe('One two. Three four.');
  });

  test('times the last piece by its length until all audio has arrived', () => {
    const audio = { lengthMs: 1100, isComplete: false };
    // 11 characters of 65 ms after 1000 ms: 'Three ' is half played after 195 ms.
    expect(at(1190, audio)).toBe('One two.');
    expect(at(1200, audio)).toBe('One two. Three');
  });

  test('shows text without audio when its time has come', () => {
    const pieces = [...PIECES, { text: ' :)', startMs: 2000 }];
    expect(playedText(pieces, COMPLETE, 1999)).toBe('One two. Three four.');
    expect(playedText(pieces, COMPLETE, 2000)).toBe('One two. Three four. :)');
  });

  test('of nothing is empty', () => {
    expect(playedText([], { lengthMs: 0, isComplete: false }, 100)).toBe('');
  });
});
