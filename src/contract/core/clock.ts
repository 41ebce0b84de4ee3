/** Time as a dependency, so that tests can hold it still. */
export interface Clock {
  /** Unix time in ms. */
  now(): number;
  /** Monotonic time in ms, for durations. */
  monotonicMs(): number;
}
