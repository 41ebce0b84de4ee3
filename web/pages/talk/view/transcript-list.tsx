import { Badge, Group, Text, VisuallyHidden } from '@mantine/core';
import { memo } from 'react';
import { Empty } from '../../../components/feedback/empty.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFollowEnd } from '../../../components/use-follow-end.ts';
import type { TalkSession } from '../session/talk-session.ts';
import type { Entry, ErrorEntry, UserEntry } from '../state/transcript.ts';
import { AssistantMessage } from './assistant-message.tsx';
import classes from './talk.module.css';
import { ToolCall } from './tool-call.tsx';

interface TranscriptListProps {
  readonly entries: readonly Entry[];
  readonly session: TalkSession | undefined;
}

/** What both sides said, and the functions that were called. */
export function TranscriptList({ entries, session }: TranscriptListProps) {
  const scroll = useFollowEnd<HTMLOListElement>(entries);
  const heard = entries.findLast((entry) => entry.kind === 'user' && entry.state === 'done');
  return (
    <>
      {entries.length === 0 && (
        <Empty text="What you and the assistant say appears here, word for word, while it is spoken." />
      )}
      <ol
        {...scroll}
        className={classes.transcript}
        aria-label="Transcript"
        // A scrollable region must be focusable (WCAG 2.1.1).
        // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
        tabIndex={0}
        hidden={entries.length === 0}
      >
        {entries.map((entry) => (
          <li
            key={`${entry.kind} ${entry.id}`}
            className={classes.entry}
            data-kind={entry.kind}
            {...(entry.kind === 'user' && { 'data-state': entry.state })}
          >
            <EntryBody entry={entry} session={session} />
          </li>
        ))}
      </ol>
      <VisuallyHidden aria-live="polite">{heard?.kind === 'user' && heard.text}</VisuallyHidden>
    </>
  );
}

/** Memoized: each event creates a new list, and only changed entries render. */
const EntryBody = memo(
  ({ entry, session }: { readonly entry: Entry; readonly session: TalkSession | undefined }) => {
    switch (entry.kind) {
      case 'user':
        return <UserMessage entry={entry} />;
      case 'assistant':
        return <AssistantMessage entry={entry} session={session} />;
      case 'tool':
        return <ToolCall entry={entry} session={session} />;
      case 'error':
        return <FailedResponse entry={entry} />;
    }
  },
);

function UserMessage({ entry: { text, state } }: { readonly entry: UserEntry }) {
  return (
    <>
      <Group gap="xs" justify="flex-end">
        {state === 'failed' && (
          <Badge size="sm" variant="light" color="red">
            not understood
          </Badge>
        )}
        <Text size="xs" fw={600}>
          You
        </Text>
      </Group>
      <Text className={classes.words} dir="auto" {...(state === 'failed' && { c: 'error' })}>
        {text === '' ? <Wordless state={state} /> : text}
      </Text>
    </>
  );
}

function Wordless({ state }: { readonly state: UserEntry['state'] }) {
  if (state === 'done') {
    return (
      <Text span c="dimmed" fs="italic">
        No words recognized
      </Text>
    );
  }
  return (
    <span role="img" aria-label={state === 'speaking' ? 'speaking' : 'transcribing'}>
      …
    </span>
  );
}

function FailedResponse({ entry }: { readonly entry: ErrorEntry }) {
  return (
    <Group gap="xs" wrap="nowrap" c="error" role="alert">
      <Icon name="warning" size={16} />
      <Text size="sm">The answer failed: {entry.text}</Text>
    </Group>
  );
}
