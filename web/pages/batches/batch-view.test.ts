import { expect, test } from 'vitest';
import { BATCH_STATUSES } from '../../../src/contract/stores/batch-store.ts';
import { canCancel, isFinal, linesDone, statusPresentation, timeline } from './batch-view.ts';
import type { Batch } from './batch-wire.ts';

const BATCH: Batch = {
  id: 'batch_1',
  endpoint: '/v1/embeddings',
  model: null,
  status: 'in_progress',
  errors: null,
  input_file_id: 'file-1',
  output_file_id: null,
  error_file_id: null,
  created_at: 100,
  in_progress_at: 101,
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
  expires_at: 86_500,
  request_counts: { total: 8, completed: 2, failed: 1 },
  usage: null,
  metadata: null,
};

test('every batch status has a label and a description', () => {
  for (const status of BATCH_STATUSES) expect(statusPresentation(status).meaning).toMatch(/^[A-Z].*\.$/);
});

test('four statuses are final, and only unfinished batches can be cancelled', () => {
  const those = (holds: (batch: { status: Batch['status'] }) => boolean) =>
    BATCH_STATUSES.filter((status) => holds({ status }));
  expect(those(isFinal).toSorted()).toEqual(['cancelled', 'completed', 'expired', 'failed']);
  expect(those(canCancel).toSorted()).toEqual(['in_progress', 'validating']);
});

test('linesDone returns percentages of all lines', () => {
  expect(linesDone(BATCH)).toEqual({ completed: 25, failed: 12.5 });
  const request_counts = { total: 0, completed: 0, failed: 0 };
  expect(linesDone({ request_counts })).toEqual({ completed: 0, failed: 0 });
});

test('timeline lists the status changes in chronological order', () => {
  const cancelled = { ...BATCH, cancelling_at: 110, finalizing_at: 112, cancelled_at: 113 };
  expect(timeline(cancelled)).toEqual([
    { label: 'created', at: 100 },
    { label: 'started', at: 101 },
    { label: 'cancellation requested', at: 110 },
    { label: 'finalizing started', at: 112 },
    { label: 'cancelled', at: 113 },
  ]);
});
