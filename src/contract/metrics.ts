/**
 * Numbers that the service shows at `/metrics`. Names are snake_case with the unit last; labels come from
 * small closed sets, never from what a caller sent.
 */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  /** Adds `by` (default 1, at least 0). */
  add(labels: Labels, by?: number): void;
}

export interface Histogram {
  /** Records one value in the unit that the name ends with. */
  observe(labels: Labels, value: number): void;
}

export interface Metrics {
  counter(name: string, help: string, labelNames: readonly string[]): Counter;
  /** @param buckets upper bounds, rising, in the unit of the name. */
  histogram(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]): Histogram;
  /** `read` is called at every scrape; it must be cheap and must not throw. */
  gauge(name: string, help: string, read: () => number): void;
}
