/** A single attempt to run a line: calls the operation and collects its bills. */

import type { LineBill, LineCalls } from '../../../src/contract/accounts/calls.ts';
import type { ServiceError } from '../../../src/contract/core/error.ts';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Operation } from '../../../src/contract/engines/operation.ts';
import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import { toServiceError } from '../../../src/http/response/error-body.ts';

export type AttemptResult = {
  /** Bills of the closed calls. They are stored with the result of the line or discarded. */
  readonly bills: readonly LineBill[];
} & (
  | { readonly kind: 'succeeded'; readonly requestId: Id<'req_'>; readonly body: string }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** The signal fired before the call finished. */
  | { readonly kind: 'aborted' }
);

export interface AttemptDeps {
  readonly batch: Pick<BatchRecord, 'organization' | 'keyId'>;
  readonly operation: Operation;
  readonly lineCalls: LineCalls;
}

/** Never rejects. */
export async function attemptLine(
  { batch, operation, lineCalls }: AttemptDeps,
  body: unknown,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { calls, bills } = lineCalls.forLine();
  const requestId = newId('req_');
  const caller = { organization: batch.organization, keyId: batch.keyId, requestId };
  try {
    const response = await operation.execute(body, { caller, priority: 'batch', calls }, signal);
    return { kind: 'succeeded', requestId, body: response, bills: bills() };
  } catch (thrown) {
    if (signal.aborted) return { kind: 'aborted', bills: bills() };
    return { kind: 'failed', error: toServiceError(thrown), bills: bills() };
  }
}
