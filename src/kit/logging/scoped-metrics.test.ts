import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { createMetrics } from '../../metrics/registry.ts';
import { scopedMetrics } from './scoped-metrics.ts';

test('close removes the gauges of the scope, but neither counters nor gauges of other scopes', async () => {
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const [first, second] = [scopedMetrics(metrics), scopedMetrics(metrics)];
  first.gauge('a_open', 'a', () => 1);
  first.gauge('b_open', 'b', () => 1);
  first.counter('c_total', 'c', []).add({}, 3);
  // The component was restarted before the earlier instance closed.
  second.gauge('b_open', 'b', () => 2);
  first.close();
  first.close();
  const text = await metrics.render();
  expect(text).not.toMatch(/^a_open /m);
  expect(text).toContain('\nb_open 2\n');
  expect(text).toContain('\nc_total 3\n');
  second.gauge('a_open', 'a', () => 5);
  expect(await metrics.render()).toContain('\na_open 5\n');
});
