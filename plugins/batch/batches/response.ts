/** The wire object of a batch: every key is present, null without a value (openai-wire 3.1). */

import type { BatchError, BatchRecord, BatchTokens } from '../../../src/contract/stores/batch-store.ts';
import { WINDOW } from './schema.ts';

export function toBatchObject(batch: BatchRecord) {
  const { times } = batch;
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
