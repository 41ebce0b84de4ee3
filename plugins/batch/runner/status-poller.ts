import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';

export interface BatchWatch {
  /** The batch as it is now; undefined when another runner has it. */
  readonly look: () => Promise<BatchRecord | undefined>;
  readonly everyMs: number;
}

/**
 * Does work that is of no use any more once a batch leaves the state that it has.
 * @returns undefined when it left it.
 * @throws what the work throws, what a look throws, the signal's reason.
 */
export async function whileUnchanged<T>(
  { status }: BatchRecord,
  { look, everyMs }: BatchWatch,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const moved = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look()
      .then(
        (batch) => {
          if (batch?.status !== status) moved.abort();
        },
        (error: unknown) => {
          failure = { error };
          moved.abort();
        },
      )
      .finally(() => {
        looking = undefined;
      });
  }, everyMs);
  try {
    return await work(AbortSignal.any([signal, moved.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (failure !== undefined) throw failure.error;
    if (!moved.signal.aborted) throw error;
    return undefined;
  } finally {
    clearInterval(timer);
    await looking;
  }
}
