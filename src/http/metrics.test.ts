import { afterEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMetrics, type MetricsRegistry } from './metrics.ts';

const opened: MetricsRegistry[] = [];
function open(clock = new ManualClock()): MetricsRegistry {
  const metrics = createMetrics(clock);
  opened.push(metrics);
  return metrics;
}
afterEach(() => {
  for (const metrics of opened.splice(0)) metrics.close();
});

describe('metrics', () => {
  test('counters, histograms and gauges are shown as Prometheus reads them', async () => {
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

  test('a name can be taken once, and registries do not share names', () => {
    const metrics = open();
    metrics.counter('x_total', 'x', []);
    expect(() => metrics.counter('x_total', 'x', [])).toThrow();
    open().counter('x_total', 'x', []);
  });

  test('a label that was not declared is refused', () => {
    const counter = open().counter('x_total', 'x', ['model']);
    expect(() => counter.add({ voice: 'a' })).toThrow();
  });

  test('the process shows memory, CPU time and its start, each a finite number', async () => {
    const text = await open().render();
    for (const name of ['process_resident_memory_bytes', 'process_heap_used_bytes', 'process_cpu_seconds']) {
      const value = Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
      expect(value, name).toBeGreaterThan(0);
    }
    expect(text).toContain('process_start_time_seconds 1767323045');
  });

  test('a pause of the serving thread is seen once', async () => {
    const clock = new ManualClock();
    const metrics = open(clock);
    clock.advance(520);
    const pause = async () => Number(/^event_loop_pause_seconds (.+)$/m.exec(await metrics.render())?.[1]);
    await expect.poll(pause).toBeCloseTo(0.5);
    expect(await pause()).toBeLessThan(0.1);
  });
});
