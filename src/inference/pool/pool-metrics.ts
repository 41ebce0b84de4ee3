/** Metrics and trace spans of the inference pools. */

import type { Metrics } from '../../contract/core/metrics.ts';
import type { Traceparent, Tracer } from '../../contract/core/tracer.ts';
import type { Priority } from '../../contract/engines/engine.ts';
import { noopTracer } from '../../kit/logging/spans.ts';
import { restartCounter } from '../../kit/process/restart-counter.ts';
import { queueTimeObserver } from '../workers/process-metrics.ts';

const STEP_SECONDS_BUCKETS = [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];

/** A request in a pool. Times are monotonic, in ms. */
export interface MeteredJob {
  readonly model: string;
  readonly priority: Priority;
  readonly arrivedMs: number;
  /** Trace context of the caller. */
  readonly traceparent: Traceparent | undefined;
}

/** Records metrics and spans of all pools of the service. */
export interface PoolMeter {
  /** Trace context of the current request. */
  traceContext(): Traceparent | undefined;
  jobQueued(job: MeteredJob): void;
  /** The first step of a job starts. */
  jobStarted(job: MeteredJob, nowMs: number): void;
  /** A step of a job is finished. */
  stepFinished(job: MeteredJob, fromMs: number, nowMs: number): void;
  jobFinished(job: MeteredJob): void;
  /** A process exited unexpectedly. */
  processCrashed(): void;
}

export function poolMeter(metrics: Metrics, tracer: Tracer = noopTracer): PoolMeter {
  const stepSeconds = metrics.histogram(
    'inference_step_seconds',
    'Duration of one inference step.',
    ['model'],
    STEP_SECONDS_BUCKETS,
  );
  const waited = queueTimeObserver(metrics);
  const open = metrics.upDownCounter(
    'inference_open_jobs',
    'Queued and running requests to embedded models.',
    ['priority'],
  );
  const record = (
    name: string,
    { model, priority, traceparent }: MeteredJob,
    fromMs: number,
    toMs: number,
  ) => {
    if (traceparent !== undefined) {
      tracer.recordSpan(name, { parent: traceparent, attributes: { model, priority } }, fromMs, toMs);
    }
  };
  return {
    traceContext: () => tracer.currentTraceparent(),
    jobQueued: ({ priority }) => open.add({ priority }, 1),
    jobStarted(job, nowMs) {
      const { model, priority, arrivedMs } = job;
      waited(model, priority, nowMs - arrivedMs);
      record('queue', job, arrivedMs, nowMs);
    },
    stepFinished(job, fromMs, nowMs) {
      stepSeconds.observe({ model: job.model }, (nowMs - fromMs) / 1000);
      record('step', job, fromMs, nowMs);
    },
    jobFinished: ({ priority }) => open.add({ priority }, -1),
    processCrashed: restartCounter(metrics, 'inference'),
  };
}
