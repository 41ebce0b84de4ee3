import { expect, it, onTestFinished } from 'vitest';
import { RecordingTracer } from '../../../test/doubles/recording-tracer.ts';
import { metricValue } from '../../../test/harness/metric-values.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { createMetrics } from '../../metrics/registry.ts';
import { type MeteredJob, poolMeter } from './pool-metrics.ts';

it('the wait and the passes of a job are counted, and are spans where it was asked for', async () => {
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const tracer = new RecordingTracer();
  const meter = poolMeter(metrics, tracer);
  const place = tracer.begin('request').inside(() => meter.here());
  const job: MeteredJob = { model: 'kokoro', priority: 'batch', arrivedMs: 100, place };
  const open = () => metricValue(metrics, 'inference_open_jobs{priority="batch"}');

  meter.jobOpened(job);
  expect(await open()).toBe(1);
  meter.jobBegun(job, 350);
  meter.passed(job, 350, 400);
  meter.passed(job, 420, 520);
  meter.jobEnded(job);
  meter.processLost();

  expect(await open()).toBe(0);
  expect(await metricValue(metrics, 'inference_queue_seconds_sum{model="kokoro",priority="batch"}')).toBe(
    0.25,
  );
  expect(await metricValue(metrics, 'inference_pass_seconds_sum{model="kokoro"}')).toBeCloseTo(0.15);
  expect(await metricValue(metrics, 'worker_restarts_total{process="inference"}')).toBe(1);
  expect(tracer.tree()).toEqual(['request', '  queue', '  pass', '  pass']);
});

it('a job of no trace is counted and makes no spans', () => {
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const tracer = new RecordingTracer();
  const meter = poolMeter(metrics, tracer);
  const job: MeteredJob = { model: 'kokoro', priority: 'batch', arrivedMs: 0, place: undefined };
  meter.jobBegun(job, 1);
  meter.passed(job, 1, 2);
  expect(tracer.spans).toEqual([]);
});
