/** Analyses the last frames of a clip: finds cuts and fades, and moments that match the end. */

import { denseFlow } from './dense-flow.ts';
import { type Luma, meanDifference } from './luma.ts';

/** A cut is a frame difference of at least this multiple of the median, */
const CUT_RATIO = 5;
/** and of at least this many grey levels. */
const MIN_CUT_DIFFERENCE = 10;
/** Frames with a larger difference in brightness from the end, in grey levels, belong to a fade. */
const MAX_BRIGHTNESS_CHANGE = 4;
/** Weight of a node without texture, so that a picture without any texture has a result. */
const MIN_TRUST = 0.001;
/** Maximum difference of a loop point from the end: this multiple of the median frame difference, */
const LOOP_RATIO = 1.2;
/** plus this many grey levels. */
const LOOP_SLACK = 0.2;
/** Number of consecutive frames that are compared, so that the direction of motion matches as well. */
const WINDOW = 3;

/**
 * Index of the first frame that is not separated from the end by a cut or a change of brightness.
 * @param tail pyramids of the frames, finest level first. Low resolutions are sufficient.
 */
export function continuousStart(tail: readonly (readonly Luma[])[]): number {
  const steps = stepsOf(tail.map(([finest]) => finest as Luma));
  const medianStep = median(steps);
  let brightness = 0;
  for (let first = tail.length - 1; first > 0; first--) {
    const step = steps[first - 1] as number;
    if (step > Math.max(MIN_CUT_DIFFERENCE, CUT_RATIO * medianStep)) return first;
    brightness += brightnessChange(tail[first - 1] as readonly Luma[], tail[first] as readonly Luma[]);
    if (Math.abs(brightness) > MAX_BRIGHTNESS_CHANGE) return first;
  }
  return 0;
}

/**
 * Finds the earliest moment at which the clip matches its end in appearance and motion nearly as well as the best one.
 * @param minDistance minimum number of frames between the moment and the end.
 * @returns the number of frames before the last, negative; undefined if no moment is as similar to the end as consecutive
 *   frames are to each other.
 */
export function findLoopPoint(tail: readonly Luma[], minDistance: number): number | undefined {
  const last = tail.length - 1;
  const distances: number[] = [];
  for (let at = WINDOW - 1; at <= last - minDistance; at++) {
    let sum = 0;
    for (let back = 0; back < WINDOW; back++) {
      sum += meanDifference(tail[at - back] as Luma, tail[last - back] as Luma);
    }
    distances.push(sum / WINDOW);
  }
  if (distances.length === 0) return undefined;
  const steps = stepsOf(tail);
  const best = Math.min(...distances);
  if (best > LOOP_RATIO * median(steps) + LOOP_SLACK) return undefined;
  const earliest = distances.findIndex((distance) => distance <= 1.1 * best + LOOP_SLACK / 2);
  return earliest + WINDOW - 1 - last;
}

/** Mean change of brightness in grey levels, measured along the motion. */
function brightnessChange(earlier: readonly Luma[], now: readonly Luma[]): number {
  const back = denseFlow(now, earlier, 1);
  const { columns, origin, step } = back.grid;
  const after = now[0] as Luma;
  const before = earlier[0] as Luma;
  let sum = 0;
  let weights = 0;
  for (let node = 0; node < back.x.length; node++) {
    const x = Math.round(origin + step * (node % columns));
    const y = Math.round(origin + step * Math.floor(node / columns));
    const fromX = Math.round(x + (back.x[node] as number));
    const fromY = Math.round(y + (back.y[node] as number));
    // Ignore positions outside the earlier picture.
    if (fromX < 0 || fromY < 0 || fromX >= before.width || fromY >= before.height) continue;
    const weight = (back.trust[node] as number) + MIN_TRUST;
    const grey = before.data[fromY * before.width + fromX] as number;
    sum += weight * ((after.data[y * after.width + x] as number) - grey);
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

function stepsOf(tail: readonly Luma[]): number[] {
  return tail.slice(1).map((luma, before) => meanDifference(tail[before] as Luma, luma));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
