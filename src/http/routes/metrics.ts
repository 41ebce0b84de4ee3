import { Elysia } from 'elysia';
import type { Clock } from '../../contract/core/clock.ts';
import type { MetricsRegistry } from '../../metrics/registry.ts';
import { publicPage } from '../openapi/openapi.ts';
import { errorAnswer, nothingHere, toServiceError } from '../response/error-body.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';

/** How long a page serves everybody who asks: whoever floods it has it made so often and no more. */
const FRESH_MS = 100;

/** `/metrics` in Prometheus text, without a key. */
export function metricsRoutes(metrics: MetricsRegistry, clock: Clock) {
  let page: { readonly text: Promise<string>; readonly madeMs: number } | undefined;
  return new Elysia({ name: 'metrics', tags: ['service'] }).get(
    '/metrics',
    async ({ set }) => {
      Object.assign(set.headers, SECURITY_HEADERS, { 'content-type': metrics.contentType });
      const nowMs = clock.monotonicMs();
      if (page === undefined || nowMs - page.madeMs >= FRESH_MS) {
        page = { text: metrics.render(), madeMs: nowMs };
      }
      return page.text;
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

/** A port that has `/metrics` alone, for whatever host name it is asked; its errors are those of the service. */
export function metricsPort(metrics: MetricsRegistry, clock: Clock) {
  // As in src/app.ts, the framework would find no path behind a short host name.
  return new Elysia({ name: 'metrics-port', handler: { standardHostname: false } })
    .onError(({ code, error }) => errorAnswer(code === 'NOT_FOUND' ? nothingHere() : toServiceError(error)))
    .use(metricsRoutes(metrics, clock));
}
