/** Median pitch of a voice. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

/** Pitch is estimated at half the sample rate, because its relevant harmonics are below 4 kHz. */
const RATE_HZ = LISTEN_RATE_HZ / 2;
const MIN_HZ = 60;
const MAX_HZ = 450;
const MAX_PERIOD = Math.ceil(RATE_HZ / MIN_HZ);
const MIN_PERIOD = Math.floor(RATE_HZ / MAX_HZ);
/** Two maximum periods. */
const WINDOW = 2 * MAX_PERIOD;
/** 20 ms. */
const HOP = RATE_HZ / 50;
/** Minimum periodicity of a voiced frame. */
const VOICED = 0.7;
/** Factor by which a period must exceed its half in periodicity to be preferred, because both are periodic. */
const OCTAVE_COST = 0.9;
/** Frames below this share of the level of the loudest frame are ignored. */
const QUIET = 0.1;
const MIN_FRAMES = 5;

/**
 * Estimates the median pitch of the voiced frames by normalised autocorrelation (Boersma 1993, without the path search,
 * which a median does not need).
 * @param samples mono at {@link LISTEN_RATE_HZ}.
 * @returns Hz, from {@link MIN_HZ} to {@link MAX_HZ}; undefined when hardly any audio is voiced.
 */
export function medianPitch(samples: Float32Samples): number | undefined {
  const halved = Float32Array.from(
    { length: samples.length >> 1 },
    (_, i) => ((samples[2 * i] ?? 0) + (samples[2 * i + 1] ?? 0)) / 2,
  );
  const starts: number[] = [];
  for (let start = 0; start + WINDOW + MAX_PERIOD <= halved.length; start += HOP) starts.push(start);
  const levels = starts.map((start) => Math.sqrt(energy(halved, start)));
  const quiet = QUIET * levels.reduce((max, level) => Math.max(max, level), 0);
  const pitches = starts
    .filter((_, i) => (levels[i] ?? 0) > quiet)
    .flatMap((start) => {
      const period = periodAt(halved, start);
      return period === undefined ? [] : [RATE_HZ / period];
    })
    .sort((a, b) => a - b);
  return pitches.length < MIN_FRAMES ? undefined : pitches[pitches.length >> 1];
}

/** Period of a frame in samples; undefined when the frame is not periodic. */
function periodAt(samples: Float32Array, start: number): number | undefined {
  const frameEnergy = energy(samples, start);
  const values = new Float64Array(MAX_PERIOD + 1);
  let laggedEnergy = energy(samples, start + MIN_PERIOD);
  for (let lag = MIN_PERIOD; lag <= MAX_PERIOD; lag++) {
    let product = 0;
    for (let i = start; i < start + WINDOW; i++)
      product += (samples[i] as number) * (samples[i + lag] as number);
    values[lag] = product / Math.sqrt(frameEnergy * laggedEnergy + 1e-12);
    const [leaving, entering] = [samples[start + lag] ?? 0, samples[start + lag + WINDOW] ?? 0];
    laggedEnergy = Math.max(0, laggedEnergy + entering * entering - leaving * leaving);
  }
  const best = values.reduce((max, value) => Math.max(max, value), 0);
  if (best < VOICED) return undefined;
  for (let lag = MIN_PERIOD + 1; lag < MAX_PERIOD; lag++) {
    const [before = 0, here = 0, after = 0] = values.subarray(lag - 1, lag + 2);
    if (here < OCTAVE_COST * best || here < before || here < after) continue;
    // Parabolic interpolation of the peak.
    const curvature = before - 2 * here + after;
    return lag + (curvature < 0 ? (before - after) / (2 * curvature) : 0);
  }
  return undefined;
}

function energy(samples: Float32Array, start: number): number {
  let sum = 0;
  for (let i = start; i < start + WINDOW; i++) sum += (samples[i] ?? 0) ** 2;
  return sum;
}
