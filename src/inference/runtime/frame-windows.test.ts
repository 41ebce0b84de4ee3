import fc from 'fast-check';
import { expect, test } from 'vitest';
import { frameWindows } from './frame-windows.ts';

const plan = { first: 12, maxLength: 80, context: 4 };
const range = fc
  .tuple(fc.nat(2000), fc.nat(2000), fc.nat(50))
  .map(([a, b, rest]) => ({ from: Math.min(a, b), to: Math.max(a, b), frames: Math.max(a, b) + rest }));

test('windows cover the audible frames once, in order, with the available context', () => {
  fc.assert(
    fc.property(range, fc.constantFrom('stream' as const, 'whole' as const), (audible, delivery) => {
      let position = audible.from;
      for (const window of frameWindows(audible, plan, delivery)) {
        expect(window.start).toBe(position);
        expect(window.end).toBeGreaterThan(window.start);
        expect(window.end - window.start).toBeLessThan(plan.maxLength + plan.context);
        expect(window.contextStart).toBe(Math.max(0, window.start - plan.context));
        expect(window.contextEnd).toBe(Math.min(audible.frames, window.end + plan.context));
        position = window.end;
      }
      expect(position).toBe(audible.to);
    }),
  );
});

test('windows of a stream double from the first length; windows of a whole start at the maximum', () => {
  const lengths = (delivery: 'stream' | 'whole') =>
    [...frameWindows({ frames: 300, from: 0, to: 300 }, plan, delivery)].map((w) => w.end - w.start);
  expect(lengths('stream')).toEqual([12, 24, 48, 80, 80, 56]);
  expect(lengths('whole')).toEqual([80, 80, 80, 60]);
});

test.each([
  [40, [12, 24, 48, 80, 80, 56]],
  [6.4, [6, 12, 24, 48, 80, 80, 50]],
  [1, [4, 8, 16, 32, 64, 80, 80, 16]],
])('the first window has at most %d frames, but at least its context', (maxFirst, lengths) => {
  const windows = [...frameWindows({ frames: 300, from: 0, to: 300 }, plan, 'stream', maxFirst)];
  expect(windows.map((w) => w.end - w.start)).toEqual(lengths);
});

test('a remainder shorter than the context is merged into the last window', () => {
  const windows = [...frameWindows({ frames: 83, from: 0, to: 83 }, plan, 'whole')];
  expect(windows.map((w) => w.end - w.start)).toEqual([83]);
});
