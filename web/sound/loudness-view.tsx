import { useEffect, useRef } from 'react';
import { BAR_MS, heightOf, type LoudnessTrack } from './loudness-track.ts';
import classes from './loudness-view.module.css';
import { type SoundColors, useSoundColors } from './sound-colors.ts';

const BAR_PX = 3;
/** Times stand under the bars, so far apart. */
const TICK_S = 5;
const TICKS_PX = 14;

/**
 * The newest of a sound, the latest at the right; what is marked of it stands out, with a line where a mark begins and one where
 * it ends.
 */
export function LoudnessView(props: {
  readonly track: LoudnessTrack;
  /** What the picture is, for who does not see it. */
  readonly label: string;
  readonly heightPx?: number;
}) {
  const { track, label, heightPx = 96 } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const colors = useSoundColors();
  useEffect(() => {
    const drawn = canvas.current;
    if (drawn === null) return;
    let frame = 0;
    // However often the sound changes, it is drawn once a frame.
    const ask = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    const draw = () => {
      frame = 0;
      paint(drawn, track, colors);
    };
    const end = track.subscribe(ask);
    const resized = new ResizeObserver(ask);
    resized.observe(drawn);
    return () => {
      end();
      resized.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [track, colors]);
  return (
    <canvas
      ref={canvas}
      className={classes.canvas}
      style={{ height: heightPx }}
      role="img"
      aria-label={label}
    />
  );
}

function paint(canvas: HTMLCanvasElement, track: LoudnessTrack, colors: SoundColors): void {
  const brush = canvas.getContext('2d');
  if (brush === null) return;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  brush.scale(devicePixelRatio, devicePixelRatio);
  const { bars, before, marks, lengthMs } = track;
  const bottom = height - TICKS_PX;
  /** Where a moment of the sound stands. */
  const xOf = (ms: number) => width - ((lengthMs - ms) / BAR_MS) * BAR_PX;

  brush.fillStyle = colors.words;
  brush.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  for (let second = 0; second * 1000 <= lengthMs; second += TICK_S) {
    const x = xOf(second * 1000);
    if (x >= 0) brush.fillText(`${second} s`, x + 2, height - 2);
  }
  const first = Math.max(0, bars.length - Math.ceil(width / BAR_PX));
  for (let at = first; at < bars.length; at += 1) {
    const startMs = (before + at) * BAR_MS;
    const isMarked = marks.some((mark) => startMs + BAR_MS > mark.startMs && startMs < mark.endMs);
    const tall = Math.max(2, heightOf(bars[at] ?? 0) * (bottom - 6));
    brush.fillStyle = isMarked ? colors.marked : colors.wave;
    brush.fillRect(xOf(startMs), (bottom - tall) / 2, BAR_PX - 1, tall);
  }
  brush.fillStyle = colors.marked;
  for (const { startMs, endMs } of marks) {
    for (const ms of [startMs, endMs]) {
      if (Number.isFinite(ms)) brush.fillRect(Math.round(xOf(ms)), 0, 1, bottom);
    }
  }
}
