/**
 * What Kokoro's adaptive norms need to know of an utterance while it is decoded in windows.
 *
 * An instance norm takes mean and variance over the whole utterance, which a window does not see. But each
 * channel's mean and mean square depend mostly on *what kind* of sound a frame holds, and the front knows
 * that for the whole utterance in advance: voiced or not, loud or not. So the statistics of each kind are
 * measured once for a voice, on {@link CALIBRATION_TEXTS}. An utterance's are then measured where it was
 * decoded, and predicted from the kinds of its frames where it was not. What was tried, and how close it
 * came to one-shot synthesis: docs/decisions/kokoro-windows.md.
 */

import { STATISTICS_LENGTH } from '../import/generator-graph.ts';

/** Kinds of frames: unvoiced and voiced, each in three steps of energy. */
export const FRAME_KINDS = 6;
const ENERGY_STEPS = 3;
/** Pitch below which the harmonic source is noise, in Hz (threshold of Kokoro's own source module). */
const VOICED_HZ = 10;
/**
 * Most frames that a prediction may stand for, in text frames of 25 ms. A long stretch of predicted frames
 * must not outvote what was heard: in a text unlike any other ("no no no …") predictions are wrong, and norms
 * that trust them alone let the signal grow from layer to layer.
 */
const MAX_PREDICTED_FRAMES = 100;

/** Sentences that a voice is measured on: statements, questions, numbers, short and long. */
export const CALIBRATION_TEXTS: readonly string[] = [
  'Good morning! The weather today will be mostly sunny, with a high of seventy-two degrees, although some clouds may roll in later this afternoon.',
  'She asked whether you could bring five copies of the report, please.',
  'Yes, I can help you with that right away.',
  'When the old lighthouse keeper climbed the stairs each evening, he always counted the steps aloud: one hundred and ninety-nine in all.',
  'Thank you. Is there anything else?',
  'The quick brown fox jumps over the lazy dog, and nobody knows why it keeps on doing so every single day.',
];

/** Pitch in Hz and log energy, two values for each text frame of 25 ms. */
export interface Prosody {
  readonly pitch: Float32Array;
  readonly energy: Float32Array;
}

/** Statistics of one voice: for each kind of frame, mean and mean square of each norm channel. */
export interface VoiceProfile {
  /** Upper ends of the lower energy steps. */
  readonly energyThresholds: readonly number[];
  /** [FRAME_KINDS x STATISTICS_LENGTH] */
  readonly mean: Float32Array;
  readonly square: Float32Array;
}

/** Averages over the frames of one utterance, as the measuring generator gives them. */
export interface MeasuredUtterance {
  /** Frames of each kind. */
  readonly counts: readonly number[];
  /** [FRAME_KINDS x STATISTICS_LENGTH], zero for kinds that did not occur. */
  readonly mean: Float32Array;
  readonly square: Float32Array;
}

/** Energies that divide the frames of several utterances into equal parts. */
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

/** How many frames there are of each kind. */
export function countKinds(kinds: Uint8Array): number[] {
  const counts = new Array<number>(FRAME_KINDS).fill(0);
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/**
 * Pools the measurements of several utterances. A kind that never occurred gets the average of all frames.
 */
export function poolProfile(
  thresholds: readonly number[],
  utterances: readonly MeasuredUtterance[],
): VoiceProfile {
  const pool = (pick: (u: MeasuredUtterance) => Float32Array): Float32Array => {
    const sums = new Float64Array(FRAME_KINDS * STATISTICS_LENGTH);
    const total = new Float64Array(STATISTICS_LENGTH);
    const frames = new Float64Array(FRAME_KINDS);
    for (const utterance of utterances) {
      const values = pick(utterance);
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
    mean: pool((u) => u.mean),
    square: pool((u) => u.square),
  };
}

export interface WeightedProfile {
  readonly profile: VoiceProfile;
  readonly weight: number;
}

const MIN_VARIANCE = 1e-9;

/**
 * Statistics of a mix of voices, near to measured ones (docs/decisions/stored-voices.md): means, and logarithms of variances, of the
 * parts that give it its sound; thresholds of those that give it its energy.
 * @param timbre weights together 1, as in `prosody`.
 */
export function mixedProfile(
  timbre: readonly WeightedProfile[],
  prosody: readonly WeightedProfile[],
): VoiceProfile {
  const mean = new Float32Array(FRAME_KINDS * STATISTICS_LENGTH);
  const square = new Float32Array(mean.length);
  for (let i = 0; i < mean.length; i++) {
    let [mixed, log, least, most] = [0, 0, Number.POSITIVE_INFINITY, 0];
    for (const { profile, weight } of timbre) {
      const own = profile.mean[i] ?? 0;
      const variance = Math.max(0, (profile.square[i] ?? 0) - own * own);
      mixed += weight * own;
      log += weight * Math.log(Math.max(MIN_VARIANCE, variance));
      least = Math.min(least, variance);
      most = Math.max(most, variance);
    }
    mean[i] = mixed;
    square[i] = mixed * mixed + Math.min(most, Math.max(least, Math.exp(log)));
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

/** A run of text frames, [start, end). */
export interface FrameRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The statistics of an utterance while it is decoded window by window: measured where it was decoded, and
 * predicted from the kinds of the frames where it was not.
 */
export class RunningStatistics {
  readonly #profile: VoiceProfile;
  readonly #kinds: Uint8Array;
  /** Half frames that were not decoded yet, by kind. */
  readonly #remaining: number[];
  /** Sums over the frames that were decoded. */
  readonly #mean = new Float64Array(STATISTICS_LENGTH);
  readonly #square = new Float64Array(STATISTICS_LENGTH);
  #decoded = 0;

  constructor(profile: VoiceProfile, prosody: Prosody) {
    this.#profile = profile;
    this.#kinds = frameKinds(prosody, profile.energyThresholds);
    this.#remaining = countKinds(this.#kinds);
  }

  /** For the next window: what to add to its own statistics, and how much each of its frames counts. */
  before(window: FrameRange): NormStatistics & { readonly share: number } {
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

  /** Takes in what a window gave under the share that it was told. */
  after(window: FrameRange, share: number, own: NormStatistics): void {
    this.#decoded += window.end - window.start;
    own.mean.forEach((value, i) => {
      this.#mean[i] = (this.#mean[i] ?? 0) + value / share;
    });
    own.square.forEach((value, i) => {
      this.#square[i] = (this.#square[i] ?? 0) + value / share;
    });
  }
}
