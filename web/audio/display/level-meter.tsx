import { useCallback, useSyncExternalStore } from 'react';
import classes from './level-meter.module.css';
import { heightOf, type LoudnessTrack } from './loudness-track.ts';

/** Peak level above which the recording probably clips. */
const TOO_LOUD = 0.98;
/** Peak level below which a voice is too quiet. */
const LOUD_ENOUGH = 0.03;

/** Current level of a sound as a bar that changes its colour when the level is too high. */
export function LevelMeter({ track, label }: { readonly track: LoudnessTrack; readonly label: string }) {
  const subscribe = useCallback((listener: () => void) => track.subscribe(listener), [track]);
  const level = useSyncExternalStore(subscribe, () => track.level);
  const percent = Math.round(heightOf(level) * 100);
  return (
    // biome-ignore lint/a11y/useSemanticElements: `meter` cannot be styled with the colours of the console
    <div
      className={classes.meter}
      role="meter"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      data-level={level >= TOO_LOUD ? 'loud' : level < LOUD_ENOUGH ? 'quiet' : 'good'}
    >
      <div className={classes.level} style={{ width: `${percent}%` }} />
    </div>
  );
}
