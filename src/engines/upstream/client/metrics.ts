/** Metrics and trace spans of calls to upstream servers. */

import type { Metrics } from '../../../contract/core/metrics.ts';
import type { Tracer } from '../../../contract/core/tracer.ts';
import { noopTracer, withSpan } from '../../../kit/logging/spans.ts';
import type { CircuitChange } from './circuit-breaker.ts';

/** `rejected`: the server or its circuit breaker rejected the call; `failed`: no response, or an invalid one. */
type CallOutcome = 'succeeded' | 'rejected' | 'failed';

/** Metrics and spans of one model. Calls that are aborted by their caller are not counted. */
export interface UpstreamMeter {
  call(outcome: CallOutcome): void;
  circuit(state: CircuitChange): void;
  /** Resets the circuit gauge when the model is no longer in use. */
  close(): void;
  /**
   * Sends a request in a span that ends when the response headers arrive.
   * @param send receives the trace headers for the request.
   */
  request(
    method: string,
    send: (headers: Readonly<Record<string, string>>) => Promise<Response>,
  ): Promise<Response>;
}

/** Registers the metrics and returns a factory of meters by model id. */
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
    'State changes of the circuit breakers of upstream servers',
    ['model', 'state'],
  );
  const open = metrics.upDownCounter(
    'upstream_circuit_open',
    'Whether the circuit breaker of an upstream server is open or half-open (1) or closed (0)',
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
