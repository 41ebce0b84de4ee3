import { expect, test } from 'vitest';
import { formatClock, momentOf, positionOf } from './play-position.ts';

const LENGTHS = { clipS: 2, segmentS: 4 };

test.each([
  [-1, 'clip', 0],
  [0, 'clip', 0],
  [1.9, 'clip', 1.9],
  [2, 'segment', 0],
  [5.5, 'segment', 3.5],
  [9, 'segment', 4],
] as const)('%d s is in the %s at %d s', (moment, part, atS) => {
  const position = positionOf(moment, LENGTHS);
  expect(position.part).toBe(part);
  expect(position.atS).toBeCloseTo(atS, 9);
  expect(momentOf(position, LENGTHS)).toBeCloseTo(Math.min(Math.max(moment, 0), 6), 9);
});

test.each([
  [0, '0:00.0'],
  [7.46, '0:07.5'],
  [59.97, '1:00.0'],
  [61.25, '1:01.3'],
])('%d s is formatted as %s', (seconds, words) => {
  expect(formatClock(seconds)).toBe(words);
});
