import { Badge, Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { TalkSession } from '../session/talk-session.ts';
import { type AssistantEntry, heardMs, shownText } from '../state/transcript.ts';
import classes from './talk.module.css';

interface AssistantMessageProps {
  readonly entry: AssistantEntry;
  readonly session: TalkSession | undefined;
}

/** A message of the assistant, whose words appear when they are played. */
export function AssistantMessage({ entry, session }: AssistantMessageProps) {
  const text = useHeardText(entry, session);
  const isInterrupted = entry.interruptedMs !== undefined;
  return (
    <>
      <Group gap="xs">
        <Text size="xs" fw={600}>
          Assistant
        </Text>
        {isInterrupted && (
          <Badge size="sm" variant="light" color="orange">
            interrupted
          </Badge>
        )}
      </Group>
      <Text className={classes.words} dir="auto" data-words>
        {text === '' && isInterrupted ? (
          <Text span c="dimmed" fs="italic">
            Not heard
          </Text>
        ) : (
          text
        )}
        {isInterrupted && text !== '' && ' …'}
      </Text>
    </>
  );
}

/** The words that the user has heard; follows the playback until it ends. */
function useHeardText(entry: AssistantEntry, session: TalkSession | undefined): string {
  const endMs = heardMs(entry);
  const [playing, setPlaying] = useState('');
  useEffect(() => {
    if (endMs !== undefined || session === undefined) return;
    let frame = 0;
    const follow = () => {
      setPlaying(shownText(entry, session.playedMs(entry.id)));
      frame = requestAnimationFrame(follow);
    };
    follow();
    return () => cancelAnimationFrame(frame);
  }, [entry, session, endMs]);
  return endMs === undefined ? playing : shownText(entry, endMs);
}
