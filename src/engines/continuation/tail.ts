/** What of a clip's last frames is of one piece with the very last. */

import { brightness, difference, type Luma } from './luma.ts';

/** So much more than what frames usually differ by is a cut, */
const CUT = 5;
/** if it is at least so many grey values. */
const LEAST_CUT = 10;
/** Frames that differ so much in their light from the last are of another part of a fade. */
const LIGHT_RANGE = 4;
/** How much farther a twin may be than one frame is from the next, */
const TWIN = 1.2;
/** and this, in grey values. */
const TWIN_SLACK = 0.2;
/** Frames before a moment that must be alike, too, so that what moves moves the same way. */
const WINDOW = 3;

/** Index of the first frame from which on nothing is cut and the light stays about as it is at the end. */
export function wholeFrom(tail: readonly Luma[]): number {
  const steps = tail.slice(1).map((luma, before) => difference(tail[before] as Luma, luma));
  const usual = median(steps);
  const end = brightness(tail.at(-1) as Luma);
  let first = tail.length - 1;
  while (first > 0) {
    if ((steps[first - 1] as number) > Math.max(LEAST_CUT, CUT * usual)) break;
    if (Math.abs(brightness(tail[first - 1] as Luma) - end) > LIGHT_RANGE) break;
    first--;
  }
  return first;
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
  const steps = tail.slice(1).map((luma, before) => difference(tail[before] as Luma, luma));
  const best = Math.min(...distances);
  if (best > TWIN * median(steps) + TWIN_SLACK) return undefined;
  const earliest = distances.findIndex((distance) => distance <= 1.1 * best + TWIN_SLACK / 2);
  return earliest + WINDOW - 1 - last;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
