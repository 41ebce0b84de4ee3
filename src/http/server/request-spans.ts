import { Elysia } from 'elysia';
import type { Span, Tracer } from '../../contract/core/tracer.ts';
import { noopTracer } from '../../kit/logging/spans.ts';
import { bodyOutcomeOf } from '../response/streamed-body.ts';
import { requestContextOf } from '../security/caller.ts';

/** Lowest status of a server error. */
const MIN_SERVER_ERROR_STATUS = 500;

/**
 * Creates a server span for each request. It continues the trace of the caller's `traceparent` header, if there is one, and
 * ends with the response. The span of a WebSocket ends with the handshake; later work has its own traces.
 */
export function requestSpans(tracer: Tracer) {
  const hooks = new Elysia({ name: 'request-spans' });
  if (tracer === noopTracer) return hooks;
  const spans = new WeakMap<Request, Span>();
  return hooks
    .wrap((handle, request) => {
      const span = tracer.startSpan(request.method, {
        kind: 'server',
        parent: request.headers.get('traceparent') ?? 'none',
        attributes: { 'http.request.method': request.method },
      });
      spans.set(request, span);
      return (...given: unknown[]) => span.runInContext(() => handle(...given));
    })
    .onAfterResponse({ as: 'global' }, ({ request, route, set, responseValue }) => {
      const span = spans.get(request);
      if (span === undefined) return;
      spans.delete(request);
      const status = responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200);
      const pattern = route || 'other';
      span.rename(`${request.method} ${pattern}`);
      span.set({
        'http.route': pattern,
        'http.response.status_code': status,
        request_id: requestContextOf(request)?.requestId ?? '',
      });
      const failure = status >= MIN_SERVER_ERROR_STATUS ? String(status) : undefined;
      const bodyEnd = bodyOutcomeOf(request);
      if (bodyEnd === undefined) {
        span.end(failure);
        return;
      }
      bodyEnd.then((end) => {
        if (end === 'disconnected') span.set({ client_disconnected: true });
        span.end(failure);
      }, span.end);
    });
}
