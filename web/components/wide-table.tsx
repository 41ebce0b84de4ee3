import { Text } from '@mantine/core';
import { type ReactNode, useCallback, useLayoutEffect, useRef, useState } from 'react';
import classes from './wide-table.module.css';

/** Columns outside the visible part of a table. */
interface HiddenColumns {
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** Rounding of scroll positions, in px. */
const TOLERANCE_PX = 1;

/**
 * A table that scrolls horizontally if it is too wide. A text above it and a shadow at each edge with hidden columns say so,
 * because some browsers show no scroll bar. Focusable for keyboard scrolling (WCAG 2.1.1).
 */
export function WideTable(props: {
  /** Accessible name of the region. */
  readonly label: string;
  /** Width in px below which it scrolls. A table whose content needs more scrolls earlier. */
  readonly minWidth: number;
  readonly maxHeight?: string;
  readonly children: ReactNode;
}) {
  const { label, minWidth, maxHeight, children } = props;
  const viewport = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState<HiddenColumns>({ atStart: false, atEnd: false });

  const measure = useCallback(() => {
    const { scrollLeft, scrollWidth, clientWidth } = viewport.current ?? NOT_SHOWN;
    const atStart = scrollLeft > TOLERANCE_PX;
    const atEnd = scrollLeft + clientWidth < scrollWidth - TOLERANCE_PX;
    setHidden((before) =>
      before.atStart === atStart && before.atEnd === atEnd ? before : { atStart, atEnd },
    );
  }, []);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    for (const { current } of [viewport, content]) if (current !== null) observer.observe(current);
    measure();
    return () => observer.disconnect();
  }, [measure]);

  return (
    <div>
      {(hidden.atStart || hidden.atEnd) && (
        <Text size="xs" c="dimmed" mb={4}>
          Scroll sideways to see all columns.
        </Text>
      )}
      <div
        className={classes.frame}
        data-hidden-start={hidden.atStart || undefined}
        data-hidden-end={hidden.atEnd || undefined}
      >
        <section
          ref={viewport}
          className={classes.viewport}
          style={{ maxHeight }}
          onScroll={measure}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll the focused element
          tabIndex={0}
          aria-label={label}
        >
          <div ref={content} className={classes.content} style={{ minWidth: `max(100%, ${minWidth}px)` }}>
            {children}
          </div>
        </section>
      </div>
    </div>
  );
}

const NOT_SHOWN = { scrollLeft: 0, scrollWidth: 0, clientWidth: 0 };
