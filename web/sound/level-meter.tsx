import { Progress } from '@mantine/core';
import { useCallback, useSyncExternalStore } from 'react';
import { heightOf, type LoudnessTrack } from './loudness-track.ts';

/** From here on a recording is cut off where it is loud. */
const TOO_LOUD = 0.98;
/** A voice that is quieter than this is hard to hear. */
const LOUD_ENOUGH = 0.03;

/** How loud a sound is at this moment, in shares of a line, with a colour for what is too much. */
export function LevelMeter({ track, label }: { readonly track: LoudnessTrack; readonly label: string }) {
  const subscribe = useCallback((listener: () => void) => track.subscribe(listener), [track]);
  const level = useSyncExternalStore(subscribe, () => track.level);
  const color = level >= TOO_LOUD ? 'red' : level < LOUD_ENOUGH ? 'gray' : 'green';
  const percent = Math.round(heightOf(level) * 100);
  return (
    <Progress.Root size="md" transitionDuration={60}>
      <Progress.Section
        value={percent}
        color={color}
        role="meter"
        aria-label={label}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      />
    </Progress.Root>
  );
}
