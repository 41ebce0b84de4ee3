import { Group, Stack, Text } from '@mantine/core';
import { memo } from 'react';
import { Empty } from '../../../components/feedback/empty.tsx';
import { Panel } from '../../../components/panel.tsx';
import { barSegments, STAGES, type Stage, stageTimes, type TurnTiming } from '../state/turn-timing.ts';
import classes from './latency.module.css';

/** A turn with the words of the user. */
export interface TimedTurn {
  readonly turn: TurnTiming;
  readonly words: string;
}

const LABELS: Readonly<Record<Stage, string>> = {
  decision: 'Turn decision',
  transcript: 'Transcript',
  token: 'First token',
  audio: 'First audio',
};
/** Starting points of the measurement. */
const STARTS: Readonly<Record<TurnTiming['input'], string>> = {
  voice: 'after the end of speech',
  button: 'after the button was released',
  text: 'after the message was sent',
};
/** Minimum length of the time axis in ms. */
const MIN_AXIS_MS = 1000;

/** Latency of the last turns, newest first, on a common time axis. */
export const LatencyPanel = memo(({ turns }: { readonly turns: readonly TimedTurn[] }) => {
  const measured = turns.filter(({ turn }) => barSegments(stageTimes(turn)).length > 0);
  const axisMs = Math.max(
    MIN_AXIS_MS,
    ...measured.map(({ turn }) => barSegments(stageTimes(turn)).at(-1)?.endMs ?? 0),
  );
  return (
    <Panel title="Response time">
      {measured.length === 0 ? (
        <Empty text="How long each answer took, step by step, after the end of your speech." />
      ) : (
        <ol className={classes.turns} aria-label="Response times">
          {measured.toReversed().map(({ turn, words }) => (
            <li key={turn.id}>
              <TurnLatency turn={turn} words={words} axisMs={axisMs} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
});

interface TurnLatencyProps extends TimedTurn {
  /** Length of the time axis in ms. */
  readonly axisMs: number;
}

function TurnLatency({ turn, words, axisMs }: TurnLatencyProps) {
  const times = stageTimes(turn);
  const segments = barSegments(times);
  const percent = (ms: number) => `${(100 * ms) / axisMs}%`;
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
        <Text size="sm" truncate dir="auto">
          {words === '' ? '…' : words}
        </Text>
        <Text size="sm" fw={600} className="figures" style={{ whiteSpace: 'nowrap' }}>
          {times.audio === undefined ? '' : `${times.audio} ms`}
        </Text>
      </Group>
      <div className={classes.bar} aria-hidden="true">
        {segments.map(({ stage, startMs, endMs }) => (
          <span
            key={stage}
            data-stage={stage}
            style={{ insetInlineStart: percent(startMs), width: percent(endMs - startMs) }}
          />
        ))}
      </div>
      <dl className={classes.stages}>
        {STAGES.map((stage) => {
          const ms = times[stage];
          return (
            ms !== undefined && (
              <div key={stage} data-stage={stage}>
                <dt>{LABELS[stage]}</dt>
                <dd className="figures">{ms} ms</dd>
              </div>
            )
          );
        })}
      </dl>
      <Text size="xs" c="dimmed">
        {STARTS[turn.input]}
      </Text>
    </Stack>
  );
}
