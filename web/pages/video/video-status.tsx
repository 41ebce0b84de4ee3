import { Badge } from '@mantine/core';
import type { Video } from './video-wire.ts';

const STATUS = {
  queued: { label: 'queued', color: 'gray' },
  in_progress: { label: 'in progress', color: 'blue' },
  completed: { label: 'completed', color: 'green' },
  failed: { label: 'failed', color: 'red' },
} as const;

export function VideoStatus({ status }: { readonly status: Video['status'] }) {
  const { label, color } = STATUS[status];
  return (
    <Badge variant="light" color={color}>
      {label}
    </Badge>
  );
}

/** Whether the status is final. */
export function isFinal({ status }: Video): boolean {
  return status === 'completed' || status === 'failed';
}
