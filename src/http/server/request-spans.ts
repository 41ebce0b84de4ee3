import { Elysia } from 'elysia';
import type { Span, Tracer } from '../../contract/core/tracer.ts';
import { noopTracer } from '../../kit/logging/spans.ts';
import { bodyEndOf } from '../response/streamed-body.ts';
import { visitOf } from '../security/caller.ts';

/** From here on a failure is one of ours. */
const SERVER_FAULT = 500;

/**
 * A span for each request, around everything that is done for it; it goes on with the trace of the caller, if that
 * sends one. It ends with the answer; that of a WebSocket with its handshake, since what follows has traces of its own.
 */
export function requestSpans(tracer: Tracer) {
  const hooks = new Elysia({ name: 'request-spans' });
  if (tracer === noopTracer) return hooks;
  const spans = new WeakMap<Request, Span>();
  return hooks
    .wrap((handle, request) => {
      const span = tracer.begin(request.method, {
        kind: 'server',
        parent: request.headers.get('traceparent') ?? 'none',
        attributes: { 'http.request.method': request.method },
      });
      spans.set(request, span);
      return (...given: unknown[]) => span.inside(() => handle(...given));
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
        request_id: visitOf(request)?.requestId ?? '',
      });
      const failure = status >= SERVER_FAULT ? String(status) : undefined;
      const bodyEnd = bodyEndOf(request);
      if (bodyEnd === undefined) {
        span.end(failure);
        return;
      }
      bodyEnd.then((end) => {
        if (end === 'left') span.set({ client_disconnected: true });
        span.end(failure);
      }, span.end);
    });
}
