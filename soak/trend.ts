/** Linear trend of a series of measurements. */

export interface Trend {
  /** Per minute, in the unit of the values. */
  readonly perMinute: number;
  /** Half of the 95 % interval of it. */
  readonly margin: number;
  readonly minutes: number;
}

export interface Measured {
  readonly atMs: number;
  readonly value: number;
}

const MINUTE_MS = 60_000;

/** Quantile 0.975 of Student's t by degrees of freedom from 1; beyond them that of many. */
const STUDENT = [
  12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086,
];
const STUDENT_OF_MANY = 2.09;

/**
 * The slope of the least value of each minute, by least squares: between two collections of garbage memory goes up and down, and
 * what is least is what is held. Minutes are taken as independent.
 * @returns undefined for fewer than three minutes.
 */
export function trendOf(values: readonly Measured[]): Trend | undefined {
  const least = new Map<number, number>();
  for (const { atMs, value } of values) {
    const minute = Math.floor(atMs / MINUTE_MS);
    least.set(minute, Math.min(least.get(minute) ?? value, value));
  }
  const points = [...least].map(([x, y]) => ({ x, y }));
  const count = points.length;
  if (count < 3) return undefined;
  const mean = (of: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / count;
  const [middleX, middleY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = points.reduce((sum, { x }) => sum + (x - middleX) ** 2, 0);
  const perMinute = points.reduce((sum, { x, y }) => sum + (x - middleX) * (y - middleY), 0) / spread;
  const rest = points.reduce((sum, { x, y }) => sum + (y - middleY - perMinute * (x - middleX)) ** 2, 0);
  const margin = (STUDENT[count - 3] ?? STUDENT_OF_MANY) * Math.sqrt(rest / (count - 2) / spread);
  return { perMinute, margin, minutes: count };
}

/** The value below which this share (0–1) of the values lies; undefined of none. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
