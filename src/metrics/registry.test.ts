import { afterEach, describe, expect, test } from 'vitest';
import { mounted } from '../../test/harness/mounted.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { metricsRoutes } from '../http/routes/metrics.ts';
import { createMetrics, type MetricsRegistry } from './registry.ts';

const opened: MetricsRegistry[] = [];
function open(clock = new ManualClock()): MetricsRegistry {
  const metrics = createMetrics(clock);
  opened.push(metrics);
  return metrics;
}
afterEach(() => {
  for (const metrics of opened.splice(0)) metrics.close();
});

describe('/metrics', () => {
  test('is rendered once for concurrent scrapes, and again after 100 ms', async () => {
    const clock = new ManualClock();
    const metrics = open(clock);
    let looks = 0;
    metrics.gauge('looks', 'Looks.', () => {
      looks += 1;
      return looks;
    });
    const routes = mounted(metricsRoutes(metrics, clock));
    const page = async () => (await routes.handle(new Request('http://service.test/metrics'))).text();
    const pages = await Promise.all(Array.from({ length: 1000 }, page));
    expect(new Set(pages).size).toBe(1);
    clock.advance(99);
    expect(await page()).toContain('\nlooks 1\n');
    clock.advance(1);
    expect(await page()).toContain('\nlooks 2\n');
  });
});

describe('metrics', () => {
  test('counters, histograms and gauges are rendered in the Prometheus format', async () => {
    const metrics = open();
    const passes = metrics.counter('passes_total', 'Passes.', ['model']);
    passes.add({ model: 'a' });
    passes.add({ model: 'a' }, 2.5);
    metrics.histogram('pass_seconds', 'Length.', [], [0.1, 1]).observe({}, 0.5);
    let depth = 3;
    metrics.gauge('queue_depth', 'Waiting.', () => depth);
    const text = await metrics.render();
    expect(text).toContain(
      '# HELP passes_total Passes.\n# TYPE passes_total counter\npasses_total{model="a"} 3.5',
    );
    expect(text).toContain('pass_seconds_bucket{le="0.1"} 0');
    expect(text).toContain('pass_seconds_bucket{le="1"} 1');
    expect(text).toContain('pass_seconds_sum 0.5');
    expect(text).toContain('queue_depth 3');
    depth = 4;
    expect(await metrics.render()).toContain('queue_depth 4');
  });

  test('a name that is registered again keeps its values', async () => {
    const metrics = open();
    metrics.counter('x_total', 'x', ['model']).add({ model: 'a' });
    metrics.counter('x_total', 'x', ['model']).add({ model: 'a' });
    metrics.histogram('x_seconds', 'x', [], [1]).observe({}, 0.5);
    metrics.histogram('x_seconds', 'x', [], [1]).observe({}, 0.5);
    metrics.upDownCounter('x_open', 'x', ['kind']).add({ kind: 'a' }, 3);
    metrics.upDownCounter('x_open', 'x', ['kind']).add({ kind: 'a' }, -1);
    metrics.gauge('x_depth', 'x', () => 1);
    metrics.gauge('x_depth', 'x', () => 2);
    const text = await metrics.render();
    expect(text).toContain('x_total{model="a"} 2');
    expect(text).toContain('x_seconds_count 2');
    expect(text).toContain('x_open{kind="a"} 2');
    expect(text).toContain('x_depth 2');
  });

  test('a name has one type and one set of labels, and registries do not share names', () => {
    const metrics = open();
    metrics.counter('x_total', 'x', []);
    expect(() => metrics.counter('x_total', 'x', ['model'])).toThrow(
      'x_total is registered as counter(), not counter(model)',
    );
    expect(() => metrics.gauge('x_total', 'x', () => 1)).toThrow(
      'x_total is registered as counter(), not gauge()',
    );
    open().counter('x_total', 'x', ['model']);
  });

  test('an undeclared label is rejected', () => {
    const counter = open().counter('x_total', 'x', ['model']);
    expect(() => counter.add({ voice: 'a' })).toThrow();
  });

  test('memory, CPU time and start time of the process are finite numbers', async () => {
    const text = await open().render();
    for (const name of [
      'process_resident_memory_bytes',
      'process_heap_used_bytes',
      'process_cpu_seconds_total',
    ]) {
      const value = Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
      expect(value, name).toBeGreaterThan(0);
    }
    expect(text).toContain('process_start_time_seconds 1767323045');
  });

  test('a block of the main thread is reported once', async () => {
    const clock = new ManualClock();
    const metrics = open(clock);
    clock.advance(520);
    const pause = async () => Number(/^event_loop_pause_seconds (.+)$/m.exec(await metrics.render())?.[1]);
    await expect.poll(pause).toBeCloseTo(0.5);
    expect(await pause()).toBeLessThan(0.1);
    expect(await metrics.render()).toMatch(/^event_loop_delay_seconds_bucket\{le="0\.5"\} [1-9]/m);
  });
});
