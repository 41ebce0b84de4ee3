import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../contract/core/clock.ts';
import type { Metrics } from '../contract/core/metrics.ts';

/** Metrics in the Prometheus text format. */
export interface MetricsRegistry extends Metrics {
  readonly contentType: string;
  /** Renders the text of `/metrics`. */
  render(): Promise<string>;
  close(): void;
}

/** Measurement interval, in ms; a pause is detected if it covers the end of an interval. */
const LAG_PERIOD_MS = 20;
const DELAY_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];

/**
 * Creates the metrics of a process, including memory and event loop delay. prom-client's own process metrics
 * are not used: under Bun they report NaN for the event loop and address space for the heap.
 */
export function createMetrics(clock: Clock): MetricsRegistry {
  const registry = new Registry();
  const registers = [registry];
  const registered = new Map<string, { readonly shape: string; readonly metric: unknown }>();
  const readers = new Map<string, () => number>();

  /** Returns the metric of a name, which is created on first use. */
  function named<Metric>(
    kind: string,
    name: string,
    labelNames: readonly string[],
    create: () => Metric,
  ): Metric {
    const shape = `${kind}(${labelNames.join()})`;
    const known = registered.get(name);
    if (known === undefined) {
      const metric = create();
      registered.set(name, { shape, metric });
      return metric;
    }
    if (known.shape !== shape)
      throw new Error(`metric ${name} is registered as ${known.shape}, not ${shape}`);
    return known.metric as Metric;
  }

  const metrics: Metrics = {
    counter(name, help, labelNames) {
      const counter = named(
        'counter',
        name,
        labelNames,
        () => new Counter({ name, help, labelNames: [...labelNames], registers }),
      );
      return { add: (labels, by = 1) => counter.inc({ ...labels }, by) };
    },
    upDownCounter(name, help, labelNames) {
      const gauge = named(
        'upDownCounter',
        name,
        labelNames,
        () => new Gauge({ name, help, labelNames: [...labelNames], registers }),
      );
      return { add: (labels, by) => gauge.inc({ ...labels }, by) };
    },
    histogram(name, help, labelNames, buckets) {
      const options = { name, help, labelNames: [...labelNames], buckets: [...buckets], registers };
      const histogram = named('histogram', name, labelNames, () => new Histogram(options));
      return { observe: (labels, value) => histogram.observe({ ...labels }, value) };
    },
    gauge(name, help, read) {
      readers.set(name, read);
      named(
        'gauge',
        name,
        [],
        () =>
          new Gauge({
            name,
            help,
            registers,
            collect() {
              const current = readers.get(name);
              if (current === undefined) this.remove();
              else this.set(current());
            },
          }),
      );
      return () => {
        if (readers.get(name) === read) readers.delete(name);
      };
    },
  };

  const startedSeconds = clock.now() / 1000;
  metrics.gauge(
    'process_start_time_seconds',
    'Start time of the process, in Unix seconds.',
    () => startedSeconds,
  );
  metrics.gauge('process_resident_memory_bytes', 'Resident memory of the process.', () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge('process_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  let countedS = 0;
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time of the server process.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      const usedS = (user + system) / 1e6;
      this.inc(usedS - countedS);
      countedS = usedS;
    },
  });
  const delay = metrics.histogram(
    'event_loop_delay_seconds',
    'Delay of a 20 ms timer: time that the main thread was blocked.',
    [],
    DELAY_SECONDS,
  );
  const lag = measureEventLoopDelay(clock, (lateMs) => delay.observe({}, lateMs / 1000));
  metrics.gauge(
    'event_loop_pause_seconds',
    'Longest block of the main thread since the last scrape.',
    lag.takeMaxSeconds,
  );

  return {
    ...metrics,
    contentType: registry.contentType,
    render: () => registry.metrics(),
    close: lag.stop,
  };
}

/**
 * Measures the delay of a timer, which is the time that the main thread was blocked.
 * @param onDelay called with each delay, in ms.
 */
function measureEventLoopDelay(
  clock: Clock,
  onDelay: (ms: number) => void,
): { takeMaxSeconds(): number; stop(): void } {
  let maxMs = 0;
  let previousMs = clock.monotonicMs();
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    const lateMs = Math.max(0, nowMs - previousMs - LAG_PERIOD_MS);
    maxMs = Math.max(maxMs, lateMs);
    previousMs = nowMs;
    onDelay(lateMs);
  }, LAG_PERIOD_MS);
  timer.unref();
  return {
    takeMaxSeconds() {
      const seconds = maxMs / 1000;
      maxMs = 0;
      return seconds;
    },
    stop: () => clearInterval(timer),
  };
}
