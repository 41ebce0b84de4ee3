import type { Metrics } from '../../contract/core/metrics.ts';

/** Metrics of a component that is started and stopped at runtime. */
export interface ScopedMetrics extends Metrics {
  /** Removes the gauges; counters keep their values. Idempotent. */
  close(): void;
}

/** Wraps metrics so that all gauges registered through them can be removed together. */
export function scopedMetrics(metrics: Metrics): ScopedMetrics {
  const ends: (() => void)[] = [];
  return {
    ...metrics,
    gauge(name, help, read) {
      const end = metrics.gauge(name, help, read);
      ends.push(end);
      return end;
    },
    close() {
      for (const end of ends.splice(0)) end();
    },
  };
}
