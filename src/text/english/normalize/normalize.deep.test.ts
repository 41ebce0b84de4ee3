import { expect, test } from 'vitest';
import { HOSTILE_UNITS } from '../../../../test/generators/hostile-units.ts';
import { normalizeEnglish } from './normalize.ts';

/** Best of five, because other load affects single measurements. */
function fastestMs(run: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const startMs = performance.now();
    run();
    return performance.now() - startMs;
  });
  return Math.min(...times);
}

// A quadratic step takes 16 times as long for four times the text.
test.each(HOSTILE_UNITS)('the time to read %j is linear', (unit) => {
  const ofLength = (characters: number) => unit.repeat(Math.ceil(characters / unit.length));
  const [short, long] = [ofLength(20_000), ofLength(80_000)];
  expect(fastestMs(() => normalizeEnglish(long)) / fastestMs(() => normalizeEnglish(short))).toBeLessThan(8);
});
