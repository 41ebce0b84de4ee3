/**
 * Numbers that the service shows at `/metrics`. Names are snake_case with the unit last; labels come from
 * small closed sets, never from what a caller sent. Parts of the service come and go while it runs: whoever asks
 * for a name that was given before gets the same numbers, which go on.
 */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  /** Adds `by` (default 1, at least 0). */
  add(labels: Labels, by?: number): void;
}

/** How much of something there is. Whoever adds takes away again. */
export interface UpDownCounter {
  /** @param by may be negative. */
  add(labels: Labels, by: number): void;
}

export interface Histogram {
  /** Records one value in the unit that the name ends with. */
  observe(labels: Labels, value: number): void;
}

/** Each throws when a name was given before to another kind of number or with other labels. */
export interface Metrics {
  counter(name: string, help: string, labelNames: readonly string[]): Counter;
  upDownCounter(name: string, help: string, labelNames: readonly string[]): UpDownCounter;
  /** @param buckets upper bounds, rising, in the unit of the name. */
  histogram(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]): Histogram;
  /**
   * `read` is called at every scrape, the newest alone; it must be cheap and must not throw.
   * @returns what ends it: the gauge has no value from then on, unless somebody asked for it anew.
   */
  gauge(name: string, help: string, read: () => number): () => void;
}
