/** What of a clip's last frames is of one piece with the very last. */

import { denseFlow } from './dense-flow.ts';
import { difference, type Luma } from './luma.ts';

/** So much more than what frames usually differ by is a cut, */
const CUT = 5;
/** if it is at least so many grey values. */
const MIN_CUT = 10;
/** Frames whose light was so different, in grey values, are of another part of a fade. */
const LIGHT_RANGE = 4;
/** Weight of a place with nothing to hold on to: enough where all are so. */
const MIN_TRUST = 0.001;
/** How much farther a twin may be than one frame is from the next, */
const TWIN = 1.2;
/** and this, in grey values. */
const TWIN_SLACK = 0.2;
/** Frames before a moment that must be alike, too, so that what moves moves the same way. */
const WINDOW = 3;

/**
 * Index of the first frame from which on nothing is cut and the light is about as it is at the end.
 * @param tail pyramids of the frames, finest first; small ones will do.
 */
export function wholeFrom(tail: readonly (readonly Luma[])[]): number {
  const steps = stepsOf(tail.map(([finest]) => finest as Luma));
  const usual = median(steps);
  let light = 0;
  for (let first = tail.length - 1; first > 0; first--) {
    const step = steps[first - 1] as number;
    if (step > Math.max(MIN_CUT, CUT * usual)) return first;
    light += lightChange(tail[first - 1] as readonly Luma[], tail[first] as readonly Luma[]);
    if (Math.abs(light) > LIGHT_RANGE) return first;
  }
  return 0;
}

/**
 * A moment at which the clip looked and moved as it does at its end, as frames before the last (negative); the
 * earliest of those that are about as good as the best.
 * @param least frames that must lie between.
 * @returns undefined when there is none that differs from the end only as much as a frame does from the next.
 */
export function twinOfEnd(tail: readonly Luma[], least: number): number | undefined {
  const last = tail.length - 1;
  const distances: number[] = [];
  for (let at = WINDOW - 1; at <= last - least; at++) {
    let sum = 0;
    for (let back = 0; back < WINDOW; back++) {
      sum += difference(tail[at - back] as Luma, tail[last - back] as Luma);
    }
    distances.push(sum / WINDOW);
  }
  if (distances.length === 0) return undefined;
  const steps = stepsOf(tail);
  const best = Math.min(...distances);
  if (best > TWIN * median(steps) + TWIN_SLACK) return undefined;
  const earliest = distances.findIndex((distance) => distance <= 1.1 * best + TWIN_SLACK / 2);
  return earliest + WINDOW - 1 - last;
}

/** How much lighter things became, in grey values, wherever they have moved. */
function lightChange(earlier: readonly Luma[], now: readonly Luma[]): number {
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
    // What comes in from outside was not seen before.
    if (fromX < 0 || fromY < 0 || fromX >= before.width || fromY >= before.height) continue;
    const weight = (back.trust[node] as number) + MIN_TRUST;
    const grey = before.data[fromY * before.width + fromX] as number;
    sum += weight * ((after.data[y * after.width + x] as number) - grey);
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

function stepsOf(tail: readonly Luma[]): number[] {
  return tail.slice(1).map((luma, before) => difference(tail[before] as Luma, luma));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
