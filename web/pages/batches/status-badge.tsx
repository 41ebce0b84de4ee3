import { Badge } from '@mantine/core';
import { statusPresentation } from './batch-view.ts';
import type { BatchStatus } from './batch-wire.ts';

/** Badge with the status label; the tooltip has the description. */
export function StatusBadge({ status }: { readonly status: BatchStatus }) {
  const { label, color, meaning } = statusPresentation(status);
  return (
    <Badge variant="light" color={color} title={meaning}>
      {label}
    </Badge>
  );
}
