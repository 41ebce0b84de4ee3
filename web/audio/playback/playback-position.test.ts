import { expect, test } from 'vitest';
import { PlaybackPosition } from './playback-position.ts';

test('audio without gaps is played with the clock', () => {
  const position = new PlaybackPosition();
  position.add(10, 10.5);
  position.add(10.5, 11);
  expect([9.9, 10, 10.25, 10.75, 11, 12].map((nowS) => position.playedS(nowS))).toEqual([
    0, 0, 0.25, 0.75, 1, 1,
  ]);
});

test('gaps are not counted', () => {
  const position = new PlaybackPosition();
  position.add(1, 2);
  position.add(5, 6);
  expect([1.5, 3, 4.9, 5.5, 7].map((nowS) => position.playedS(nowS))).toEqual([0.5, 1, 1, 1.5, 2]);
});

test('chunks can be added during playback, and playback can start again', () => {
  const position = new PlaybackPosition();
  position.add(1, 2);
  expect(position.playedS(1.5)).toBe(0.5);
  position.add(2, 3);
  expect(position.playedS(2.5)).toBe(1.5);
  position.clear();
  expect(position.playedS(2.6)).toBe(0);
  position.add(3, 4);
  expect(position.playedS(3.25)).toBe(0.25);
});
