/** The wire object of a batch: every key of OpenAI is present, null without a value (openai-wire 3.1). */

import { Type } from '@sinclair/typebox';
import { OPERATION_URLS } from '../../../src/contract/engines/operation.ts';
import {
  BATCH_STATUSES,
  type BatchError,
  type BatchRecord,
  type BatchTokens,
  FINAL_BATCH_STATUSES,
} from '../../../src/contract/stores/batch-store.ts';
import type { StorageHealth } from '../../../src/contract/stores/storage-health.ts';
import { orNull, UnixSeconds } from '../../../src/http/openapi/schemas.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { WINDOW } from './schema.ts';

const Count = Type.Integer({ minimum: 0 });
const Time = orNull(UnixSeconds);

const LineError = Type.Object({
  code: Type.String({ examples: ['duplicate_custom_id'] }),
  message: Type.String(),
  param: orNull(Type.String({ examples: ['custom_id'] })),
  line: orNull(Type.Integer({ minimum: 1 })),
});

/** The OpenAPI schema of a batch. */
export const BatchObject = Type.Object(
  {
    id: Type.String({ examples: ['batch_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'] }),
    object: Type.Literal('batch'),
    endpoint: oneOf(OPERATION_URLS),
    model: orNull(Type.String({ description: 'The model, if all lines name the same one.' })),
    errors: orNull(Type.Object({ object: Type.Literal('list'), data: Type.Array(LineError) })),
    input_file_id: Type.String(),
    completion_window: Type.Literal(WINDOW),
    status: oneOf(BATCH_STATUSES),
    output_file_id: orNull(Type.String({ description: 'Results; null if no line succeeded.' })),
    error_file_id: orNull(Type.String({ description: 'Errors; null if no line failed.' })),
    created_at: UnixSeconds,
    in_progress_at: Time,
    expires_at: Time,
    finalizing_at: Time,
    completed_at: Time,
    failed_at: Time,
    expired_at: Time,
    cancelling_at: Time,
    cancelled_at: Time,
    request_counts: Type.Object({ total: Count, completed: Count, failed: Count }),
    usage: orNull(
      Type.Object({
        input_tokens: Count,
        input_tokens_details: Type.Object({ cached_tokens: Count }),
        output_tokens: Count,
        output_tokens_details: Type.Object({ reasoning_tokens: Count }),
        total_tokens: Count,
      }),
    ),
    metadata: orNull(Type.Record(Type.String(), Type.String())),
    status_detail: Type.Optional(
      Type.String({
        description: 'Why an unfinished batch makes no progress. Present only while the storage is full.',
      }),
    ),
  },
  { title: 'Batch' },
);

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
