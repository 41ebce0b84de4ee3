import type { Metrics } from '../../contract/core/metrics.ts';

/** Metrics for a part of the service that comes and goes. */
export interface ScopedMetrics extends Metrics {
  /** Its gauges have no values from now on. What was counted stays. Idempotent. */
  close(): void;
}

/** The same numbers, with gauges that go when the part does. */
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
