import { describe, expect, it } from 'vitest';
import { completed, pressed, released, UP } from './held-turn.ts';

describe('a held turn', () => {
  const down = pressed(UP, 1000);
  const ending = released(down, 77);

  it('begins where it is pressed and ends with the block after it was let go', () => {
    expect(completed(UP, 1500)).toBeUndefined();
    expect(completed(down, 1500)).toBeUndefined();
    expect(completed(ending, 1580)).toEqual({ startMs: 1000, endMs: 1580, letGoMs: 77 });
  });

  it('goes on when it is pressed again before it has ended', () => {
    expect(pressed(ending, 1500)).toEqual(down);
    expect(pressed(down, 1500)).toBe(down);
  });

  it('of no sound is none', () => {
    expect(completed(ending, 1000)).toBeUndefined();
  });

  it('is let go once', () => {
    expect(released(ending, 99)).toBe(ending);
    expect(released(UP, 99)).toBe(UP);
  });
});
