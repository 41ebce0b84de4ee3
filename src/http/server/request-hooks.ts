import { Elysia } from 'elysia';
import type { RequestLimits } from '../../contract/accounts/limits.ts';
import type { Clock } from '../../contract/core/clock.ts';
import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { Metrics } from '../../contract/core/metrics.ts';
import type { Route } from '../../contract/route.ts';
import type { ByteBudget } from '../../kit/limits/byte-budget.ts';
import { isExpectedError } from '../../kit/logging/log-failure.ts';
import { assertDeclaredLength, readBody } from '../request/body.ts';
import { ParseTurns } from '../request/parse-turns.ts';
import { errorBody, errorHeaders, routeNotFound, toServiceError } from '../response/error-body.ts';
import type { ServingPhase } from '../routes/serving-phase.ts';
import type { Authenticator } from '../security/auth.ts';
import { requestContextOf, setPrincipal, startRequestContext } from '../security/caller.ts';
import { isPreflight, type OriginRules, preflightResponse } from '../security/cors.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';
import { addressOf } from '../transport/address.ts';
import { asksForSocket } from '../transport/socket.ts';
import { methodsOf, type RouteTable } from './route-table.ts';

export interface RequestHookDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly authenticate: Authenticator;
  readonly origins: OriginRules;
  readonly requestLimits: RequestLimits;
  readonly requestBytes: number;
  readonly bodyBudget: ByteBudget;
  readonly phase: () => ServingPhase;
  readonly routes: RouteTable<Route>;
  /** The error for a path whose plugin is not running; undefined for paths that belong to no plugin. */
  readonly unavailableError: (path: string) => ServiceError | undefined;
}

/** Served in every phase, so that monitoring works during shutdown. */
const MONITORING_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Status in logs and metrics when the client disconnects before the response, as in nginx. It is never sent. */
const CLIENT_CLOSED_REQUEST = 499;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Hooks of every request, in this order: assign the request id, reject requests during shutdown, authenticate, check the
 * declared body length; after the response, count and log it. Every error is converted to the error body. The hooks are
 * global, so no route can bypass them.
 */
export function requestHooks(deps: RequestHookDeps) {
  const { clock, log, metrics } = deps;
  const parseTurns = new ParseTurns(clock);
  const count = metrics.counter('http_requests_total', 'Completed requests.', ['method', 'route', 'status']);
  const duration = metrics.histogram(
    'http_request_seconds',
    'Time from the arrival of a request to the response headers.',
    ['method', 'route'],
    SECONDS,
  );

  return new Elysia({ name: 'request-hooks' })
    .onRequest(async ({ request, set }) => {
      const requestId = newId('req_');
      startRequestContext(request, requestId, clock.monotonicMs());
      const headers = { 'x-request-id': requestId, ...deps.origins.headersFor(request) };
      Object.assign(set.headers, SECURITY_HEADERS, headers);
      if (isPreflight(request)) return preflightResponse(request);
      deps.origins.assertSocketOrigin(request);

      const path = pathOf(request);
      const phase = deps.phase();
      // Makes the client open a new connection, which the load balancer routes to another node.
      if (phase !== 'serving' && !asksForSocket(request.headers)) set.headers.connection = 'close';
      if (phase === 'stopping' && !MONITORING_PATHS.has(path)) throw shuttingDown();
      // For parameters that it cannot decode, the framework would call the handler with null.
      if (!isReadable(path)) throw invalidRequest('The path must be percent-encoded UTF-8 without NUL.');
      const found = deps.routes.at(path);
      if (!found.some(({ isPublic }) => isPublic)) await checkKey(request, path, found);
      const unavailableError = deps.unavailableError(path);
      if (unavailableError !== undefined) throw unavailableError;
      assertDeclaredLength(request.headers, uploadBytes(request, found) ?? deps.requestBytes);
      assertMethodAllowed(request, found, set.headers);
      return undefined;
    })
    .onParse({ as: 'global' }, ({ request }) => {
      if (uploadBytes(request) !== undefined) return null;
      const { keyId = '', organization = '' } = requestContextOf(request)?.principal ?? {};
      return readBody(request, deps.requestBytes, {
        share: deps.bodyBudget.openShare(keyId),
        inTurn: (parse) => parseTurns.run(organization, parse, request.signal),
      });
    })
    .onError({ as: 'global' }, ({ request, error, code, set }) => {
      // The client disconnected, so an error is expected: it is logged with the request, not as a failure.
      if (request.signal.aborted) {
        set.status = CLIENT_CLOSED_REQUEST;
        return '';
      }
      // A known path with another method was already rejected with 405.
      const failure = code === 'NOT_FOUND' ? notFound(pathOf(request)) : toServiceError(error);
      // Client errors only appear as the status of the request's log line.
      if (!isExpectedError(failure)) {
        log.error('request failed', failure.cause ?? failure, {
          request_id: requestContextOf(request)?.requestId,
        });
      }
      set.status = failure.status;
      Object.assign(set.headers, errorHeaders(failure));
      return errorBody(failure);
    })
    .onAfterResponse({ as: 'global' }, ({ request, route, set, responseValue }) => {
      const context = requestContextOf(request);
      if (context === undefined) return;
      const status = responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200);
      const method = METHODS.has(request.method) ? request.method : 'other';
      // Never the path itself: it may contain ids, and the cardinality of labels must stay low.
      const pattern = route || 'other';
      const elapsedMs = clock.monotonicMs() - context.startedMs;
      count.add({ method, route: pattern, status: String(status) });
      duration.observe({ method, route: pattern }, elapsedMs / 1000);
      // Monitoring polls several times a second: successful polls are counted, but not logged.
      if (status < 400 && MONITORING_PATHS.has(route)) return;
      log.info('request', {
        method,
        route: pattern,
        status,
        ms: Math.round(elapsedMs * 10) / 10,
        request_id: context.requestId,
        organization: context.principal?.organization,
      });
    });

  /** Maximum body size of a route that reads its body itself; undefined for all others. */
  function uploadBytes(request: Request, found = deps.routes.at(pathOf(request))): number | undefined {
    return found.find(({ method }) => method === request.method)?.uploadBytes;
  }

  /**
   * Without this check, a method that the most specific pattern does not have would fall through to a more general
   * pattern: GET /v1/videos/extensions would request the video with the id "extensions".
   * @throws ServiceError 405 with `Allow`.
   */
  function assertMethodAllowed(
    request: Request,
    found: readonly Route[],
    headers: Record<string, string | number>,
  ): void {
    const methods = methodsOf(found);
    if (methods.length === 0 || methods.includes(request.method)) return;
    headers.allow = methods.join(', ');
    throw new ServiceError('method_not_allowed', `Method not allowed; allowed: ${methods.join(', ')}.`);
  }

  function notFound(path: string): ServiceError {
    return routeNotFound(path, deps.routes.similarTo(path));
  }

  async function checkKey(request: Request, path: string, found: readonly Route[]): Promise<void> {
    try {
      const opensSocket =
        asksForSocket(request.headers) &&
        // Otherwise a browser would get "missing key" for a WebSocket of a disabled plugin.
        (found.some((route) => route.opensSocket) || deps.unavailableError(path) !== undefined);
      const principal = await deps.authenticate(request, opensSocket);
      setPrincipal(request, principal);
      await deps.requestLimits.countRequest(principal);
    } catch (error) {
      // An unknown path is reported before an invalid key, so that a misspelled URL does not look like an invalid key.
      const isKnown = found.length > 0 || deps.unavailableError(path) !== undefined;
      throw isKnown ? error : notFound(path);
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
