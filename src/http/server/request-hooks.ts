import { Elysia } from 'elysia';
import type { RequestLimits } from '../../contract/accounts/limits.ts';
import type { Clock } from '../../contract/core/clock.ts';
import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { Metrics } from '../../contract/core/metrics.ts';
import { isRefusal } from '../../kit/logging/note-failure.ts';
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
  /** Known once all routes are mounted. */
  readonly routes: () => RouteTable;
  /** Why what belongs at a path is not mounted; undefined where nothing does. */
  readonly refusal: (path: string) => ServiceError | undefined;
}

/** Served in every phase, so that monitoring sees the shutdown. */
const WATCH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** For the log and the metrics alone, since nobody reads it; nginx uses the same number. */
const CLIENT_LEFT = 499;
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * What happens to every request, in this order: it gets its id, is refused while the process stops, shows
 * its key, announces a body within the limit; at its end it is counted and logged. Failures anywhere
 * become the one error body. All hooks are global, so no route can be mounted past them.
 */
export function requestHooks(parts: HookParts) {
  const { clock, log, metrics } = parts;
  const count = metrics.counter('http_requests_total', 'Answered requests.', ['method', 'route', 'status']);
  const duration = metrics.histogram(
    'http_request_seconds',
    'Time from the arrival of a request to the head of its answer.',
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
      // The client's next request needs a new connection, which a load balancer routes to another node.
      if (phase !== 'serving' && !asksForSocket(request.headers)) set.headers.connection = 'close';
      if (phase === 'stopping' && !WATCH_PATHS.has(path)) throw shuttingDown();
      // The framework would call the handler with null in the place of what it cannot read.
      if (!isReadable(path)) throw invalidRequest('The path must be percent-encoded UTF-8, without NUL.');
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
      // Whatever failed, it failed because nobody is there any more: a line in the log, not an alarm.
      if (request.signal.aborted) {
        set.status = CLIENT_LEFT;
        return '';
      }
      // A path with another method was rejected before.
      const failure = code === 'NOT_FOUND' ? nothingHere() : toServiceError(error);
      // The request's own log line has the status of a refusal.
      if (!isRefusal(failure)) {
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
      // Never the path itself: it may hold ids, and labels must stay few.
      const pattern = route || 'other';
      const elapsedMs = clock.monotonicMs() - visit.startedMs;
      count.add({ method, route: pattern, status: String(status) });
      duration.observe({ method, route: pattern }, elapsedMs / 1000);
      // Watchers ask several times a second: counted, but most of the log they shall not be.
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

  /** Most bytes of a route that reads its body by itself, undefined for any other. */
  function uploadBytes(request: Request): number | undefined {
    return parts.routes().uploadBytesOf(request.method, pathOf(request));
  }

  /**
   * Without this, a method that the most specific pattern lacks would reach the route of a more general pattern: GET
   * /v1/videos/extensions would look for a video named "extensions".
   * @throws ServiceError 405 with `Allow`.
   */
  function refuseMethod(request: Request, path: string, headers: Record<string, string | number>): void {
    const methods = parts.routes().methodsOf(path);
    if (methods.length === 0 || methods.includes(request.method)) return;
    headers.allow = methods.join(', ');
    throw new ServiceError('method_not_allowed', `This address allows ${methods.join(', ')} only.`);
  }

  async function checkKey(request: Request, path: string): Promise<void> {
    try {
      const user = await parts.authenticate(request);
      identify(request, user);
      await parts.requestLimits.count(user);
    } catch (error) {
      // A path that does not exist is told to anybody, so that a typing error does not look like a bad key.
      const isKnown = parts.routes().methodsOf(path).length > 0 || parts.refusal(path) !== undefined;
      throw isKnown ? error : nothingHere();
    }
  }
}

/** Whether a path is percent-encoded UTF-8, and without the character that no database keeps in a text. */
function isReadable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}

/** Path without the slash at the end that the router ignores too. */
function pathOf(request: Request): string {
  const { pathname } = addressOf(request);
  return pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
}
