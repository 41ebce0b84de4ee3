import { useCallback, useEffect, useRef, useState } from 'react';
import { isAbort, type ServiceFault, toFault } from './service-fault.ts';

export interface Loaded<Value> {
  /** The last loaded value; retained while a newer one loads. */
  readonly value: Value | undefined;
  /** Why the last load failed; undefined after the next successful load. */
  readonly fault: ServiceFault | undefined;
  readonly isLoading: boolean;
  /** Loads again. */
  reload(): void;
}

export interface LoadOptions<Value> {
  /** Polling interval in ms, while the page is visible. */
  readonly everyMs?: number | undefined;
  /** Polling interval in ms that depends on the last value; undefined selects `everyMs`. */
  readonly whileMs?: ((value: Value | undefined) => number | undefined) | undefined;
}

/**
 * Loads a value when the component mounts, when one of `dependencies` changes, and at the interval of
 * `options`. Outdated loads are cancelled.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller lists them, and `round` triggers a reload
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
