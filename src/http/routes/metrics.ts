import { Elysia } from 'elysia';
import type { Clock } from '../../contract/core/clock.ts';
import type { Route } from '../../contract/route.ts';
import type { MetricsRegistry } from '../../metrics/registry.ts';
import { mount } from '../mount.ts';
import { publicPage } from '../openapi/route-docs.ts';
import { routeNotFound, toErrorResponse, toServiceError } from '../response/error-body.ts';
import { route } from '../route.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';

/** How long a rendered page is cached, so that frequent scrapes cause at most ten renderings per second. */
const FRESH_MS = 100;

/** `GET /metrics` in the Prometheus text format, without an API key. */
export function metricsRoutes(metrics: MetricsRegistry, clock: Clock): readonly Route[] {
  let page: { readonly text: Promise<string>; readonly madeMs: number } | undefined;
  return [
    route({
      method: 'GET',
      path: '/metrics',
      ...publicPage(
        'Prometheus metrics',
        'text/plain',
        'With METRICS_PORT set, the metrics are served on that port instead.',
      ),
      handle({ set }) {
        Object.assign(set.headers, SECURITY_HEADERS, { 'content-type': metrics.contentType });
        const nowMs = clock.monotonicMs();
        if (page === undefined || nowMs - page.madeMs >= FRESH_MS) {
          page = { text: metrics.render(), madeMs: nowMs };
        }
        return page.text;
      },
    }),
  ];
}

/** App of the metrics port: serves only `/metrics`, for every host name. Errors have the same body as those of the API. */
export function metricsPort(metrics: MetricsRegistry, clock: Clock) {
  // As in server/app.ts: the framework would not find the path after a short host name.
  const app = new Elysia({ name: 'metrics-port', handler: { standardHostname: false } }).onError(
    ({ code, error }) => toErrorResponse(code === 'NOT_FOUND' ? routeNotFound() : toServiceError(error)),
  );
  return mount(app, metricsRoutes(metrics, clock));
}
