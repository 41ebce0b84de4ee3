/** How high a voice is. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

/** Pitch is looked for at half the rate: its harmonics lie below 4 kHz. */
const RATE_HZ = LISTEN_RATE_HZ / 2;
const LOWEST_HZ = 60;
const HIGHEST_HZ = 450;
const LONGEST = Math.ceil(RATE_HZ / LOWEST_HZ);
const SHORTEST = Math.floor(RATE_HZ / HIGHEST_HZ);
/** Two of the longest periods. */
const WINDOW = 2 * LONGEST;
/** 20 ms. */
const HOP = RATE_HZ / 50;
/** Periodicity above which a frame is voiced. */
const VOICED = 0.7;
/** A longer period must be so much better than its half, which is as periodic. */
const OCTAVE_COST = 0.9;
/** Frames quieter than this part of the loudest are left out. */
const QUIET = 0.1;
const MIN_FRAMES = 5;

/**
 * Median pitch of the voiced frames, by normalised autocorrelation (Boersma 1993 without its path search: a median needs none).
 * @param samples mono at {@link LISTEN_RATE_HZ}.
 * @returns Hz, from {@link LOWEST_HZ} to {@link HIGHEST_HZ}; undefined where hardly anything is voiced.
 */
export function medianPitch(samples: Float32Samples): number | undefined {
  const halved = Float32Array.from(
    { length: samples.length >> 1 },
    (_, i) => ((samples[2 * i] ?? 0) + (samples[2 * i + 1] ?? 0)) / 2,
  );
  const starts: number[] = [];
  for (let start = 0; start + WINDOW + LONGEST <= halved.length; start += HOP) starts.push(start);
  const levels = starts.map((start) => Math.sqrt(energy(halved, start)));
  const quiet = QUIET * levels.reduce((most, level) => Math.max(most, level), 0);
  const pitches = starts
    .filter((_, i) => (levels[i] ?? 0) > quiet)
    .flatMap((start) => {
      const period = periodAt(halved, start);
      return period === undefined ? [] : [RATE_HZ / period];
    })
    .sort((a, b) => a - b);
  return pitches.length < MIN_FRAMES ? undefined : pitches[pitches.length >> 1];
}

/** In samples; undefined when the frame is not periodic. */
function periodAt(samples: Float32Array, start: number): number | undefined {
  const own = energy(samples, start);
  const values = new Float64Array(LONGEST + 1);
  let other = energy(samples, start + SHORTEST);
  for (let lag = SHORTEST; lag <= LONGEST; lag++) {
    let product = 0;
    for (let i = start; i < start + WINDOW; i++)
      product += (samples[i] as number) * (samples[i + lag] as number);
    values[lag] = product / Math.sqrt(own * other + 1e-12);
    const [leaves, enters] = [samples[start + lag] ?? 0, samples[start + lag + WINDOW] ?? 0];
    other = Math.max(0, other + enters * enters - leaves * leaves);
  }
  const best = values.reduce((most, value) => Math.max(most, value), 0);
  if (best < VOICED) return undefined;
  for (let lag = SHORTEST + 1; lag < LONGEST; lag++) {
    const [before = 0, here = 0, after = 0] = values.subarray(lag - 1, lag + 2);
    if (here < OCTAVE_COST * best || here < before || here < after) continue;
    // The peak of the parabola through the three.
    const bend = before - 2 * here + after;
    return lag + (bend < 0 ? (before - after) / (2 * bend) : 0);
  }
  return undefined;
}

function energy(samples: Float32Array, start: number): number {
  let sum = 0;
  for (let i = start; i < start + WINDOW; i++) sum += (samples[i] ?? 0) ** 2;
  return sum;
}
