import { useCallback, useEffect, useRef, useState } from 'react';
import { isAbort, type ServiceError, toServiceError } from './service-error.ts';

export interface Loaded<Value> {
  /** The last loaded value; retained while a newer one loads. */
  readonly value: Value | undefined;
  /** Why the last load failed; undefined after the next successful load. */
  readonly error: ServiceError | undefined;
  readonly isLoading: boolean;
  /** Loads again. */
  reload(): void;
}

export interface LoadOptions<Value> {
  /** Polling interval in ms, while the page is visible. */
  readonly intervalMs?: number | undefined;
  /** Polling interval in ms that depends on the last value; undefined selects `intervalMs`. */
  readonly dynamicIntervalMs?: ((value: Value | undefined) => number | undefined) | undefined;
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
    error: undefined,
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
      (value) => !abort.signal.aborted && setState({ value, error: undefined, isLoading: false }),
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setState((before) => ({ ...before, error: toServiceError(error), isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [round, ...dependencies]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  const { isLoading } = state;
  const intervalMs = options.dynamicIntervalMs?.(state.value) ?? options.intervalMs;
  useEffect(() => {
    if (intervalMs === undefined || isLoading) return;
    const timer = setTimeout(() => {
      if (document.visibilityState === 'visible') reload();
      else document.addEventListener('visibilitychange', reload, { once: true });
    }, intervalMs);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', reload);
    };
  }, [intervalMs, isLoading, reload]);

  return { ...state, reload };
}
