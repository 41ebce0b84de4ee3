import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../contract/clock.ts';
import type { Metrics } from '../contract/metrics.ts';

/** Metrics in Prometheus text form. */
export interface MetricsRegistry extends Metrics {
  readonly contentType: string;
  /** The text of `/metrics`. */
  render(): Promise<string>;
  close(): void;
}

/** A pause is seen when it covers the end of a period, so the period is about the shortest of interest. */
const LAG_PERIOD_MS = 20;

/**
 * Metrics of one process, with its memory and the pauses of its event loop. prom-client's own process
 * metrics are not used: under Bun they show NaN for the event loop and address space for the heap.
 */
export function createMetrics(clock: Clock): MetricsRegistry {
  const registry = new Registry();
  const registers = [registry];

  const metrics: Metrics = {
    counter(name, help, labelNames) {
      const counter = new Counter({ name, help, labelNames: [...labelNames], registers });
      return { add: (labels, by = 1) => counter.inc({ ...labels }, by) };
    },
    histogram(name, help, labelNames, buckets) {
      const options = { name, help, labelNames: [...labelNames], buckets: [...buckets], registers };
      const histogram = new Histogram(options);
      return { observe: (labels, value) => histogram.observe({ ...labels }, value) };
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };

  const startedSeconds = clock.now() / 1000;
  metrics.gauge(
    'process_start_time_seconds',
    'Unix time at which the process started.',
    () => startedSeconds,
  );
  metrics.gauge('process_resident_memory_bytes', 'Resident memory of the process.', () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge('process_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  metrics.gauge('process_cpu_seconds', 'User and system CPU time used so far.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const lag = watchEventLoop(clock);
  metrics.gauge(
    'event_loop_pause_seconds',
    'Longest pause of the serving thread since the last scrape.',
    lag.take,
  );

  return {
    ...metrics,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    close: lag.stop,
  };
}

/** Measures how late a timer fires, which is how long the thread could not serve. */
function watchEventLoop(clock: Clock): { take(): number; stop(): void } {
  let longestMs = 0;
  let previousMs = clock.monotonicMs();
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    longestMs = Math.max(longestMs, nowMs - previousMs - LAG_PERIOD_MS);
    previousMs = nowMs;
  }, LAG_PERIOD_MS);
  timer.unref();
  return {
    take() {
      const seconds = longestMs / 1000;
      longestMs = 0;
      return seconds;
    },
    stop: () => clearInterval(timer),
  };
}
