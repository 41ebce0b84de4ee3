import { type RefObject, type UIEventHandler, useCallback, useLayoutEffect, useRef } from 'react';

/** Distance from the end of the list within which it scrolls along, in px. */
const NEAR_PX = 60;

/** Keeps the end of a scrollable element visible when its content changes, unless the user has scrolled up. */
export function useFollowEnd<Element extends HTMLElement>(
  content: unknown,
): { readonly ref: RefObject<Element | null>; readonly onScroll: UIEventHandler<Element> } {
  const ref = useRef<Element>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the content changes
  useLayoutEffect(() => {
    if (ref.current !== null && atEnd.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [content]);
  const onScroll = useCallback<UIEventHandler<Element>>(({ currentTarget }) => {
    const { scrollHeight, scrollTop, clientHeight } = currentTarget;
    atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }, []);
  return { ref, onScroll };
}
