import { expect, test } from 'vitest';
import { wordAt } from './spoken-words.ts';

const WORDS = [
  { word: 'One', start: 0.2, end: 0.5 },
  { word: 'two', start: 0.5, end: 0.8 },
  { word: 'three.', start: 1, end: 1.25 },
];

test.each([
  [0, undefined],
  [0.2, 0],
  [0.499, 0],
  [0.5, 1],
  [0.8, undefined],
  [1.2, 2],
  [1.25, undefined],
  [9, undefined],
])('at %d s the word %s is heard', (seconds, index) => {
  expect(wordAt(WORDS, seconds)).toBe(index);
});

test('no words', () => {
  expect(wordAt([], 1)).toBe(undefined);
});
