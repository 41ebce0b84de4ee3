import { afterEach, expect, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { createMetrics, type MetricsRegistry } from '../../metrics/registry.ts';
import { metricsPort } from './metrics.ts';

const clock = new ManualClock();
let metrics: MetricsRegistry;
afterEach(() => metrics.close());

function send(url: string, init?: RequestInit): Promise<Response> {
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
])('a separate port serves the page at %s', async (url) => {
  const response = await send(url);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('\ndepth 3\n');
});

test.each([
  ['http://m/', {}, 404, null],
  ['http://m/v1/models', {}, 404, null],
  ['http://m/metrics', { method: 'POST', body: '{' }, 404, null],
  ['http://broken/metrics', {}, 500, 'server_error'],
])('a separate port returns the error body for %s %j', async (url, init, status, code) => {
  const response = await send(url, init);
  expect(response.status).toBe(status);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  expect(error).toMatchObject({ param: null, code, message: expect.not.stringContaining('private') });
});
