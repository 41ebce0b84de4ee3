/** Numbers of the servers behind upstream models. */

import type { Metrics } from '../../contract/metrics.ts';
import type { CircuitChange } from './upstream-circuit.ts';

/** `refused`: the server, or its circuit, turned the call away; `failed`: no answer, or a broken one. */
type CallOutcome = 'answered' | 'refused' | 'failed';

/** Counts for one model. Calls that their caller left are not counted. */
export interface UpstreamMeter {
  call(outcome: CallOutcome): void;
  circuit(state: CircuitChange): void;
}

/** Makes the numbers; then one meter for each id of CONFIG. */
export function upstreamMeters(metrics: Metrics): (model: string) => UpstreamMeter {
  const calls = metrics.counter('upstream_calls_total', 'Calls to the servers of upstream models', [
    'model',
    'outcome',
  ]);
  const changes = metrics.counter(
    'upstream_circuit_changes_total',
    'How often calls to a server that does not answer were stopped, tried and let through again',
    ['model', 'state'],
  );
  return (model) => ({
    call: (outcome) => calls.add({ model, outcome }),
    circuit: (state) => changes.add({ model, state }),
  });
}
