/** Where long audio is cut into windows that Whisper can take: in a pause, so that no word is cut. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

/** Most samples of one window: the 30 s that Whisper was trained on. */
export const WINDOW_SAMPLES = 30 * LISTEN_RATE_HZ;
/** A cut is looked for in the last third, so windows are seldom short. */
const EARLIEST_CUT = 20 * LISTEN_RATE_HZ;

const FRAME_LENGTH = LISTEN_RATE_HZ / 50;
/** Frames of 20 ms; shorter gaps are inside words: a stop's closure lasts up to 150 ms. */
const SHORTEST_PAUSE = 10;
/** Without a pause, the quietest stretch of this many frames is taken. */
const DIP_LENGTH = 5;
/** Level of silence in dB, below which differences mean nothing. */
const SILENCE_DB = -80;
/** Share of loud and quiet frames that may be chance. */
const OUTLIERS = 0.1;
/** Frames count as a pause up to this share of the way, in dB, from the quiet level to the loud one. */
const PAUSE_SHARE = 0.3;
/** Loud and quiet must be that far apart, in dB, to be speech and pause; noise and music are not. */
const MIN_CONTRAST_DB = 6;

/**
 * Where to cut audio of which no more than a window's worth may be taken at once: the middle of the longest
 * pause in its last 10 s, the later of two equal ones; without a pause the quietest moment; at the end where all
 * is equally loud. It depends on the samples alone.
 * @param samples mono at {@link LISTEN_RATE_HZ}, {@link WINDOW_SAMPLES} of them from the last cut on.
 * @returns how many of the samples belong to the window.
 */
export function windowCut(samples: Float32Samples): number {
  const levels = frameLevels(samples, EARLIEST_CUT, WINDOW_SAMPLES);
  const quiet = quantile(levels, OUTLIERS);
  const loud = quantile(frameLevels(samples, 0, WINDOW_SAMPLES), 1 - OUTLIERS);
  if (loud - quiet < MIN_CONTRAST_DB) return WINDOW_SAMPLES;
  const pause = longestRunBelow(levels, quiet + PAUSE_SHARE * (loud - quiet));
  const [begin, end] =
    pause.end - pause.begin >= SHORTEST_PAUSE ? [pause.begin, pause.end] : quietestStretch(levels);
  return EARLIEST_CUT + Math.round(((begin + end) / 2) * FRAME_LENGTH);
}

/** Level of each frame in dB of full scale. */
function frameLevels(samples: Float32Samples, from: number, to: number): Float64Array {
  const levels = new Float64Array((to - from) / FRAME_LENGTH);
  for (let frame = 0; frame < levels.length; frame++) {
    const begin = from + frame * FRAME_LENGTH;
    let energy = 0;
    for (let index = begin; index < begin + FRAME_LENGTH; index++) {
      const sample = samples[index] as number;
      energy += sample * sample;
    }
    levels[frame] = Math.max(SILENCE_DB, 10 * Math.log10(energy / FRAME_LENGTH));
  }
  return levels;
}

function quantile(values: Float64Array, share: number): number {
  return values.toSorted()[Math.floor(share * (values.length - 1))] as number;
}

/** The longest run of levels up to a limit, the last of equals; empty when there is none. */
function longestRunBelow(
  levels: Float64Array,
  limit: number,
): { readonly begin: number; readonly end: number } {
  let longest = { begin: 0, end: 0 };
  let begin = 0;
  for (let end = 1; end <= levels.length; end++) {
    if ((levels[end - 1] as number) > limit) begin = end;
    else if (end - begin >= longest.end - longest.begin) longest = { begin, end };
  }
  return longest;
}

/** Begin and end of the stretch of {@link DIP_LENGTH} frames with the lowest mean level, the last of equals. */
function quietestStretch(levels: Float64Array): [begin: number, end: number] {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let begin = 0; begin + DIP_LENGTH <= levels.length; begin++) {
    let sum = 0;
    for (let frame = begin; frame < begin + DIP_LENGTH; frame++) sum += levels[frame] as number;
    if (sum <= least) {
      least = sum;
      best = begin;
    }
  }
  return [best, best + DIP_LENGTH];
}
