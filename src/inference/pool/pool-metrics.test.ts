import { expect, it, onTestFinished } from 'vitest';
import { RecordingTracer } from '../../../test/doubles/recording-tracer.ts';
import { metricValue } from '../../../test/harness/metric-values.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { createMetrics } from '../../metrics/registry.ts';
import { type MeteredJob, poolMeter } from './pool-metrics.ts';

it('records queue time and steps of a job as metrics and as spans of its trace', async () => {
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const tracer = new RecordingTracer();
  const meter = poolMeter(metrics, tracer);
  const traceparent = tracer.startSpan('request').runInContext(() => meter.traceContext());
  const job: MeteredJob = { model: 'kokoro', priority: 'batch', arrivedMs: 100, traceparent };
  const open = () => metricValue(metrics, 'inference_open_jobs{priority="batch"}');

  meter.jobQueued(job);
  expect(await open()).toBe(1);
  meter.jobStarted(job, 350);
  meter.stepFinished(job, 350, 400);
  meter.stepFinished(job, 420, 520);
  meter.jobFinished(job);
  meter.processCrashed();

  expect(await open()).toBe(0);
  expect(await metricValue(metrics, 'inference_queue_seconds_sum{model="kokoro",priority="batch"}')).toBe(
    0.25,
  );
  expect(await metricValue(metrics, 'inference_step_seconds_sum{model="kokoro"}')).toBeCloseTo(0.15);
  expect(await metricValue(metrics, 'worker_restarts_total{process="inference"}')).toBe(1);
  expect(tracer.tree()).toEqual(['request', '  queue', '  step', '  step']);
});

it('records no spans for a job without a trace context', () => {
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const tracer = new RecordingTracer();
  const meter = poolMeter(metrics, tracer);
  const job: MeteredJob = { model: 'kokoro', priority: 'batch', arrivedMs: 0, traceparent: undefined };
  meter.jobStarted(job, 1);
  meter.stepFinished(job, 1, 2);
  expect(tracer.spans).toEqual([]);
});
