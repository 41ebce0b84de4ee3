import type { Metrics } from '../contract/metrics.ts';

const PASS_SECONDS_BUCKETS = [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];

/** Counts what all pools of a service do. */
export interface PoolMeter {
  /** A pass of a model is over, which took so long. */
  passed(model: string, lengthMs: number): void;
  jobOpened(): void;
  jobEnded(): void;
}

export function poolMeter(metrics: Metrics): PoolMeter {
  const passSeconds = metrics.histogram(
    'inference_pass_seconds',
    'Length of one inference pass',
    ['model'],
    PASS_SECONDS_BUCKETS,
  );
  let openJobs = 0;
  metrics.gauge('inference_open_jobs', 'Requests to embedded models that wait or run', () => openJobs);
  return {
    passed: (model, lengthMs) => passSeconds.observe({ model }, lengthMs / 1000),
    jobOpened: () => {
      openJobs += 1;
    },
    jobEnded: () => {
      openJobs -= 1;
    },
  };
}
