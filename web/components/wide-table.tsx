import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** A table that scrolls horizontally if it is too wide. Focusable for keyboard scrolling (WCAG 2.1.1). */
export function WideTable(props: {
  /** Accessible name of the region. */
  readonly label: string;
  /** Width in px below which it scrolls. */
  readonly minWidth: number;
  readonly maxHeight?: string;
  readonly children: ReactNode;
}) {
  const { label, minWidth, maxHeight, children } = props;
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      {...(maxHeight !== undefined && { maxHeight })}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } }}
    >
      {children}
    </Table.ScrollContainer>
  );
}
