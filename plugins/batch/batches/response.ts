/** The wire object of a batch: every key of OpenAI is present, null without a value (openai-wire 3.1). */

import {
  type BatchError,
  type BatchRecord,
  type BatchTokens,
  FINAL_BATCH_STATUSES,
} from '../../../src/contract/stores/batch-store.ts';
import type { StorageHealth } from '../../../src/contract/stores/storage-health.ts';
import { WINDOW } from './schema.ts';

/** Value of `status_detail` while a batch cannot store its results. */
const WAITS_FOR_SPACE = 'Server storage is full. The batch waits for space and then continues.';

/** @param storage reports whether the batch waits: results need space in the database and in the blob store. */
export function batchObject(batch: BatchRecord, storage: StorageHealth) {
  const { times } = batch;
  const isFull = storage.isFull('database') || storage.isFull('blobs');
  return {
    id: batch.id,
    object: 'batch' as const,
    endpoint: batch.endpoint,
    model: batch.model ?? null,
    errors: errorsOf(batch.errors),
    input_file_id: batch.inputFile,
    completion_window: WINDOW,
    status: batch.status,
    output_file_id: batch.outputFile ?? null,
    error_file_id: batch.errorFile ?? null,
    created_at: times.created,
    in_progress_at: times.inProgress ?? null,
    expires_at: times.expires,
    finalizing_at: times.finalizing ?? null,
    completed_at: times.completed ?? null,
    failed_at: times.failed ?? null,
    expired_at: times.expired ?? null,
    cancelling_at: times.cancelling ?? null,
    cancelled_at: times.cancelled ?? null,
    request_counts: batch.counts,
    usage: usageOf(batch.tokens),
    metadata: batch.metadata,
    ...(isFull && !FINAL_BATCH_STATUSES.has(batch.status) && { status_detail: WAITS_FOR_SPACE }),
  };
}

function errorsOf(errors: readonly BatchError[]) {
  return errors.length === 0 ? null : { object: 'list' as const, data: errors };
}

function usageOf({ input, output }: BatchTokens) {
  if (input + output === 0) return null;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
