import { Badge } from '@mantine/core';
import type { Video } from './video-wire.ts';

const WORDS = {
  queued: { label: 'waiting', color: 'gray' },
  in_progress: { label: 'being made', color: 'blue' },
  completed: { label: 'completed', color: 'green' },
  failed: { label: 'failed', color: 'red' },
} as const;

export function VideoStatus({ status }: { readonly status: Video['status'] }) {
  const { label, color } = WORDS[status];
  return (
    <Badge variant="light" color={color} miw="max-content">
      {label}
    </Badge>
  );
}

/** Whether it changes no more. */
export function hasEnded({ status }: Video): boolean {
  return status === 'completed' || status === 'failed';
}
