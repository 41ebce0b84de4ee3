import { Badge } from '@mantine/core';
import { statusWords } from './batch-view.ts';
import type { BatchStatus } from './batch-wire.ts';

/** The state of a batch in one word; the sentence about it when the pointer rests on it. */
export function StatusBadge({ status }: { readonly status: BatchStatus }) {
  const { label, color, meaning } = statusWords(status);
  return (
    <Badge variant="light" color={color} title={meaning} miw="max-content">
      {label}
    </Badge>
  );
}
