import { describe, expect, it } from 'vitest';
import { loop, swing } from './playhead.ts';

const SWINGS = [
  { start: 1, earliest: -59, ramp: 24, leastWay: 48 },
  { start: 0, earliest: -59, ramp: 4, leastWay: 36 },
  { start: 0.5, earliest: -3, ramp: 24, leastWay: 48 },
  { start: 1, earliest: 0, ramp: 10, leastWay: 36 },
];

describe('a swing', () => {
  it.each(SWINGS)('goes on as the clip does, and never leaves what may be shown: %o', (of) => {
    const moments = swing(400, of).map(({ moment }) => moment);
    expect(moments[0]).toBe(of.start);
    expect((moments[1] ?? 0) - of.start).toBeGreaterThan(0.9 * Math.min(1, of.ramp / 10));
    expect(Math.max(...moments)).toBeLessThanOrEqual(Math.ceil(of.start + of.ramp / 2) + 1e-9);
    expect(Math.min(...moments)).toBeGreaterThanOrEqual(of.earliest - 1e-9);
  });

  it.each(SWINGS)('is never faster than the clip and never changes its speed at once: %o', (of) => {
    const moments = swing(400, of).map(({ moment }) => moment);
    const speeds = moments.slice(1).map((moment, before) => moment - (moments[before] ?? 0));
    expect(Math.max(...speeds.map(Math.abs))).toBeLessThanOrEqual(1 + 1e-9);
    const changes = speeds.slice(1).map((speed, before) => Math.abs(speed - (speeds[before] ?? 0)));
    // A cosine changes by at most π / 2 of its height in the time of its ramp.
    expect(Math.max(...changes)).toBeLessThanOrEqual(Math.PI / 2 / of.ramp + 1e-9);
  });

  it.each([1, 0.5, 0])('shows whole frames of the clip on its way: from %d', (start) => {
    const moments = swing(200, { start, earliest: -59, ramp: 24, leastWay: 48 }).map((it) => it.moment);
    const whole = moments.filter((moment) => Math.abs(moment - Math.round(moment)) < 1e-9);
    expect(whole.length).toBeGreaterThan(95);
  });

  it('comes back to the end at the speed of the clip', () => {
    const moments = swing(400, { start: 1, earliest: -59, ramp: 24, leastWay: 48 }).map((it) => it.moment);
    const way = 13 + 59 + 24;
    expect(moments[24]).toBeCloseTo(13, 9);
    expect(moments[24 + way]).toBeCloseTo(-59, 9);
    expect(moments[24 + 2 * way]).toBeCloseTo(13, 9);
  });
});

describe('a loop', () => {
  const shown = loop(100, { start: 1, twin: -30, fade: 5 });

  it('shows what followed the twin of the end, forward, again and again', () => {
    expect(shown[10]).toEqual({ moment: -19, other: -19, share: 0 });
    expect(shown[29]?.moment).toBe(0);
    expect(shown[30]?.other).toBe(-29);
    expect(shown[59]?.moment).toBe(0);
  });

  it('fades from what would come next to what came then', () => {
    const fade = shown.slice(0, 6);
    expect(fade.map(({ moment }) => moment)).toEqual([1, 2, 3, 4, 5, -24]);
    expect(fade.map(({ other }) => other)).toEqual([-29, -28, -27, -26, -25, -24]);
    const shares = fade.map(({ share }) => share);
    expect(shares.slice(0, 5).toSorted((a, b) => a - b)).toEqual(shares.slice(0, 5));
    expect(shares[0]).toBeLessThan(0.1);
    expect(shares[4]).toBeGreaterThan(0.9);
  });
});
