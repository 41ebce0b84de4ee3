import { useEffect, useRef } from 'react';
import { BAR_MS, heightOf, type LoudnessTrack } from './loudness-track.ts';
import classes from './loudness-view.module.css';
import { type SoundColors, useSoundColors } from './sound-colors.ts';

const BAR_PX = 3;
/** Distance of the time labels in seconds. */
const TICK_S = 5;
const TICKS_PX = 14;

/**
 * Scrolling loudness graph, newest at the right. Marked ranges are highlighted, with lines at their start and
 * end.
 */
export function LoudnessView(props: {
  readonly track: LoudnessTrack;
  /** Accessible name of the graph. */
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
    // At most one draw per animation frame.
    const params = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    const draw = () => {
      frame = 0;
      paint(drawn, track, colors);
    };
    const end = track.subscribe(params);
    const resized = new ResizeObserver(params);
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
  /** Horizontal position of a moment. */
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
