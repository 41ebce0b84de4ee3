/** How near to a multiple of 1000/1001 a rate is taken for one. */
const NTSC_TOLERANCE = 1e-4;

export interface FrameRate {
  readonly num: number;
  readonly den: number;
}

/** A rate as players like it: a whole number, that of 1000/1001 of one, or a number of thousandths. */
export function frameRateOf(fps: number): FrameRate {
  const near = (rate: number) => Math.abs(fps - rate) < rate * NTSC_TOLERANCE;
  const whole = Math.round(fps);
  if (near(whole)) return { num: whole, den: 1 };
  const ntsc = Math.round(fps * 1.001);
  if (near(ntsc / 1.001)) return { num: ntsc * 1000, den: 1001 };
  return { num: Math.round(fps * 1000), den: 1000 };
}
