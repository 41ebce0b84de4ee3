/**
 * Statistics for Kokoro's adaptive instance norms when an utterance is decoded in windows.
 *
 * An instance norm uses the mean and variance of the whole utterance, which a window does not contain. The mean and mean
 * square of each channel depend mostly on the kind of sound in a frame (voiced or unvoiced, loud or quiet), and the
 * acoustic model provides the kind of every frame in advance. The statistics of each kind are therefore measured once per
 * voice, on {@link CALIBRATION_TEXTS}. For an utterance, they are measured where it is already decoded, and predicted
 * from the kinds of its frames elsewhere. Alternatives and the difference from one-shot synthesis:
 * docs/decisions/kokoro-windows.md.
 */

import { STATISTICS_LENGTH } from '../import/generator-graph.ts';

/** Kinds of frames: unvoiced and voiced, each with three energy levels. */
export const FRAME_KINDS = 6;
const ENERGY_STEPS = 3;
/** Pitch in Hz up to which the harmonic source is noise (threshold of Kokoro's source module). */
const VOICED_HZ = 10;
/**
 * Maximum weight of the predicted frames, in text frames of 25 ms. A long predicted range must not outweigh the measured
 * frames: for an unusual text ("no no no …") predictions are wrong, and norms based only on them let the signal grow from
 * layer to layer.
 */
const MAX_PREDICTED_FRAMES = 100;

/** Sentences on which a voice is measured: statements, questions, numbers, short and long. */
export const CALIBRATION_TEXTS: readonly string[] = [
  'Good morning! The weather today will be mostly sunny, with a high of seventy-two degrees, although some clouds may roll in later this afternoon.',
  'She asked whether you could bring five copies of the report, please.',
  'Yes, I can help you with that right away.',
  'When the old lighthouse keeper climbed the stairs each evening, he always counted the steps aloud: one hundred and ninety-nine in all.',
  'Thank you. Is there anything else?',
  'The quick brown fox jumps over the lazy dog, and nobody knows why it keeps on doing so every single day.',
];

/** Pitch in Hz and log energy, two values per text frame of 25 ms. */
export interface Prosody {
  readonly pitch: Float32Array;
  readonly energy: Float32Array;
}

/** Statistics of one voice: mean and mean square of each norm channel for each kind of frame. */
export interface NormProfile {
  /** Boundaries between the energy levels, ascending. */
  readonly energyThresholds: readonly number[];
  /** [FRAME_KINDS x STATISTICS_LENGTH] */
  readonly mean: Float32Array;
  readonly square: Float32Array;
}

/** Averages over the frames of one utterance, as measured by the generator. */
export interface MeasuredUtterance {
  /** Number of half frames of each kind. */
  readonly counts: readonly number[];
  /** [FRAME_KINDS x STATISTICS_LENGTH], zero for kinds that did not occur. */
  readonly mean: Float32Array;
  readonly square: Float32Array;
}

/** Energies that divide the half frames of several utterances into groups of equal size. */
export function energyThresholds(utterances: readonly Prosody[]): number[] {
  const all = utterances.flatMap(({ energy }) => Array.from(energy)).sort((a, b) => a - b);
  return Array.from({ length: ENERGY_STEPS - 1 }, (_, i) => {
    return all[Math.floor((all.length * (i + 1)) / ENERGY_STEPS)] ?? 0;
  });
}

/** The kind of each half frame, 0 … FRAME_KINDS-1. */
export function frameKinds(prosody: Prosody, thresholds: readonly number[]): Uint8Array {
  return Uint8Array.from(prosody.pitch, (pitch, i) => {
    const energy = prosody.energy[i] ?? 0;
    const step = thresholds.filter((threshold) => energy >= threshold).length;
    return (pitch > VOICED_HZ ? ENERGY_STEPS : 0) + step;
  });
}

/** Number of half frames of each kind. */
export function countKinds(kinds: Uint8Array): number[] {
  const counts = new Array<number>(FRAME_KINDS).fill(0);
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/**
 * Averages the measurements of several utterances. A kind that does not occur gets the average of all frames.
 */
export function poolProfile(
  thresholds: readonly number[],
  utterances: readonly MeasuredUtterance[],
): NormProfile {
  const average = (select: (u: MeasuredUtterance) => Float32Array): Float32Array => {
    const sums = new Float64Array(FRAME_KINDS * STATISTICS_LENGTH);
    const total = new Float64Array(STATISTICS_LENGTH);
    const frames = new Float64Array(FRAME_KINDS);
    for (const utterance of utterances) {
      const values = select(utterance);
      utterance.counts.forEach((count, kind) => {
        frames[kind] = (frames[kind] ?? 0) + count;
        for (let channel = 0; channel < STATISTICS_LENGTH; channel++) {
          const i = kind * STATISTICS_LENGTH + channel;
          const share = count * (values[i] ?? 0);
          sums[i] = (sums[i] ?? 0) + share;
          total[channel] = (total[channel] ?? 0) + share;
        }
      });
    }
    const all = frames.reduce((a, b) => a + b, 0) || 1;
    return Float32Array.from(sums, (sum, i) => {
      const count = frames[Math.floor(i / STATISTICS_LENGTH)] ?? 0;
      return count > 0 ? sum / count : (total[i % STATISTICS_LENGTH] ?? 0) / all;
    });
  };
  return {
    energyThresholds: thresholds,
    mean: average((utterance) => utterance.mean),
    square: average((utterance) => utterance.square),
  };
}

export interface WeightedNormProfile {
  readonly profile: NormProfile;
  readonly weight: number;
}

const MIN_VARIANCE = 1e-9;

/**
 * Estimates the statistics of a mix of voices (comparison with measured ones: docs/decisions/stored-voices.md): weighted
 * means and weighted logarithms of variances of the timbre voices, weighted thresholds of the prosody voices.
 * @param timbre weights with a sum of 1, as in `prosody`.
 */
export function mixProfiles(
  timbre: readonly WeightedNormProfile[],
  prosody: readonly WeightedNormProfile[],
): NormProfile {
  const mean = new Float32Array(FRAME_KINDS * STATISTICS_LENGTH);
  const square = new Float32Array(mean.length);
  for (let i = 0; i < mean.length; i++) {
    let [mixed, log, min, max] = [0, 0, Number.POSITIVE_INFINITY, 0];
    for (const { profile, weight } of timbre) {
      const own = profile.mean[i] ?? 0;
      const variance = Math.max(0, (profile.square[i] ?? 0) - own * own);
      mixed += weight * own;
      log += weight * Math.log(Math.max(MIN_VARIANCE, variance));
      min = Math.min(min, variance);
      max = Math.max(max, variance);
    }
    mean[i] = mixed;
    // A negative weight must not extrapolate beyond the variances of the voices.
    square[i] = mixed * mixed + Math.min(max, Math.max(min, Math.exp(log)));
  }
  const energyThresholds = Array.from({ length: ENERGY_STEPS - 1 }, (_, step) =>
    prosody.reduce((sum, { profile, weight }) => sum + weight * (profile.energyThresholds[step] ?? 0), 0),
  );
  return { energyThresholds, mean, square };
}

/** Mean and mean square of every norm channel, [STATISTICS_LENGTH] each. */
export interface NormStatistics {
  readonly mean: Float32Array;
  readonly square: Float32Array;
}

/** A range of text frames, [start, end). */
export interface FrameRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Norm statistics of an utterance that is decoded window by window: measured for the decoded frames, and predicted from
 * their kinds for the remaining frames.
 */
export class WindowStatistics {
  readonly #profile: NormProfile;
  readonly #kinds: Uint8Array;
  /** Half frames that are not decoded yet, by kind. */
  readonly #remaining: number[];
  /** Sums over the decoded frames. */
  readonly #mean = new Float64Array(STATISTICS_LENGTH);
  readonly #square = new Float64Array(STATISTICS_LENGTH);
  #decoded = 0;

  constructor(profile: NormProfile, prosody: Prosody) {
    this.#profile = profile;
    this.#kinds = frameKinds(prosody, profile.energyThresholds);
    this.#remaining = countKinds(this.#kinds);
  }

  /** Input for the next window: the statistics to add to its own, and the weight (`share`) of each of its frames. */
  inputFor(window: FrameRange): NormStatistics & { readonly share: number } {
    const own = countKinds(this.#kinds.subarray(2 * window.start, 2 * window.end));
    own.forEach((count, kind) => {
      this.#remaining[kind] = (this.#remaining[kind] ?? 0) - count;
    });
    const frames = this.#remaining.reduce((sum, count) => sum + count, 0) / 2;
    const weight = Math.min(frames, MAX_PREDICTED_FRAMES);
    const share = 1 / (this.#decoded + (window.end - window.start) + weight);
    const perHalfFrame = frames > 0 ? weight / (2 * frames) : 0;
    const { mean, square } = this.#profile;
    const mix = (decoded: Float64Array, predicted: Float32Array) =>
      Float32Array.from(decoded, (sum, channel) => {
        const rest = this.#remaining.reduce((total, count, kind) => {
          return total + count * (predicted[kind * STATISTICS_LENGTH + channel] ?? 0);
        }, 0);
        return (sum + rest * perHalfFrame) * share;
      });
    return { share, mean: mix(this.#mean, mean), square: mix(this.#square, square) };
  }

  /** Adds the statistics that were measured in a window, weighted with the `share` of {@link inputFor}. */
  recordWindow(window: FrameRange, share: number, own: NormStatistics): void {
    this.#decoded += window.end - window.start;
    own.mean.forEach((value, i) => {
      this.#mean[i] = (this.#mean[i] ?? 0) + value / share;
    });
    own.square.forEach((value, i) => {
      this.#square[i] = (this.#square[i] ?? 0) + value / share;
    });
  }
}
