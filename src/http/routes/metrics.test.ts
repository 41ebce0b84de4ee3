import { afterEach, expect, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { createMetrics, type MetricsRegistry } from '../../metrics/registry.ts';
import { metricsPort } from './metrics.ts';

const clock = new ManualClock();
let metrics: MetricsRegistry;
afterEach(() => metrics.close());

function ask(url: string, init?: RequestInit): Promise<Response> {
  metrics = createMetrics(clock);
  metrics.gauge('depth', 'Depth.', () => {
    if (url.includes('broken')) throw new Error('a private text');
    return 3;
  });
  return metricsPort(metrics, clock).handle(new Request(url, init));
}

test.each([
  'http://m/metrics',
  'http://m:9100/metrics',
  'http://[::1]/metrics',
  'http://service.test/metrics/',
])('of its own has the page at %s', async (url) => {
  const answer = await ask(url);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('\ndepth 3\n');
});

test.each([
  ['http://m/', {}, 404, null],
  ['http://m/v1/models', {}, 404, null],
  ['http://m/metrics', { method: 'POST', body: '{' }, 404, null],
  ['http://broken/metrics', {}, 500, 'server_error'],
])('of its own refuses %s %j as the service does', async (url, init, status, code) => {
  const answer = await ask(url, init);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  const { error } = (await answer.json()) as { error: Record<string, unknown> };
  expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  expect(error).toMatchObject({ param: null, code, message: expect.not.stringContaining('private') });
});
