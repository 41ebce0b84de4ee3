import { Elysia } from 'elysia';
import type { RequestLimits } from '../../contract/accounts/limits.ts';
import type { Clock } from '../../contract/core/clock.ts';
import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { Metrics } from '../../contract/core/metrics.ts';
import { isExpectedError } from '../../kit/logging/note-failure.ts';
import { readBody, refuseDeclaredLength } from '../request/body.ts';
import { errorBody, errorHeaders, nothingHere, toServiceError } from '../response/error-body.ts';
import type { ServingPhase } from '../routes/serving-phase.ts';
import { beginVisit, identify, visitOf } from '../security/caller.ts';
import { isPreflight, type OriginRules, preflightAnswer } from '../security/cors.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';
import { addressOf } from '../transport/address.ts';
import { asksForSocket } from '../transport/socket.ts';
import { type Authenticator, isPublic } from './auth.ts';
import type { RouteTable } from './route-table.ts';

export interface HookParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly authenticate: Authenticator;
  readonly origins: OriginRules;
  readonly requestLimits: RequestLimits;
  readonly requestBytes: number;
  readonly phase: () => ServingPhase;
  /** Available once all routes are mounted. */
  readonly routes: () => RouteTable;
  /** The error for a path whose plugin is not running; undefined for paths that belong to no plugin. */
  readonly refusal: (path: string) => ServiceError | undefined;
}

/** Served in every phase, so that monitoring works during shutdown. */
const WATCH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Status in logs and metrics when the client disconnects before the response, as in nginx. It is never sent. */
const CLIENT_LEFT = 499;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Hooks of every request, in this order: assign the request id, reject requests during shutdown, authenticate, check the
 * declared body length; after the response, count and log it. Every error is converted to the error body. The hooks are
 * global, so no route can bypass them.
 */
export function requestHooks(parts: HookParts) {
  const { clock, log, metrics } = parts;
  const count = metrics.counter('http_requests_total', 'Completed requests.', ['method', 'route', 'status']);
  const duration = metrics.histogram(
    'http_request_seconds',
    'Time from the arrival of a request to the response headers.',
    ['method', 'route'],
    SECONDS,
  );

  return new Elysia({ name: 'request-hooks' })
    .onRequest(async ({ request, set }) => {
      const requestId = newId('request');
      beginVisit(request, requestId, clock.monotonicMs());
      const headers = { 'x-request-id': requestId, ...parts.origins.headersFor(request) };
      Object.assign(set.headers, SECURITY_HEADERS, headers);
      if (isPreflight(request)) return preflightAnswer();
      parts.origins.refuseSocket(request);

      const path = pathOf(request);
      const phase = parts.phase();
      // Makes the client open a new connection, which the load balancer routes to another node.
      if (phase !== 'serving' && !asksForSocket(request.headers)) set.headers.connection = 'close';
      if (phase === 'stopping' && !WATCH_PATHS.has(path)) throw shuttingDown();
      // For parameters that it cannot decode, the framework would call the handler with null.
      if (!isReadable(path)) throw invalidRequest('The path must be percent-encoded UTF-8 without NUL.');
      if (!isPublic(path)) await checkKey(request, path);
      const refusal = parts.refusal(path);
      if (refusal !== undefined) throw refusal;
      refuseDeclaredLength(request.headers, uploadBytes(request) ?? parts.requestBytes);
      refuseMethod(request, path, set.headers);
      return undefined;
    })
    .onParse({ as: 'global' }, ({ request }) =>
      uploadBytes(request) === undefined ? readBody(request, parts.requestBytes) : null,
    )
    .onError({ as: 'global' }, ({ request, error, code, set }) => {
      // The client disconnected, so an error is expected: it is logged with the request, not as a failure.
      if (request.signal.aborted) {
        set.status = CLIENT_LEFT;
        return '';
      }
      // A known path with another method was already rejected with 405.
      const failure = code === 'NOT_FOUND' ? nothingHere() : toServiceError(error);
      // Client errors only appear as the status of the request's log line.
      if (!isExpectedError(failure)) {
        log.error('request failed', failure.cause ?? failure, { request_id: visitOf(request)?.requestId });
      }
      set.status = failure.status;
      Object.assign(set.headers, errorHeaders(failure));
      return errorBody(failure);
    })
    .onAfterResponse({ as: 'global' }, ({ request, route, set, responseValue }) => {
      const visit = visitOf(request);
      if (visit === undefined) return;
      const status = responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200);
      const method = METHODS.has(request.method) ? request.method : 'other';
      // Never the path itself: it may contain ids, and the cardinality of labels must stay low.
      const pattern = route || 'other';
      const elapsedMs = clock.monotonicMs() - visit.startedMs;
      count.add({ method, route: pattern, status: String(status) });
      duration.observe({ method, route: pattern }, elapsedMs / 1000);
      // Monitoring polls several times a second: successful polls are counted, but not logged.
      if (status < 400 && WATCH_PATHS.has(route)) return;
      log.info('request', {
        method,
        route: pattern,
        status,
        ms: Math.round(elapsedMs * 10) / 10,
        request_id: visit.requestId,
        organization: visit.user?.organization,
      });
    });

  /** Max. body size of a route that reads its body itself; undefined for all others. */
  function uploadBytes(request: Request): number | undefined {
    return parts.routes().uploadBytesOf(request.method, pathOf(request));
  }

  /**
   * Without this check, a method that the most specific pattern does not have would fall through to a more general
   * pattern: GET /v1/videos/extensions would request the video with the id "extensions".
   * @throws ServiceError 405 with `Allow`.
   */
  function refuseMethod(request: Request, path: string, headers: Record<string, string | number>): void {
    const methods = parts.routes().methodsOf(path);
    if (methods.length === 0 || methods.includes(request.method)) return;
    headers.allow = methods.join(', ');
    throw new ServiceError('method_not_allowed', `Method not allowed; allowed: ${methods.join(', ')}.`);
  }

  async function checkKey(request: Request, path: string): Promise<void> {
    try {
      const user = await parts.authenticate(request);
      identify(request, user);
      await parts.requestLimits.count(user);
    } catch (error) {
      // An unknown path is reported before an invalid key, so that a misspelled URL does not look like an invalid key.
      const isKnown = parts.routes().methodsOf(path).length > 0 || parts.refusal(path) !== undefined;
      throw isKnown ? error : nothingHere();
    }
  }
}

/** Whether a path is percent-encoded UTF-8 without NUL, which databases cannot store in text. */
function isReadable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}

/** The path without its trailing slash, which the router also ignores. */
function pathOf(request: Request): string {
  const { pathname } = addressOf(request);
  return pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
}
