import { expect, it } from 'vitest';
import { formatClock } from './clock-format.ts';

it.each([
  [0, '0:00.0'],
  [7_349, '0:07.3'],
  [59_960, '1:00.0'],
  [754_000, '12:34.0'],
])('%i ms are %s', (ms, message) => {
  expect(formatClock(ms)).toBe(message);
});
