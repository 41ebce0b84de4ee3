/** Splits long audio into windows for Whisper at pauses, so that no word is cut. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

/** Maximum length of a window in samples: the 30 s that Whisper was trained on. */
export const WINDOW_SAMPLES = 30 * LISTEN_RATE_HZ;
/** Minimum length of a cut window in samples: the cut is in the last third. */
const MIN_CUT = 20 * LISTEN_RATE_HZ;

const FRAME_LENGTH = LISTEN_RATE_HZ / 50;
/** Minimum length of a pause in frames of 20 ms. Shorter gaps occur within words: a plosive closure lasts up to 150 ms. */
const MIN_PAUSE_FRAMES = 10;
/** Length in frames of the quietest stretch, which is used if there is no pause. */
const DIP_LENGTH = 5;
/** Minimum level in dB. Lower levels are treated as equal. */
const SILENCE_DB = -80;
/** Share of the loudest and of the quietest frames to ignore as outliers. */
const OUTLIERS = 0.1;
/** Maximum level of a pause, as a share of the range in dB from the quiet level to the loud level. */
const PAUSE_SHARE = 0.3;
/** Minimum difference of the loud and the quiet level, in dB, to detect pauses. It is smaller in noise and music. */
const MIN_CONTRAST_DB = 6;

/**
 * Returns the position at which to cut audio that exceeds one window: the middle of the longest pause in the last 10 s of
 * the window, the later of two equal ones; without a pause, the quietest stretch; without contrast, the end of the window.
 * @param samples mono at {@link LISTEN_RATE_HZ}, {@link WINDOW_SAMPLES} samples from the last cut on.
 * @returns length of the window, in samples.
 */
export function windowCut(samples: Float32Samples): number {
  const levels = frameLevels(samples, MIN_CUT, WINDOW_SAMPLES);
  const quiet = quantile(levels, OUTLIERS);
  const loud = quantile(frameLevels(samples, 0, WINDOW_SAMPLES), 1 - OUTLIERS);
  if (loud - quiet < MIN_CONTRAST_DB) return WINDOW_SAMPLES;
  const pause = longestRunBelow(levels, quiet + PAUSE_SHARE * (loud - quiet));
  const [start, end] =
    pause.end - pause.start >= MIN_PAUSE_FRAMES ? [pause.start, pause.end] : quietestStretch(levels);
  return MIN_CUT + Math.round(((start + end) / 2) * FRAME_LENGTH);
}

/** Level of each frame in dBFS. */
function frameLevels(samples: Float32Samples, from: number, to: number): Float64Array {
  const levels = new Float64Array((to - from) / FRAME_LENGTH);
  for (let frame = 0; frame < levels.length; frame++) {
    const start = from + frame * FRAME_LENGTH;
    let energy = 0;
    for (let index = start; index < start + FRAME_LENGTH; index++) {
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

/** The longest run of frames with levels up to a limit, the last of equals; empty when there is none. */
function longestRunBelow(
  levels: Float64Array,
  limit: number,
): { readonly start: number; readonly end: number } {
  let longest = { start: 0, end: 0 };
  let start = 0;
  for (let end = 1; end <= levels.length; end++) {
    if ((levels[end - 1] as number) > limit) start = end;
    else if (end - start >= longest.end - longest.start) longest = { start, end };
  }
  return longest;
}

/** Start and end of the stretch of {@link DIP_LENGTH} frames with the lowest mean level, the last of equals. */
function quietestStretch(levels: Float64Array): [start: number, end: number] {
  let best = 0;
  let min = Number.POSITIVE_INFINITY;
  for (let start = 0; start + DIP_LENGTH <= levels.length; start++) {
    let sum = 0;
    for (let frame = start; frame < start + DIP_LENGTH; frame++) sum += levels[frame] as number;
    if (sum <= min) {
      min = sum;
      best = start;
    }
  }
  return [best, best + DIP_LENGTH];
}
