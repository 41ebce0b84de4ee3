/**
 * What Kokoro's adaptive norms need to know of an utterance before it is decoded.
 *
 * An instance norm takes mean and variance over the whole utterance, which a window does not see. Taken
 * from the window alone, loudness wanders (correlation of the loudness envelope with the one-shot result
 * 0.71–0.98 at 0.3 s windows). But each channel's mean and mean square depend mostly on *what kind* of
 * sound a frame holds, and the front knows that for the whole utterance in advance: voiced or not, loud or
 * not. So the statistics of each kind are measured once for a voice, on {@link CALIBRATION_TEXTS}, and an
 * utterance's are their average in the proportions of its kinds. Envelope correlation with one-shot
 * synthesis: 0.991–0.995 over eight texts, and the result does not depend on how windows are cut.
 */

import { STATISTICS_LENGTH } from './generator-graph.ts';

/** Kinds of frames: unvoiced and voiced, each in three steps of energy. */
export const FRAME_KINDS = 6;
const ENERGY_STEPS = 3;
/** Pitch below which the harmonic source is noise, in Hz (threshold of Kokoro's own source module). */
const VOICED_HZ = 10;
const EPSILON = 1e-5;

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

/** Gain and offset of every norm channel, `y = x * gain + offset`. */
export interface NormAffine {
  /** [STATISTICS_LENGTH] */
  readonly gain: Float32Array;
  readonly offset: Float32Array;
}

/**
 * Predicts the norms of an utterance.
 * @param style the front's `affine`: for each norm its channels' gain-1, then their offsets.
 * @param normChannels channels of each norm, in order.
 */
export function predictNorms(
  profile: VoiceProfile,
  prosody: Prosody,
  style: Float32Array,
  normChannels: readonly number[],
): NormAffine {
  const counts = countKinds(frameKinds(prosody, profile.energyThresholds));
  const frames = prosody.pitch.length || 1;
  const gain = new Float32Array(STATISTICS_LENGTH);
  const offset = new Float32Array(STATISTICS_LENGTH);
  let channel = 0;
  for (const channels of normChannels) {
    const styleStart = 2 * channel;
    for (let c = 0; c < channels; c++, channel++) {
      let mean = 0;
      let square = 0;
      for (let kind = 0; kind < FRAME_KINDS; kind++) {
        const share = (counts[kind] ?? 0) / frames;
        mean += share * (profile.mean[kind * STATISTICS_LENGTH + channel] ?? 0);
        square += share * (profile.square[kind * STATISTICS_LENGTH + channel] ?? 0);
      }
      const deviation = Math.sqrt(Math.max(square - mean * mean, 0) + EPSILON);
      const g = (1 + (style[styleStart + c] ?? 0)) / deviation;
      gain[channel] = g;
      offset[channel] = (style[styleStart + channels + c] ?? 0) - mean * g;
    }
  }
  return { gain, offset };
}
