import { describe, expect, it } from 'vitest';
import { startOf } from './player.ts';

describe('startOf', () => {
  it('is the end of the piece before as long as that is still heard', () => {
    expect(startOf(5, 4)).toBe(5);
    expect(startOf(4.001, 4)).toBe(4.001);
  });

  it('is soon when nothing is heard', () => {
    expect(startOf(0, 4)).toBeCloseTo(4.08);
    expect(startOf(4, 4)).toBeCloseTo(4.08);
  });
});
