import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** A table that scrolls sideways where there is less room than it needs; it takes the keyboard to do so (WCAG 2.1.1). */
export function WideTable(props: {
  /** Names it, for who moves from part to part. */
  readonly label: string;
  /** In pixels. */
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
