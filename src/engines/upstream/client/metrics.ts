/** Numbers and spans of the servers behind upstream models. */

import type { Metrics } from '../../../contract/core/metrics.ts';
import type { Tracer } from '../../../contract/core/tracer.ts';
import { withSpan, noopTracer } from '../../../kit/logging/spans.ts';
import type { CircuitChange } from './circuit-breaker.ts';

/** `rejected`: the server or its circuit breaker rejected the call; `failed`: no answer, or a broken one. */
type CallOutcome = 'succeeded' | 'rejected' | 'failed';

/** Counts and traces for one model. Calls that their caller left are not counted. */
export interface UpstreamMeter {
  call(outcome: CallOutcome): void;
  circuit(state: CircuitChange): void;
  /** Nobody calls it any more: what its circuit is does not matter. */
  close(): void;
  /**
   * Sends a request of a call, in a span that ends with the head of its answer.
   * @param send is given what the server is told of the trace.
   */
  request(
    method: string,
    send: (headers: Readonly<Record<string, string>>) => Promise<Response>,
  ): Promise<Response>;
}

/** Makes the numbers; then one meter for each id of CONFIG. */
export function upstreamMeters(
  metrics: Metrics,
  tracer: Tracer = noopTracer,
): (model: string) => UpstreamMeter {
  const calls = metrics.counter('upstream_calls_total', 'Calls to the servers of upstream models', [
    'model',
    'outcome',
  ]);
  const changes = metrics.counter(
    'upstream_circuit_changes_total',
    'How often calls to a server that does not answer were stopped, tried and let through again',
    ['model', 'state'],
  );
  const open = metrics.upDownCounter(
    'upstream_circuit_open',
    'Whether calls to a server that does not answer are stopped: 1, or tried: 1, or let through: 0',
    ['model'],
  );
  const openCircuits = new Set<string>();
  const closeCircuit = (model: string) => open.add({ model }, openCircuits.delete(model) ? -1 : 0);
  return (model) => {
    open.add({ model }, 0);
    return {
      close: () => closeCircuit(model),
      call: (outcome) => calls.add({ model, outcome }),
      circuit(state) {
        changes.add({ model, state });
        if (state === 'closed') closeCircuit(model);
        else if (!openCircuits.has(model)) {
          openCircuits.add(model);
          open.add({ model }, 1);
        }
      },
      request: (method, send) => sendInSpan(tracer, model, method, send),
    };
  };
}

function sendInSpan(
  tracer: Tracer,
  model: string,
  method: string,
  send: Parameters<UpstreamMeter['request']>[1],
): Promise<Response> {
  const attributes = { model, 'http.request.method': method };
  return withSpan(tracer, method, { kind: 'client', attributes }, async (span) => {
    const response = await send(span.traceparent === undefined ? {} : { traceparent: span.traceparent });
    span.set({ 'http.response.status_code': response.status });
    return response;
  });
}
