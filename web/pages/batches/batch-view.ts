/** What a batch looks like: its state in words, how far it is, when it came where. Pure. */

import type { Batch, BatchStatus } from './batch-wire.ts';

interface StatusWords {
  readonly label: string;
  /** A colour of Mantine. */
  readonly color: string;
  /** What happens meanwhile, or what this end means. */
  readonly meaning: string;
}

const WORDS: Readonly<Record<BatchStatus, StatusWords>> = {
  validating: { label: 'checking', color: 'blue', meaning: 'The input is being read and checked.' },
  in_progress: { label: 'running', color: 'blue', meaning: 'Lines run, beside everything that is live.' },
  finalizing: {
    label: 'finishing',
    color: 'blue',
    meaning: 'Every line has a result; the files are put together.',
  },
  completed: { label: 'completed', color: 'green', meaning: 'The result files are there.' },
  failed: { label: 'failed', color: 'red', meaning: 'The input has faults, so nothing was run.' },
  cancelling: {
    label: 'cancelling',
    color: 'orange',
    meaning: 'Lines that run are ended; others are not begun.',
  },
  cancelled: {
    label: 'cancelled',
    color: 'gray',
    meaning: 'What had ended is in the results, the rest among the errors.',
  },
  expired: {
    label: 'expired',
    color: 'orange',
    meaning: 'A day was over: what had ended is in the results, the rest among the errors.',
  },
};

export function statusWords(status: BatchStatus): StatusWords {
  return WORDS[status];
}

const ENDS: ReadonlySet<BatchStatus> = new Set(['completed', 'failed', 'cancelled', 'expired']);

/** Whether it changes no more. */
export function hasEnded({ status }: Pick<Batch, 'status'>): boolean {
  return ENDS.has(status);
}

/** Whether the service would still cancel it. */
export function canCancel({ status }: Pick<Batch, 'status'>): boolean {
  return status === 'validating' || status === 'in_progress';
}

/** Shares of all lines, in percent; zeros while nobody knows how many there are. */
export function linesDone({ request_counts: { total, completed, failed } }: Pick<Batch, 'request_counts'>) {
  const percent = (count: number) => (total === 0 ? 0 : (100 * count) / total);
  return { completed: percent(completed), failed: percent(failed) };
}

/** When it came where, in the order in which it did; Unix seconds. */
export function timeline(batch: Batch): readonly { readonly label: string; readonly at: number }[] {
  const moments: readonly (readonly [string, number | null])[] = [
    ['created', batch.created_at],
    ['began to run', batch.in_progress_at],
    ['cancel asked for', batch.cancelling_at],
    ['began to finish', batch.finalizing_at],
    ['completed', batch.completed_at],
    ['failed', batch.failed_at],
    ['cancelled', batch.cancelled_at],
    ['expired', batch.expired_at],
  ];
  return moments.flatMap(([label, at]) => (at === null ? [] : [{ label, at }])).sort((a, b) => a.at - b.at);
}
