/** Linear trend of a series of measurements. */

export interface Trend {
  /** Per minute, in the unit of the values. */
  readonly perMinute: number;
  /** Half of the 95 % confidence interval. */
  readonly margin: number;
  readonly minutes: number;
}

export interface Measured {
  readonly atMs: number;
  readonly value: number;
}

const MINUTE_MS = 60_000;

/** Quantile 0.975 of Student's t-distribution for 1 and more degrees of freedom. */
const STUDENT = [
  12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086,
];
/** For more degrees of freedom than listed. */
const STUDENT_LIMIT = 2.09;

/**
 * The least-squares slope of the minimum of each minute. Memory rises and falls between garbage collections, and the
 * minimum is the retained memory. Minutes are assumed to be independent.
 * @returns undefined for fewer than three minutes.
 */
export function trendOf(values: readonly Measured[]): Trend | undefined {
  const minimums = new Map<number, number>();
  for (const { atMs, value } of values) {
    const minute = Math.floor(atMs / MINUTE_MS);
    minimums.set(minute, Math.min(minimums.get(minute) ?? value, value));
  }
  const points = [...minimums].map(([x, y]) => ({ x, y }));
  const count = points.length;
  if (count < 3) return undefined;
  const mean = (of: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / count;
  const [middleX, middleY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = points.reduce((sum, { x }) => sum + (x - middleX) ** 2, 0);
  const perMinute = points.reduce((sum, { x, y }) => sum + (x - middleX) * (y - middleY), 0) / spread;
  const residuals = points.reduce((sum, { x, y }) => sum + (y - middleY - perMinute * (x - middleX)) ** 2, 0);
  const margin = (STUDENT[count - 3] ?? STUDENT_LIMIT) * Math.sqrt(residuals / (count - 2) / spread);
  return { perMinute, margin, minutes: count };
}

/** The quantile of the values for a share from 0 to 1; undefined without values. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
