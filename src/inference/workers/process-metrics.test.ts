import { expect, it, onTestFinished } from 'vitest';
import { RecordingTracer } from '../../../test/doubles/recording-tracer.ts';
import { metricValue } from '../../../test/harness/metric-values.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { llamaWorkerMeter } from '../../engines/llama/host/worker-metrics.ts';
import { upstreamMeters } from '../../engines/upstream/client/metrics.ts';
import { restartCounter } from '../../kit/process/restart-counter.ts';
import { createMetrics } from '../../metrics/registry.ts';

function registry() {
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  return metrics;
}

it('counts restarts of worker processes by role', async () => {
  const metrics = registry();
  const countRestart = restartCounter(metrics, 'inference');
  expect(await metricValue(metrics, 'worker_restarts_total{process="inference"}')).toBe(0);
  countRestart();
  countRestart();
  restartCounter(metrics, 'voice_activity')();
  expect(await metricValue(metrics, 'worker_restarts_total{process="inference"}')).toBe(2);
  expect(await metricValue(metrics, 'worker_restarts_total{process="voice_activity"}')).toBe(1);
});

it('records the queue time of a language model request as a metric and as a span of its trace', async () => {
  const metrics = registry();
  const tracer = new RecordingTracer();
  const meter = llamaWorkerMeter('chat', metrics, tracer);
  tracer.startSpan('request').runInContext(() => meter.requestStarted('batch', 100, 350));
  meter.processCrashed();
  expect(await metricValue(metrics, 'inference_queue_seconds_sum{model="chat",priority="batch"}')).toBe(0.25);
  expect(await metricValue(metrics, 'worker_restarts_total{process="language_model"}')).toBe(1);
  expect(tracer.tree()).toEqual(['request', '  queue']);
});

it('reports the circuit breaker of an upstream as open until it closes or its meter is closed', async () => {
  const metrics = registry();
  const meterOf = upstreamMeters(metrics);
  const isOpen = () => metricValue(metrics, 'upstream_circuit_open{model="far"}');
  const meter = meterOf('far');
  expect(await isOpen()).toBe(0);
  for (const state of ['open', 'half-open', 'open'] as const) {
    meter.circuit(state);
    expect(await isOpen()).toBe(1);
  }
  meter.circuit('closed');
  meter.circuit('closed');
  expect(await isOpen()).toBe(0);
  meter.circuit('open');
  meter.close();
  expect(await isOpen()).toBe(0);
  expect(await metricValue(metrics, 'upstream_circuit_changes_total{model="far",state="open"}')).toBe(3);
});

it('records an upstream request as a span and sends its trace context to the server', async () => {
  const tracer = new RecordingTracer();
  const meter = upstreamMeters(registry(), tracer)('far');
  const sent: Readonly<Record<string, string>>[] = [];
  const response = await meter.request('POST', async (headers) => {
    sent.push(headers);
    return new Response(null, { status: 429 });
  });
  expect(response.status).toBe(429);
  expect(sent).toEqual([{ traceparent: tracer.spans[0]?.place }]);
  expect(tracer.spans).toMatchObject([
    {
      name: 'POST',
      kind: 'client',
      ended: true,
      attributes: { model: 'far', 'http.response.status_code': 429 },
    },
  ]);
});
