import { useCallback, useSyncExternalStore } from 'react';
import classes from './level-meter.module.css';
import { heightOf, type LoudnessTrack } from './loudness-track.ts';

/** From here on a recording is cut off where it is loud. */
const TOO_LOUD = 0.98;
/** A voice that is quieter than this is hard to hear. */
const LOUD_ENOUGH = 0.03;

/** How loud a sound is at this moment, as a share of a line, in another colour where it is too much. */
export function LevelMeter({ track, label }: { readonly track: LoudnessTrack; readonly label: string }) {
  const subscribe = useCallback((listener: () => void) => track.subscribe(listener), [track]);
  const level = useSyncExternalStore(subscribe, () => track.level);
  const percent = Math.round(heightOf(level) * 100);
  return (
    // biome-ignore lint/a11y/useSemanticElements: the browser's own element cannot be drawn in the console's colours
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
