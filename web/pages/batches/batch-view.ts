/** Presentation of a batch: status label, progress and timeline. Pure functions. */

import type { Batch, BatchStatus } from './batch-wire.ts';

interface StatusPresentation {
  readonly label: string;
  /** A Mantine colour name. */
  readonly color: string;
  /** One sentence that describes the status. */
  readonly meaning: string;
}

const STATUS: Readonly<Record<BatchStatus, StatusPresentation>> = {
  validating: { label: 'validating', color: 'blue', meaning: 'The input file is being validated.' },
  in_progress: {
    label: 'running',
    color: 'blue',
    meaning: 'Lines are processed at lower priority than live requests.',
  },
  finalizing: {
    label: 'finalizing',
    color: 'blue',
    meaning: 'All lines are processed; the result files are being written.',
  },
  completed: { label: 'completed', color: 'green', meaning: 'The result files are available.' },
  failed: { label: 'failed', color: 'red', meaning: 'The input is invalid; no line was run.' },
  cancelling: {
    label: 'cancelling',
    color: 'orange',
    meaning: 'Running lines are being stopped; no further lines are started.',
  },
  cancelled: {
    label: 'cancelled',
    color: 'gray',
    meaning: 'Completed lines are in the results, the others in the errors.',
  },
  expired: {
    label: 'expired',
    color: 'orange',
    meaning: 'The completion window is over. Completed lines are in the results, the others in the errors.',
  },
};

export function statusPresentation(status: BatchStatus): StatusPresentation {
  return STATUS[status];
}

const ENDS: ReadonlySet<BatchStatus> = new Set(['completed', 'failed', 'cancelled', 'expired']);

/** Whether the status is final. */
export function isFinal({ status }: Pick<Batch, 'status'>): boolean {
  return ENDS.has(status);
}

/** Whether the service still accepts a cancellation. */
export function canCancel({ status }: Pick<Batch, 'status'>): boolean {
  return status === 'validating' || status === 'in_progress';
}

/** Percentages of all lines; zeros until the total is known. */
export function linesDone({ request_counts: { total, completed, failed } }: Pick<Batch, 'request_counts'>) {
  const percent = (count: number) => (total === 0 ? 0 : (100 * count) / total);
  return { completed: percent(completed), failed: percent(failed) };
}

/** Status changes in chronological order; `at` in Unix seconds. */
export function timeline(batch: Batch): readonly { readonly label: string; readonly at: number }[] {
  const moments: readonly (readonly [string, number | null])[] = [
    ['created', batch.created_at],
    ['started', batch.in_progress_at],
    ['cancellation requested', batch.cancelling_at],
    ['finalizing started', batch.finalizing_at],
    ['completed', batch.completed_at],
    ['failed', batch.failed_at],
    ['cancelled', batch.cancelled_at],
    ['expired', batch.expired_at],
  ];
  return moments.flatMap(([label, at]) => (at === null ? [] : [{ label, at }])).sort((a, b) => a.at - b.at);
}
