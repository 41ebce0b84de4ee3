import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { LevelMeter } from '../../audio/display/level-meter.tsx';
import { LoudnessView } from '../../audio/display/loudness-view.tsx';
import { type Recorded, useRecorder } from '../../audio/input/use-recorder.ts';
import { Icon } from '../../components/icon.tsx';
import { MAX_SECONDS, MIN_SECONDS } from './voice-wire.ts';
import classes from './voices.module.css';

/** Records the user reading a text, with a timer and a level meter. Stops at the maximum clip length. */
export function ClipRecorder(props: {
  /** The text to read. */
  readonly text: string;
  /** Whether a recording exists, which a new one replaces. */
  readonly isAgain: boolean;
  readonly onRecorded: (recorded: Recorded) => void;
}) {
  const { phase, seconds, error, track, start, stop } = useRecorder(MAX_SECONDS, props.onRecorded);
  const isShort = seconds < MIN_SECONDS;
  return (
    <Stack gap="sm">
      <blockquote className={classes.reading} style={{ margin: 0 }}>
        {props.text}
      </blockquote>
      <Group gap="sm">
        {phase === 'idle' ? (
          <Button variant="light" onClick={start} leftSection={<Icon name="microphone" size={16} />}>
            {props.isAgain ? 'Record again' : 'Record'}
          </Button>
        ) : (
          <Button color="red" onClick={stop} leftSection={<Icon name="stop" size={16} />}>
            {phase === 'recording' ? 'Stop' : 'Cancel'}
          </Button>
        )}
        <Text size="sm" role="timer" aria-label="Recording time" className="figures">
          {phase === 'recording' ? `${seconds.toFixed(1)} s` : `${MIN_SECONDS} to ${MAX_SECONDS} s`}
        </Text>
        {phase !== 'idle' && (
          <Text size="sm" c="dimmed" role="status">
            {phase === 'opening'
              ? 'Waiting for the microphone'
              : isShort
                ? `Minimum ${MIN_SECONDS} s`
                : 'Minimum length reached'}
          </Text>
        )}
      </Group>
      {phase === 'recording' && (
        <>
          <LevelMeter track={track} label="Microphone level" />
          <LoudnessView track={track} label="Loudness of the recording" heightPx={72} />
        </>
      )}
      {error !== undefined && (
        <Alert color="red" variant="light" role="alert" p="sm" icon={<Icon name="warning" />}>
          {error}
        </Alert>
      )}
    </Stack>
  );
}
