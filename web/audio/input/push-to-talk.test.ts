import { describe, expect, it } from 'vitest';
import { completed, pressed, released, UP } from './push-to-talk.ts';

describe('a push-to-talk turn', () => {
  const down = pressed(UP, 1000);
  const ending = released(down, 77);

  it('starts when the button is pressed and ends with the audio block after its release', () => {
    expect(completed(UP, 1500)).toBeUndefined();
    expect(completed(down, 1500)).toBeUndefined();
    expect(completed(ending, 1580)).toEqual({ startMs: 1000, endMs: 1580, releasedMs: 77 });
  });

  it('continues if the button is pressed again before the turn ended', () => {
    expect(pressed(ending, 1500)).toEqual(down);
    expect(pressed(down, 1500)).toBe(down);
  });

  it('without audio is discarded', () => {
    expect(completed(ending, 1000)).toBeUndefined();
  });

  it('is released only once', () => {
    expect(released(ending, 99)).toBe(ending);
    expect(released(UP, 99)).toBe(UP);
  });
});
