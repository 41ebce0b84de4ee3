/** One attempt at a line: the operation's work, and what it is billed. */

import type { LineBill, LineCalls } from '../../../src/contract/accounts/calls.ts';
import type { ServiceError } from '../../../src/contract/core/error.ts';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Operation } from '../../../src/contract/engines/operation.ts';
import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import { toServiceError } from '../../../src/http/response/error-body.ts';

export type AttemptEnd = {
  /** Of the calls that were closed: to be stored with the line's result, or discarded. */
  readonly bills: readonly LineBill[];
} & (
  | { readonly kind: 'answered'; readonly requestId: Id<'request'>; readonly body: string }
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** The signal fired before there was a result. */
  | { readonly kind: 'aborted' }
);

export interface AttemptParts {
  readonly batch: Pick<BatchRecord, 'organization' | 'keyId'>;
  readonly operation: Operation;
  readonly lineCalls: LineCalls;
}

/** Never rejects. */
export async function attemptLine(
  { batch, operation, lineCalls }: AttemptParts,
  body: unknown,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const { calls, bills } = lineCalls.ofLine();
  const requestId = newId('request');
  const caller = { organization: batch.organization, keyId: batch.keyId, requestId };
  try {
    const answer = await operation.call(body, { caller, priority: 'batch', calls }, signal);
    return { kind: 'answered', requestId, body: answer, bills: bills() };
  } catch (thrown) {
    if (signal.aborted) return { kind: 'aborted', bills: bills() };
    return { kind: 'failed', error: toServiceError(thrown), bills: bills() };
  }
}
