import { Elysia } from 'elysia';
import type { MetricsRegistry } from './metrics.ts';
import { publicPage } from './openapi.ts';

/** `/metrics` in Prometheus text, without a key. */
export function metricsRoutes(metrics: MetricsRegistry) {
  return new Elysia({ name: 'metrics', tags: ['service'] }).get(
    '/metrics',
    async ({ set }) => {
      set.headers['content-type'] = metrics.contentType;
      return metrics.render();
    },
    { detail: publicPage('Numbers for Prometheus', 'text/plain') },
  );
}
