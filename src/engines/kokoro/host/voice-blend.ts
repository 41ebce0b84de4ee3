/**
 * Computes the mix of Kokoro's preset voices that is most similar to a speaker, without synthesis.
 *
 * The speaker embedding of a mix is close to the mix of the embeddings (measured cosine similarity: 0.91; two texts of
 * one voice have 0.92), so the mix follows from the embeddings alone (docs/decisions/stored-voices.md).
 */

import type { SpeakerPrint } from '../../../contract/engines/voice.ts';
import { cosineSimilarity } from '../../speakers/host/voice-print.ts';
import type { KokoroMix, VoiceWeights } from '../shared/voice-mix.ts';

/** The speaker to approximate. */
export type TargetSpeaker = Pick<SpeakerPrint, 'embedding' | 'pitchHz'>;

/** A preset voice of the model, and how its speech sounds. */
export interface PresetVoice {
  readonly name: string;
  /** Speaker embedding, normalized to length 1. */
  readonly embedding: Float32Array;
  /** Median pitch in Hz. */
  readonly pitchHz: number;
}

/**
 * Ridge penalty on the weights. The embeddings of the presets are similar to each other, so a small penalty gives a
 * closer mix whose weights lead further away from the model's own voices.
 */
const RIDGE = 0.03;
/** Smaller weights are dropped. */
const NEGLIGIBLE_WEIGHT = 0.01;
const DESCENT_ITERATIONS = 200;
/** Below this weight the speech degrades, because the model was not trained on such styles. */
const MIN_WEIGHT = -0.3;
/** The median pitch of a short clip may be wrong by an octave, and a large pitch shift sounds artificial. */
const PITCH_SCALE = { min: 0.75, max: 1.33 };
/** Scale in natural logarithms of the pitch distance at which a preset stops contributing prosody. */
const PROSODY_PITCH_SCALE = 0.15;

/** The mix whose embedding is predicted to be most similar to the speaker's. @param presets at least one. */
export function blendFor(speaker: TargetSpeaker, presets: readonly PresetVoice[]): KokoroMix {
  const embeddings = presets.map(({ embedding }) => embedding);
  const weights = normalizedWeights(ridgeWeights(speaker.embedding, embeddings));
  // An embedding does not describe prosody. It is taken from the most similar voices with a similar pitch.
  const proximity = presets.map(({ pitchHz }) =>
    speaker.pitchHz === undefined
      ? 1
      : Math.exp(-Math.abs(Math.log(pitchHz / speaker.pitchHz)) / PROSODY_PITCH_SCALE),
  );
  const prosody = normalizedWeights(weights.map((weight, i) => Math.max(0, weight) * (proximity[i] ?? 0)));
  return {
    timbre: weightsByName(presets, weights),
    prosody: weightsByName(presets, prosody),
    pitchScale: pitchScaleFor(speaker, prosody, presets),
  };
}

/** Factor that brings the pitch of a prosody to the speaker's; 1 if that is unknown. */
function pitchScaleFor(
  { pitchHz }: TargetSpeaker,
  prosody: readonly number[],
  presets: readonly PresetVoice[],
): number {
  if (pitchHz === undefined) return 1;
  // The pitch of a mix is the geometric mean of the presets' pitches, by weight (measured error: at most 4 %).
  const log = presets.reduce((sum, preset, i) => sum + (prosody[i] ?? 0) * Math.log(preset.pitchHz), 0);
  return Math.min(PITCH_SCALE.max, Math.max(PITCH_SCALE.min, pitchHz / Math.exp(log)));
}

/** Weights whose sum of `vectors` approximates `target`: ridge regression by coordinate descent. */
function ridgeWeights(target: Float32Array, vectors: readonly Float32Array[]): number[] {
  const products = vectors.map((one) => vectors.map((other) => cosineSimilarity(one, other)));
  const projections = vectors.map((vector) => cosineSimilarity(vector, target));
  const weights = vectors.map(() => 0);
  for (let iteration = 0; iteration < DESCENT_ITERATIONS; iteration++) {
    for (const [i, row] of products.entries()) {
      const fitted = row.reduce((sum, product, j) => sum + product * (weights[j] ?? 0), 0);
      const own = row[i] ?? 1;
      const weight = ((projections[i] ?? 0) - fitted + own * (weights[i] ?? 0)) / (own + RIDGE);
      weights[i] = Math.max(MIN_WEIGHT, weight);
    }
  }
  return weights;
}

/** Scales weights to a sum of 1, without the negligible ones. */
function normalizedWeights(weights: readonly number[]): number[] {
  const normalize = (values: readonly number[]) => {
    const sum = values.reduce((total, value) => total + value, 0);
    return values.map((value) => (sum > 0 ? value / sum : 1 / values.length));
  };
  return normalize(normalize(weights).map((weight) => (Math.abs(weight) < NEGLIGIBLE_WEIGHT ? 0 : weight)));
}

function weightsByName(presets: readonly PresetVoice[], weights: readonly number[]): VoiceWeights {
  return Object.fromEntries(
    presets.flatMap(({ name }, i) => {
      const weight = weights[i] ?? 0;
      return weight === 0 ? [] : [[name, weight]];
    }),
  );
}
