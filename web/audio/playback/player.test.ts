import { describe, expect, it } from 'vitest';
import { startOf } from './player.ts';

describe('startOf', () => {
  it('is the end of the previous chunk while that is still playing', () => {
    expect(startOf(5, 4)).toBe(5);
    expect(startOf(4.001, 4)).toBe(4.001);
  });

  it('is the current time plus a lead when nothing is playing', () => {
    expect(startOf(0, 4)).toBeCloseTo(4.08);
    expect(startOf(4, 4)).toBeCloseTo(4.08);
  });
});
