/** How a unit of work ended. Billing and metrics share this definition (docs/decisions/credits.md). */

import { ERROR_KINDS, ServiceError } from './error.ts';

/**
 * - `completed`: it delivered everything.
 * - `cancelled`: its client or a shutdown stopped it.
 * - `rejected`: its input is invalid, or a limit or a queue is full, and nothing was delivered. It has no usage row and costs nothing.
 * - `failed`: any other error.
 */
export type Outcome = 'completed' | 'cancelled' | 'rejected' | 'failed';

/**
 * Returns how work ended.
 * @param error undefined if the work ended by itself.
 * @param context.signal the signal that stops the work.
 * @param context.hasOutput whether the work had produced any output.
 */
export function outcomeOf(
  error: unknown,
  { signal, hasOutput }: { readonly signal: AbortSignal; readonly hasOutput: boolean },
): Outcome {
  if (error === undefined) return 'completed';
  if (signal.aborted) return 'cancelled';
  return !hasOutput && isRejection(error) ? 'rejected' : 'failed';
}

function isRejection(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return ERROR_KINDS[error.kind].status < 500 || error.kind === 'overloaded';
}
