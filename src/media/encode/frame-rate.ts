/** Relative tolerance for rates that are treated as a multiple of 1000/1001. */
const NTSC_TOLERANCE = 1e-4;

export interface FrameRate {
  readonly num: number;
  readonly den: number;
}

/**
 * Converts a rate to a fraction that players support: an integer, an integer times 1000/1001, or thousandths.
 */
export function frameRateOf(fps: number): FrameRate {
  const near = (rate: number) => Math.abs(fps - rate) < rate * NTSC_TOLERANCE;
  const whole = Math.round(fps);
  if (near(whole)) return { num: whole, den: 1 };
  const ntsc = Math.round(fps * 1.001);
  if (near(ntsc / 1.001)) return { num: ntsc * 1000, den: 1001 };
  return { num: Math.round(fps * 1000), den: 1000 };
}
