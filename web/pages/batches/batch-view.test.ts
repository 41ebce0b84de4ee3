import { expect, test } from 'vitest';
import { BATCH_STATUSES } from '../../../src/contract/stores/batch-store.ts';
import { canCancel, hasEnded, linesDone, statusWords, timeline } from './batch-view.ts';
import type { Batch } from './batch-wire.ts';

const BATCH: Batch = {
  ...{ id: 'batch_1', endpoint: '/v1/embeddings', model: null, status: 'in_progress', errors: null },
  ...{ input_file_id: 'file-1', output_file_id: null, error_file_id: null },
  ...{ created_at: 100, in_progress_at: 101, finalizing_at: null, completed_at: null, failed_at: null },
  ...{ expired_at: null, cancelling_at: null, cancelled_at: null, expires_at: 86_500 },
  ...{ request_counts: { total: 8, completed: 2, failed: 1 }, usage: null, metadata: null },
};

test('every state of the service has words', () => {
  for (const status of BATCH_STATUSES) expect(statusWords(status).meaning).toMatch(/^[A-Z].*\.$/);
});

test('it ends in four states, and is cancelled before it finishes', () => {
  const those = (holds: (batch: { status: Batch['status'] }) => boolean) =>
    BATCH_STATUSES.filter((status) => holds({ status }));
  expect(those(hasEnded).toSorted()).toEqual(['cancelled', 'completed', 'expired', 'failed']);
  expect(those(canCancel).toSorted()).toEqual(['in_progress', 'validating']);
});

test('how far it is, in percent of its lines', () => {
  expect(linesDone(BATCH)).toEqual({ completed: 25, failed: 12.5 });
  const request_counts = { total: 0, completed: 0, failed: 0 };
  expect(linesDone({ request_counts })).toEqual({ completed: 0, failed: 0 });
});

test('when it came where, in order', () => {
  const cancelled = { ...BATCH, cancelling_at: 110, finalizing_at: 112, cancelled_at: 113 };
  expect(timeline(cancelled)).toEqual([
    { label: 'created', at: 100 },
    { label: 'began to run', at: 101 },
    { label: 'cancel asked for', at: 110 },
    { label: 'began to finish', at: 112 },
    { label: 'cancelled', at: 113 },
  ]);
});
