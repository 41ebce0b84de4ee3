import { Box, Button, SegmentedControl, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useCallback } from 'react';
import { LevelMeter } from '../../../audio/display/level-meter.tsx';
import { PushToTalkButton } from '../../../audio/input/push-to-talk-button.tsx';
import { useSpaceKey } from '../../../audio/input/space-key.ts';
import { Icon } from '../../../components/icon.tsx';
import type { TalkSession } from '../session/talk-session.ts';
import type { TalkSettings } from '../settings/talk-settings.ts';
import { activityWords } from '../state/activity-words.ts';
import { activityOf, isAnswering } from '../state/session-state.ts';
import classes from './talk.module.css';

const MODES = [
  { value: 'hands_free', label: 'Hands-free' },
  { value: 'push_to_talk', label: 'Push to talk' },
];

interface TalkControlProps {
  readonly session: TalkSession | undefined;
  /** False if there is no conversation model. */
  readonly canStart: boolean;
  readonly mode: TalkSettings['mode'];
  readonly onMode: (mode: TalkSettings['mode']) => void;
  readonly onStart: () => void;
  readonly onEnd: () => void;
}

/** The button that starts and ends the conversation, and what the conversation is doing. */
export function TalkControl(props: TalkControlProps) {
  const { session, canStart, mode, onMode, onStart, onEnd } = props;
  const isOpen = session !== undefined && !session.isEnded;
  const isPushToTalk = mode === 'push_to_talk';
  const activity = session && activityOf(session.state);
  const microphone = session?.hasMicrophone
    ? 'open'
    : session?.microphoneError === undefined
      ? 'opening'
      : 'unavailable';
  const words = activityWords(activity, { isPushToTalk, microphone }, session?.state.message);
  return (
    <div className={classes.control}>
      <button
        type="button"
        className={classes.start}
        data-activity={activity ?? 'ended'}
        disabled={!isOpen && !canStart}
        onClick={isOpen ? onEnd : onStart}
      >
        <Icon name={isOpen ? 'close' : 'microphone'} size={34} />
        <span>{isOpen ? 'End' : 'Start'}</span>
        <VisuallyHidden>conversation</VisuallyHidden>
      </button>
      <Stack gap={6} className={classes.status}>
        <div role="status">
          <Text size="xl" fw={600} lh={1.3}>
            {words.title}
          </Text>
          <Text size="sm" c="dimmed">
            {words.detail}
          </Text>
        </div>
        <Box maw={280} w="100%" className={classes.meter}>
          {isOpen && session.hasMicrophone && <LevelMeter track={session.track} label="Microphone level" />}
        </Box>
      </Stack>
      <Stack gap="sm" className={classes.actions}>
        <SegmentedControl
          aria-label="How to speak"
          data={MODES}
          value={mode}
          onChange={(value) => onMode(value as TalkSettings['mode'])}
        />
        {isPushToTalk && <HoldButton session={isOpen ? session : undefined} />}
        <Button
          variant="default"
          leftSection={<Icon name="stop" size={16} />}
          disabled={session === undefined || !isAnswering(session.state)}
          onClick={() => session?.stop()}
        >
          Stop answer
        </Button>
      </Stack>
    </div>
  );
}

function HoldButton({ session }: { readonly session: TalkSession | undefined }) {
  const press = useCallback(() => session?.press(), [session]);
  const release = useCallback(() => session?.release(), [session]);
  const isActive = session?.hasMicrophone === true && session.state.phase === 'ready';
  useSpaceKey(isActive, press, release);
  return (
    <PushToTalkButton
      isDown={session?.state.isButtonDown === true}
      disabled={!isActive}
      onPress={press}
      onRelease={release}
    />
  );
}
