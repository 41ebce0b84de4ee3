import { describe, expect, it, onTestFinished } from 'vitest';
import { attributeOf, startOtlpReceiver, treeOf } from '../../test/doubles/otlp-receiver.ts';
import { metricValue } from '../../test/harness/metric-values.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { ServiceError } from '../contract/core/error.ts';
import { Secret } from '../contract/core/secret.ts';
import { noopTracer, withSpan } from '../kit/logging/spans.ts';
import { createMetrics } from '../metrics/registry.ts';
import { openTracing } from './open-tracing.ts';

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';

async function setUp({ ratio = 1 } = {}) {
  const receiver = startOtlpReceiver();
  onTestFinished(() => receiver.close());
  const clock = new ManualClock();
  const log = new RecordingLogger();
  const metrics = createMetrics(clock);
  onTestFinished(() => metrics.close());
  const settings = {
    url: `${receiver.endpoint}/v1/traces`,
    headers: new Map([['api-key', new Secret('hunter2')]]),
    serviceName: 'voice',
    ratio,
  };
  const tracing = await openTracing(settings, { version: '1.2.3', clock, log, metrics });
  onTestFinished(() => tracing.close());
  return { receiver, clock, log, metrics, ...tracing };
}

it('tracing is disabled without settings', async () => {
  const metrics = createMetrics(new ManualClock());
  const parts = { version: '1', clock: new ManualClock(), log: new RecordingLogger(), metrics };
  const { tracer, close } = await openTracing(undefined, parts);
  expect(tracer).toBe(noopTracer);
  await close();
  expect(await metrics.render()).not.toContain('trace_spans_total');
  metrics.close();
});

describe('spans', () => {
  it('are exported as a tree with their attributes', async () => {
    const { receiver, tracer, clock, metrics, close } = await setUp();
    await withSpan(tracer, 'whole', { attributes: { model: 'a' } }, async (span) => {
      clock.advance(10);
      const place = tracer.currentTraceparent();
      expect(place).toBe(span.traceparent);
      await withSpan(tracer, 'part', { kind: 'client' }, async () => {
        await Promise.resolve();
        clock.advance(25);
      });
      const fromMs = clock.monotonicMs() - 5;
      tracer.recordSpan('past', { parent: place, attributes: { passes: 2 } }, fromMs, fromMs + 3);
      span.rename('the whole');
      span.set({ rows: 3 });
    });
    expect(tracer.currentTraceparent()).toBeUndefined();
    await close();
    const [part, past, whole] = receiver.spans;
    expect([part?.name, past?.name, whole?.name]).toEqual(['part', 'past', 'the whole']);
    expect(treeOf(receiver.spans, whole?.traceId ?? '')).toEqual(['the whole', '  part', '  past']);
    expect(whole && [attributeOf(whole, 'model'), attributeOf(whole, 'rows')]).toEqual(['a', 3]);
    const lengthMs = (span = whole) =>
      Number(BigInt(span?.endTimeUnixNano ?? 0) - BigInt(span?.startTimeUnixNano ?? 0)) / 1e6;
    expect(lengthMs()).toBeCloseTo(35, 2);
    expect(lengthMs(past)).toBeCloseTo(3, 2);
    expect(Number(whole?.startTimeUnixNano) / 1e6).toBeCloseTo(new ManualClock().now(), 0);
    expect(receiver.headers[0]).toMatchObject({ 'api-key': 'hunter2' });
    expect(receiver.bodies[0]).toContain('"voice"');
    expect(receiver.bodies[0]).not.toContain('hunter2');
    expect(await metricValue(metrics, 'trace_spans_total{result="sent"}')).toBe(3);
  });

  it('continue the trace of a caller, or start a new one', async () => {
    const { receiver, tracer, close } = await setUp();
    tracer.startSpan('asked', { kind: 'server', parent: `${CALLER}-01` }).end();
    tracer.startSpan('unasked', { kind: 'server', parent: 'none' }).end();
    tracer.startSpan('nonsense', { kind: 'server', parent: 'a b c' }).end();
    await close();
    const [asked, unasked, nonsense] = receiver.spans;
    expect(asked).toMatchObject({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00f067aa0ba902b7',
    });
    expect(new Set([asked?.traceId, unasked?.traceId, nonsense?.traceId]).size).toBe(3);
    expect(unasked?.parentSpanId ?? '').toBe('');
  });

  it('with their own trace are linked to their cause', async () => {
    const { receiver, tracer, close } = await setUp();
    await withSpan(tracer, 'request', {}, async (request) => {
      await withSpan(tracer, 'job', { parent: 'none', cause: request.traceparent }, async () => undefined);
    });
    await close();
    const [job, request] = receiver.spans;
    expect(job?.traceId).not.toBe(request?.traceId);
    expect(job?.links).toMatchObject([{ traceId: request?.traceId, spanId: request?.spanId }]);
  });

  it('that fail have only an error type', async () => {
    const { receiver, tracer, close } = await setUp();
    const failures = [
      new ServiceError('upstream', 'a private word', { code: 'upstream_error' }),
      new TypeError('a private word'),
      '503',
      { reason: 'a private word' },
    ];
    for (const failure of failures) tracer.startSpan('work').end(failure);
    await close();
    expect(receiver.spans.map((span) => attributeOf(span, 'error.type'))).toEqual([
      'upstream_error',
      'TypeError',
      '503',
      'other',
    ]);
    expect(receiver.spans.every(({ status }) => status?.code === 2)).toBe(true);
    expect(receiver.bodies.join()).not.toContain('private');
  });
});

describe('sampling', () => {
  it('applies to whole traces, and sets the sampled flag', async () => {
    const { receiver, tracer, close } = await setUp({ ratio: 0 });
    await withSpan(tracer, 'request', { kind: 'server', parent: 'none' }, async (span) => {
      expect(span.traceparent).toMatch(/-00$/);
      tracer.startSpan('part').end();
    });
    // A caller cannot increase the sampling ratio.
    tracer.startSpan('asked', { kind: 'server', parent: `${CALLER}-01` }).end();
    await close();
    expect(receiver.spans).toEqual([]);
  });

  it('can be reduced by a caller', async () => {
    const { receiver, tracer, close } = await setUp();
    tracer.startSpan('asked', { kind: 'server', parent: `${CALLER}-00` }).end();
    await close();
    expect(receiver.spans).toEqual([]);
  });
});

describe('a collector', () => {
  it('that fails is logged once, and its spans are dropped', async () => {
    const { receiver, tracer, log, metrics, close } = await setUp();
    receiver.status = 400;
    const failed = () => metricValue(metrics, 'trace_spans_total{result="failed"}');
    for (const count of [1, 2]) {
      tracer.startSpan('work').end();
      await expect.poll(failed).toBe(count);
    }
    receiver.status = 200;
    tracer.startSpan('work').end();
    await close();
    expect(receiver.spans).toHaveLength(1);
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'trace export failed, dropping spans' },
      { level: 'info', message: 'trace exporter recovered' },
    ]);
  });

  it('receives at most the queued spans', async () => {
    const { receiver, tracer, close } = await setUp();
    for (let n = 0; n < 20_000; n += 1) tracer.startSpan('work').end();
    await close();
    expect(receiver.spans.length).toBeGreaterThanOrEqual(4096);
    expect(receiver.spans.length).toBeLessThanOrEqual(4096 + 512);
  });

  it('that is unreachable does not prevent shutdown', async () => {
    const { receiver, tracer, close } = await setUp();
    await receiver.close();
    for (let n = 0; n < 3000; n += 1) tracer.startSpan('work').end();
    await close();
  });
});
