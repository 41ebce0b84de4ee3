/** Clock as a dependency, so that tests control time. */
export interface Clock {
  /** Unix time in ms. */
  now(): number;
  /** Monotonic time in ms, for durations. */
  monotonicMs(): number;
}
