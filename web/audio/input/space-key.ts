import { useEffect } from 'react';

/** Elements that use the space bar themselves. */
const USES_SPACE = 'input, textarea, select, button, a, summary, [role="slider"], [contenteditable]';

/** Calls `press` and `release` for the space bar, unless the focused element uses it. */
export function useSpaceKey(isActive: boolean, press: () => void, release: () => void): void {
  useEffect(() => {
    if (!isActive) return;
    const abort = new AbortController();
    const { signal } = abort;
    const down = (event: KeyboardEvent) => {
      if (event.key !== ' ' || (event.target instanceof Element && event.target.closest(USES_SPACE))) return;
      event.preventDefault();
      if (!event.repeat) press();
    };
    const up = (event: KeyboardEvent) => event.key === ' ' && release();
    addEventListener('keydown', down, { signal });
    addEventListener('keyup', up, { signal });
    addEventListener('blur', release, { signal });
    return () => abort.abort();
  }, [isActive, press, release]);
}
