import { expect, test } from 'vitest';
import { InputClock } from './input-clock.ts';

test('before the first block the start is unknown', () => {
  expect(new InputClock().startMs).toBeUndefined();
});

test('blocks that arrive late do not change the start', () => {
  const clock = new InputClock();
  clock.add(80, 1080);
  clock.add(160, 1210);
  clock.add(240, 1240);
  expect(clock.startMs).toBe(1000);
});

test('a pause changes the start after a second', () => {
  const clock = new InputClock();
  clock.add(80, 1080);
  for (let block = 1; block <= 12; block += 1) clock.add(80 + block * 80, 3080 + block * 80);
  expect(clock.startMs).toBe(3000);
});
