/** Statistics of measured values. */

/** The quantile of the values for a share from 0 to 1; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The median; the mean of the two middle values of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2)];
  return ((sorted[low] ?? Number.NaN) + (sorted[high] ?? Number.NaN)) / 2;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Least-squares slope of evenly spaced values. */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const average = mean(values);
  let [above, below] = [0, 0];
  values.forEach((value, i) => {
    above += (i - middle) * (value - average);
    below += (i - middle) ** 2;
  });
  return above / below;
}
