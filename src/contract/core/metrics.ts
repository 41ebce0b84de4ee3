/**
 * Metrics of `/metrics`. Names are snake_case and end with the unit. Labels come from small fixed sets, never
 * from request data. Registering an existing name again returns the same metric, because components can be
 * stopped and started at runtime.
 */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  /** Adds `by` (default 1, at least 0). */
  add(labels: Labels, by?: number): void;
}

/** A value that can increase and decrease. */
export interface UpDownCounter {
  /** @param by may be negative. */
  add(labels: Labels, by: number): void;
}

export interface Histogram {
  /** Records one value, in the unit of the metric name. */
  observe(labels: Labels, value: number): void;
}

/** Each method throws if the name is already registered with another type or other labels. */
export interface Metrics {
  counter(name: string, help: string, labelNames: readonly string[]): Counter;
  upDownCounter(name: string, help: string, labelNames: readonly string[]): UpDownCounter;
  /** @param buckets upper bounds, rising, in the unit of the name. */
  histogram(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]): Histogram;
  /**
   * Registers a gauge whose value `read` returns at each scrape. Only the newest `read` of a name is called.
   * It must be cheap and must not throw.
   * @returns a function that removes the gauge, unless it was registered again in the meantime.
   */
  gauge(name: string, help: string, read: () => number): () => void;
}
