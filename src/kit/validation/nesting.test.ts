import { expect, it } from 'vitest';
import { isNestedWithin } from './nesting.ts';

it('counts lists and objects at any position', () => {
  for (const [value, levels] of [
    [1, 0],
    [null, 0],
    ['{[', 0],
    [[], 1],
    [{}, 1],
    [{ a: 1, b: [2] }, 2],
    [[1, { a: [{}] }, 2], 4],
  ] as const) {
    expect(isNestedWithin(value, levels)).toBe(true);
    expect(isNestedWithin(value, levels + 1)).toBe(true);
    if (levels > 0) expect(isNestedWithin(value, levels - 1)).toBe(false);
  }
});

it('stops at the limit for deeper values', () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(isNestedWithin(deep, 64)).toBe(false);
});

it('accepts long lists', () => {
  const long = JSON.parse(`[${'1,'.repeat(2_000_000)}1]`);
  expect(isNestedWithin(long, 1)).toBe(true);
});
