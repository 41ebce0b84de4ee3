import { Elysia } from 'elysia';
import type { MetricsRegistry } from './metrics.ts';
import { publicPage } from './openapi.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** `/metrics` in Prometheus text, without a key. */
export function metricsRoutes(metrics: MetricsRegistry) {
  return new Elysia({ name: 'metrics', tags: ['service'] }).get(
    '/metrics',
    async ({ set }) => {
      Object.assign(set.headers, SECURITY_HEADERS, { 'content-type': metrics.contentType });
      return metrics.render();
    },
    {
      detail: publicPage(
        'Numbers for Prometheus',
        'text/plain',
        'The setting METRICS_PORT moves them to a port of their own.',
      ),
    },
  );
}
