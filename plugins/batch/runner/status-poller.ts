import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';

export interface StatusPoller {
  /** Returns the current batch; undefined if another runner has claimed it. */
  readonly poll: () => Promise<BatchRecord | undefined>;
  readonly intervalMs: number;
}

/**
 * Runs work that is aborted when the status of the batch changes.
 * @returns undefined if the status changed.
 * @throws the errors of the work and of polling; the reason of the signal.
 */
export async function runWhileStatusUnchanged<T>(
  { status }: BatchRecord,
  { poll, intervalMs }: StatusPoller,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const changed = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  let polling: Promise<void> | undefined;
  const timer = setInterval(() => {
    polling ??= poll()
      .then(
        (batch) => {
          if (batch?.status !== status) changed.abort();
        },
        (error: unknown) => {
          failure = { error };
          changed.abort();
        },
      )
      .finally(() => {
        polling = undefined;
      });
  }, intervalMs);
  try {
    return await work(AbortSignal.any([signal, changed.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (failure !== undefined) throw failure.error;
    if (!changed.signal.aborted) throw error;
    return undefined;
  } finally {
    clearInterval(timer);
    await polling;
  }
}
