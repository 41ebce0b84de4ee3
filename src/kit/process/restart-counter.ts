import type { Metrics } from '../../contract/core/metrics.ts';

/** Role of a long-lived child process: the label `process` of the metrics. */
export type ProcessRole = 'inference' | 'voice_activity' | 'turn_end' | 'language_model' | 'audio_encoding';

/** Returns a function that counts one unexpected exit of a process of this role. */
export function restartCounter(metrics: Metrics, role: ProcessRole): () => void {
  const lost = metrics.counter(
    'worker_restarts_total',
    'Processes that ended by themselves and were started again.',
    ['process'],
  );
  // The series must exist at 0, or the first restart would not register as an increase.
  lost.add({ process: role }, 0);
  return () => lost.add({ process: role });
}
