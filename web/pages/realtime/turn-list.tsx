import { Badge, Box, Group, Text, VisuallyHidden } from '@mantine/core';
import { memo } from 'react';
import { Empty } from '../../components/feedback/empty.tsx';
import { formatSeconds } from '../../components/format.ts';
import { useFollowEnd } from '../../components/use-follow-end.ts';
import { formatClock } from './clock-format.ts';
import type { Turn } from './conversation.ts';
import classes from './realtime.module.css';

/** The conversation with its latencies. */
export const TurnList = memo(({ turns }: { readonly turns: readonly Turn[] }) => {
  const scroll = useFollowEnd<HTMLOListElement>(turns);
  const complete = turns.findLast(({ side, state }) => side === 'user' && state === 'done');
  return (
    <>
      {turns.length === 0 && <Empty text="Your words appear here while you speak." />}
      <ol
        {...scroll}
        className={classes.turns}
        aria-label="Conversation"
        // A scrollable region must be focusable (WCAG 2.1.1).
        // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
        tabIndex={0}
        hidden={turns.length === 0}
      >
        {turns.map((turn) => (
          <TurnRow key={turn.id} turn={turn} />
        ))}
      </ol>
      <VisuallyHidden aria-live="polite">{complete?.text}</VisuallyHidden>
    </>
  );
});

const TurnRow = memo(({ turn }: { readonly turn: Turn }) => {
  const { side, text, state } = turn;
  return (
    <Box component="li" className={classes.turn} data-side={side} data-state={state}>
      <Group gap="xs" justify="space-between">
        <Group gap="xs">
          <Text size="xs" fw={600}>
            {side === 'user' ? 'You' : 'Service'}
          </Text>
          <Text size="xs" c="dimmed" className="figures">
            {formatSpan(turn)}
          </Text>
        </Group>
        <TurnState turn={turn} />
      </Group>
      <Text className={classes.message} dir="auto" {...(state === 'failed' && { c: 'error' })}>
        {text === '' && state === 'done' ? '(no speech)' : text}
      </Text>
    </Box>
  );
});

function TurnState({ turn: { side, state, waitMs } }: { readonly turn: Turn }) {
  if (state !== 'done') {
    return (
      <Badge size="sm" variant="light" color={state === 'failed' ? 'red' : 'gray'}>
        {state}
      </Badge>
    );
  }
  if (waitMs === undefined) return null;
  return (
    <Text size="xs" c="dimmed" className="figures">
      {side === 'user' ? 'transcript' : 'first audio'} after {formatSeconds(waitMs / 1000)}
    </Text>
  );
}

function formatSpan({ side, startMs, endMs, lengthMs }: Turn): string {
  if (side === 'service') return lengthMs === undefined ? '' : formatSeconds(lengthMs / 1000);
  if (startMs === undefined) return '';
  return endMs === undefined
    ? `from ${formatClock(startMs)}`
    : `${formatClock(startMs)} – ${formatClock(endMs)}`;
}
