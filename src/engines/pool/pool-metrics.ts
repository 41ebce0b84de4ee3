/** What `/metrics` and traces tell of the pools. */

import type { Metrics } from '../../contract/core/metrics.ts';
import type { TracePlace, Tracer } from '../../contract/core/tracer.ts';
import type { Priority } from '../../contract/engines/engine.ts';
import { noTracer } from '../../kit/logging/spans.ts';
import { lostProcesses, queueSeconds } from '../workers/process-metrics.ts';

const PASS_SECONDS_BUCKETS = [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];

/** A request in a pool. Times are monotonic, in ms. */
export interface MeteredJob {
  readonly model: string;
  readonly priority: Priority;
  readonly arrivedMs: number;
  /** What it is a part of. */
  readonly place: TracePlace | undefined;
}

/** Counts and traces what all pools of a service do. */
export interface PoolMeter {
  /** Where a request that comes now belongs. */
  here(): TracePlace | undefined;
  jobOpened(job: MeteredJob): void;
  /** The first pass of a job begins. */
  jobBegun(job: MeteredJob, nowMs: number): void;
  /** A pass of a job is over. */
  passed(job: MeteredJob, fromMs: number, nowMs: number): void;
  jobEnded(job: MeteredJob): void;
  /** A process has ended by itself. */
  processLost(): void;
}

export function poolMeter(metrics: Metrics, tracer: Tracer = noTracer): PoolMeter {
  const passSeconds = metrics.histogram(
    'inference_pass_seconds',
    'Length of one inference pass',
    ['model'],
    PASS_SECONDS_BUCKETS,
  );
  const waited = queueSeconds(metrics);
  const open = metrics.level('inference_open_jobs', 'Requests to embedded models that wait or run', [
    'priority',
  ]);
  const record = (name: string, { model, priority, place }: MeteredJob, fromMs: number, toMs: number) => {
    if (place !== undefined) {
      tracer.record(name, { parent: place, attributes: { model, priority } }, fromMs, toMs);
    }
  };
  return {
    here: () => tracer.here(),
    jobOpened: ({ priority }) => open.add({ priority }, 1),
    jobBegun(job, nowMs) {
      const { model, priority, arrivedMs } = job;
      waited(model, priority, nowMs - arrivedMs);
      record('queue', job, arrivedMs, nowMs);
    },
    passed(job, fromMs, nowMs) {
      passSeconds.observe({ model: job.model }, (nowMs - fromMs) / 1000);
      record('pass', job, fromMs, nowMs);
    },
    jobEnded: ({ priority }) => open.add({ priority }, -1),
    processLost: lostProcesses(metrics, 'inference'),
  };
}
