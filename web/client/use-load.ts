import { useCallback, useEffect, useRef, useState } from 'react';
import { isAbort, type ServiceFault, toFault } from './service-fault.ts';

export interface Loaded<Value> {
  /** The last value that came; stays while a newer one is loaded. */
  readonly value: Value | undefined;
  /** Why the last load failed; gone with the next that works. */
  readonly fault: ServiceFault | undefined;
  readonly isLoading: boolean;
  /** Loads again. */
  reload(): void;
}

export interface LoadOptions<Value> {
  /** Milliseconds after which it is loaded again, while the page is seen. */
  readonly everyMs?: number | undefined;
  /** The same for what was loaded last; undefined leaves it at `everyMs`. */
  readonly whileMs?: ((value: Value | undefined) => number | undefined) | undefined;
}

/**
 * Loads something when the page opens, when one of `dependencies` changes, and again and again as `options` say.
 * A load that is no longer wanted is cancelled.
 */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  dependencies: readonly unknown[],
  options: LoadOptions<Value> = {},
): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({
    value: undefined,
    fault: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller names them, and `round` is the wish to load again
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    latest.current(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value, fault: undefined, isLoading: false }),
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setState((before) => ({ ...before, fault: toFault(error), isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [round, ...dependencies]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  const { isLoading } = state;
  const everyMs = options.whileMs?.(state.value) ?? options.everyMs;
  useEffect(() => {
    if (everyMs === undefined || isLoading) return;
    const timer = setTimeout(() => {
      if (document.visibilityState === 'visible') reload();
      else document.addEventListener('visibilitychange', reload, { once: true });
    }, everyMs);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', reload);
    };
  }, [everyMs, isLoading, reload]);

  return { ...state, reload };
}
