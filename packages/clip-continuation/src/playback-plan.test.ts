import { describe, expect, it } from 'vitest';
import { loop, swing } from './playback-plan.ts';

const SWINGS = [
  { start: 1, earliest: -59, ramp: 24, minTravel: 48 },
  { start: 0, earliest: -59, ramp: 4, minTravel: 36 },
  { start: 0.5, earliest: -3, ramp: 24, minTravel: 48 },
  { start: 1, earliest: 0, ramp: 10, minTravel: 36 },
];

describe('swing', () => {
  it.each(SWINGS)('starts at the speed of the clip and stays within its range: %o', (options) => {
    const moments = swing(400, options).map(({ moment }) => moment);
    expect(moments[0]).toBe(options.start);
    expect((moments[1] ?? 0) - options.start).toBeGreaterThan(0.9 * Math.min(1, options.ramp / 10));
    expect(Math.max(...moments)).toBeLessThanOrEqual(Math.ceil(options.start + options.ramp / 2) + 1e-9);
    expect(Math.min(...moments)).toBeGreaterThanOrEqual(options.earliest - 1e-9);
  });

  it.each(SWINGS)('is never faster than the clip and changes its speed gradually: %o', (options) => {
    const moments = swing(400, options).map(({ moment }) => moment);
    const speeds = moments.slice(1).map((moment, before) => moment - (moments[before] ?? 0));
    expect(Math.max(...speeds.map(Math.abs))).toBeLessThanOrEqual(1 + 1e-9);
    const changes = speeds.slice(1).map((speed, before) => Math.abs(speed - (speeds[before] ?? 0)));
    // The slope options a cosine ramp is at most π / 2 options its mean slope.
    expect(Math.max(...changes)).toBeLessThanOrEqual(Math.PI / 2 / options.ramp + 1e-9);
  });

  it.each([1, 0.5, 0])('shows unmodified frames of the clip between its ramps: from %d', (start) => {
    const moments = swing(200, { start, earliest: -59, ramp: 24, minTravel: 48 }).map((it) => it.moment);
    const unmodified = moments.filter((moment) => Math.abs(moment - Math.round(moment)) < 1e-9);
    expect(unmodified.length).toBeGreaterThan(95);
  });

  it('returns to the end at the speed of the clip', () => {
    const moments = swing(400, { start: 1, earliest: -59, ramp: 24, minTravel: 48 }).map((it) => it.moment);
    const way = 13 + 59 + 24;
    expect(moments[24]).toBeCloseTo(13, 9);
    expect(moments[24 + way]).toBeCloseTo(-59, 9);
    expect(moments[24 + 2 * way]).toBeCloseTo(13, 9);
  });
});

describe('loop', () => {
  const plan = loop(100, { start: 1, loopPoint: -30, fade: 5 });

  it('plays the frames after the loop point repeatedly', () => {
    expect(plan[10]).toEqual({ moment: -19, other: -19, share: 0 });
    expect(plan[29]?.moment).toBe(0);
    expect(plan[30]?.other).toBe(-29);
    expect(plan[59]?.moment).toBe(0);
  });

  it('cross-fades from extrapolated frames to the frames after the loop point', () => {
    const fade = plan.slice(0, 6);
    expect(fade.map(({ moment }) => moment)).toEqual([1, 2, 3, 4, 5, -24]);
    expect(fade.map(({ other }) => other)).toEqual([-29, -28, -27, -26, -25, -24]);
    const shares = fade.map(({ share }) => share);
    expect(shares.slice(0, 5).toSorted((a, b) => a - b)).toEqual(shares.slice(0, 5));
    expect(shares[0]).toBeLessThan(0.1);
    expect(shares[4]).toBeGreaterThan(0.9);
  });
});
