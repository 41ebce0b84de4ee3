/**
 * Searches for the mix of Kokoro's preset voices that is most similar to a speaker. The search is a deterministic state
 * machine without a clock and without inference: it proposes a mix, and the caller reports how that mix sounds.
 *
 * The speaker embedding of a mix is close to the mix of the embeddings (measured cosine similarity: 0.91; two texts of
 * one voice have 0.92). The initial mix therefore comes from the embeddings alone. After that, the search proposes small
 * changes of the weights, with a preference for those that the embeddings predict to help, and keeps a change when the
 * measured score improves.
 */

import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { cosineSimilarity, meanDirection } from '../../speakers/host/voice-print.ts';
import type { KokoroMix, VoiceWeights } from '../shared/voice-mix.ts';

/** What was measured on the synthesized audio of one trial text. */
export interface VoiceMeasurement {
  /** Speaker embedding, normalized to length 1. */
  readonly embedding: Float32Array;
  /** Median pitch in Hz; undefined if almost nothing is voiced. */
  readonly pitchHz: number | undefined;
  /** Duration of the audio. */
  readonly seconds: number;
}

/** A preset voice of the model and its measurements, one per trial text and in their order. */
export interface MeasuredPreset {
  readonly name: string;
  readonly measurements: readonly VoiceMeasurement[];
}

/** The speaker to approximate. */
export type TargetSpeaker = Pick<VoiceMeasurement, 'embedding' | 'pitchHz'>;

/**
 * Ridge penalties on the weights. The embeddings of the presets are similar to each other, so a small penalty gives a
 * closer mix whose weights lead further away from the model's own voices. The default is safe; the others are candidates.
 */
const DEFAULT_RIDGE = 0.03;
const MOVE_RIDGE = 0.1;
const ALTERNATIVE_RIDGES = [MOVE_RIDGE, 0.01];
/** Smaller weights of the initial mix are dropped. */
const NEGLIGIBLE_WEIGHT = 0.01;
const DESCENT_ITERATIONS = 200;
/** Bounds of a weight: beyond them the speech degrades, because the model was not trained on such styles. */
const MIN_WEIGHT = -0.3;
const MAX_WEIGHT = 1.1;
/** The median pitch of a short clip may be wrong by an octave, and a large pitch shift sounds artificial. */
const PITCH_SCALE = { min: 0.75, max: 1.33 };
/** Scale in natural logarithms of the pitch distance at which a preset stops contributing prosody. */
const PROSODY_PITCH_SCALE = 0.15;
/** Deviations without a penalty, in natural logarithms, and the penalty in similarity for each unit above them. */
const FREE_PITCH_DEVIATION = 0.1;
const FREE_PACE_DEVIATION = 0.2;
const DEVIATION_PENALTY = 0.3;
/** A candidate whose first text scores worse by more than this is not measured further. */
const PRUNING_MARGIN = 0.01;
/** Smallest gain in score that counts as an improvement. */
const MIN_GAIN = 0.003;
/** The search is finished after this many consecutive candidates without an improvement. */
const MAX_FAILED_CANDIDATES = 40;
const INITIAL_STEP = 0.25;
const STEP = { min: 0.04, max: 0.5 };
/** Inverse temperature with which voices are drawn by their predicted gain. */
const DRAW_SHARPNESS = 30;
const PITCH_STEP = 0.06;
/** Pitch of a preset whose pitch is unknown. */
const FALLBACK_PITCH_HZ = 150;

/** The mix whose embedding is predicted to be most similar to the target's. @param presets at least one. */
export function initialMix(
  target: TargetSpeaker,
  presets: readonly MeasuredPreset[],
  ridge = DEFAULT_RIDGE,
): KokoroMix {
  const weights = normalizedWeights(
    ridgeWeights(target.embedding, presets.map(meanEmbedding), ridge, MIN_WEIGHT),
  );
  // An embedding does not describe prosody. It is taken from the most similar voices with a similar pitch.
  const proximity = presets.map((preset) =>
    Math.exp(-Math.abs(pitchDistance(target, preset)) / PROSODY_PITCH_SCALE),
  );
  const prosody = weightsByName(
    presets,
    normalizedWeights(weights.map((weight, i) => Math.max(0, weight) * (proximity[i] ?? 0))),
  );
  return {
    timbre: weightsByName(presets, weights),
    prosody,
    pitchScale: pitchScaleFor(target, prosody, presets),
  };
}

/** The single preset that is most similar to the target. */
function nearestPreset(target: TargetSpeaker, presets: readonly MeasuredPreset[]): KokoroMix {
  const similarities = presets.map((preset) => cosineSimilarity(meanEmbedding(preset), target.embedding));
  const nearest = presets[similarities.indexOf(Math.max(...similarities))];
  const voices = { [nearest?.name ?? '']: 1 };
  return { timbre: voices, prosody: voices, pitchScale: 1 };
}

export class MixSearch {
  readonly #target: TargetSpeaker;
  readonly #presets: readonly MeasuredPreset[];
  readonly #embeddings: readonly Float32Array[];
  /** Median duration of each trial text over all presets. */
  readonly #medianSeconds: readonly number[];
  readonly #random: () => number;
  /** Candidates that are proposed before the first change of weights. */
  readonly #initialCandidates: KokoroMix[];
  #best:
    | { readonly mix: KokoroMix; readonly measurements: readonly VoiceMeasurement[]; readonly score: number }
    | undefined;
  #change: MixChange | undefined;
  #step = INITIAL_STEP;
  #failedCandidates = 0;

  /**
   * @param presets at least one.
   * @param start the first candidate.
   * @param seed makes the search reproducible.
   */
  constructor(target: TargetSpeaker, presets: readonly MeasuredPreset[], start: KokoroMix, seed: number) {
    this.#target = target;
    this.#presets = presets;
    this.#embeddings = presets.map(meanEmbedding);
    this.#medianSeconds = (presets[0]?.measurements ?? []).map((_, text) =>
      median(presets.map(({ measurements }) => measurements[text]?.seconds ?? 0)),
    );
    this.#random = seededRandom(seed);
    const predicted = [DEFAULT_RIDGE, ...ALTERNATIVE_RIDGES].map((ridge) =>
      initialMix(target, presets, ridge),
    );
    this.#initialCandidates = [start, nearestPreset(target, presets), ...predicted];
  }

  /** Whether further candidates are unlikely to improve the result. */
  get isFinished(): boolean {
    return this.#failedCandidates >= MAX_FAILED_CANDIDATES;
  }

  /** The next mix to measure. Pass its measurements to {@link recordCandidate} before the next call. */
  nextCandidate(): KokoroMix {
    const initial = this.#initialCandidates.shift();
    if (initial || !this.#best) return initial ?? initialMix(this.#target, this.#presets);
    this.#change ??= this.#chooseChange(
      this.#best.mix,
      meanDirection(this.#best.measurements.map(({ embedding }) => embedding)),
    );
    return this.#change(this.#best.mix, this.#step);
  }

  /** Whether a candidate may still become the best, given the measurements of its first trial texts. */
  isPromising(measurements: readonly VoiceMeasurement[]): boolean {
    if (!this.#best) return true;
    const bestScore = this.#score(this.#best.measurements.slice(0, measurements.length));
    return this.#score(measurements) > bestScore - PRUNING_MARGIN;
  }

  /**
   * Records the measurements of a candidate.
   * @param measurements one per trial text; fewer mean that the candidate was abandoned.
   * @returns whether the candidate is the new best.
   */
  recordCandidate(mix: KokoroMix, measurements: readonly VoiceMeasurement[]): boolean {
    const isComplete = measurements.length >= this.#medianSeconds.length;
    const score = isComplete ? this.#score(measurements) : Number.NEGATIVE_INFINITY;
    const isBetter = !this.#best || score > this.#best.score + MIN_GAIN;
    this.#failedCandidates = isBetter ? 0 : this.#failedCandidates + 1;
    // A change that helped is repeated with a larger step.
    const factor = isBetter ? 1.3 : 0.9;
    if (this.#change) this.#step = clamp(this.#step * factor, STEP.min, STEP.max);
    if (isBetter) this.#best = { mix, measurements, score };
    else this.#change = undefined;
    return isBetter;
  }

  /** Similarity to the target, minus penalties for a pitch unlike the speaker's and a pace unlike the presets'. */
  #score(measurements: readonly VoiceMeasurement[]): number {
    const deviations = measurements.map(({ pitchHz, seconds }, text) => {
      const pitch = pitchHz && this.#target.pitchHz ? Math.log(pitchHz / this.#target.pitchHz) : 0;
      const pace = Math.log(seconds / (this.#medianSeconds[text] ?? seconds));
      return (
        Math.max(0, Math.abs(pitch) - FREE_PITCH_DEVIATION) +
        Math.max(0, Math.abs(pace) - FREE_PACE_DEVIATION)
      );
    });
    const meanDeviation = deviations.reduce((sum, each) => sum + each, 0) / Math.max(1, deviations.length);
    const embedding = meanDirection(measurements.map((measurement) => measurement.embedding));
    return cosineSimilarity(embedding, this.#target.embedding) - DEVIATION_PENALTY * meanDeviation;
  }

  #chooseChange(mix: KokoroMix, embedding: Float32Array): MixChange {
    const kind = this.#random();
    if (kind < 0.15) {
      const direction = this.#random() < 0.5 ? -1 : 1;
      const factor = Math.exp(direction * PITCH_STEP * (0.5 + this.#random()));
      return (from) => ({
        ...from,
        pitchScale: clamp(from.pitchScale * factor, PITCH_SCALE.min, PITCH_SCALE.max),
      });
    }
    // The component of the target that the best mix lacks. A preset along it is predicted to help.
    const similarity = cosineSimilarity(embedding, this.#target.embedding);
    const residual = embedding.map((value, i) => (this.#target.embedding[i] ?? 0) - similarity * value);
    if (kind < 0.6) {
      const weights = ridgeWeights(residual, this.#embeddings, MOVE_RIDGE, Number.NEGATIVE_INFINITY);
      return (from, step) => ({
        ...from,
        timbre: addWeights(from.timbre, weightsByName(this.#presets, weights), 2 * step),
      });
    }
    const gains = this.#embeddings.map((each) => cosineSimilarity(each, residual));
    if (kind < 0.7) {
      const to = this.#drawPreset(gains.map(() => 1));
      return (from, step) =>
        this.#withPitchOf(from, { ...from, prosody: shiftWeight(from.prosody, to, undefined, step) });
    }
    const to = this.#drawPreset(gains.map((gain) => Math.exp(DRAW_SHARPNESS * gain)));
    const sourceWeights = this.#presets.map(({ name }, i) =>
      name === to || (mix.timbre[name] ?? 0) <= MIN_WEIGHT
        ? 0
        : ((mix.timbre[name] ?? 0) + 0.05) * Math.exp(-DRAW_SHARPNESS * (gains[i] ?? 0)),
    );
    // The weight comes from one voice or from all voices.
    const source = this.#random() < 0.5 ? this.#drawPreset(sourceWeights) : undefined;
    return (from, step) => ({ ...from, timbre: shiftWeight(from.timbre, to, source, step) });
  }

  /** `after`, with its pitch scale adjusted so that its prosody has the pitch of `before`. */
  #withPitchOf(before: KokoroMix, after: KokoroMix): KokoroMix {
    const scale =
      (before.pitchScale * pitchOf(before.prosody, this.#presets)) / pitchOf(after.prosody, this.#presets);
    return { ...after, pitchScale: clamp(scale, PITCH_SCALE.min, PITCH_SCALE.max) };
  }

  /** Name of a preset, drawn at random in proportion to the weights. */
  #drawPreset(weights: readonly number[]): string {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let remaining = this.#random() * total;
    const index = weights.findIndex((weight) => {
      remaining -= weight;
      return remaining < 0;
    });
    return this.#presets[Math.max(0, index)]?.name ?? '';
  }
}

type MixChange = (from: KokoroMix, step: number) => KokoroMix;

/** Moves weight to the voice `to`, from one voice or, without `from`, from all voices. The sum does not change. */
function shiftWeight(
  weights: VoiceWeights,
  to: string,
  from: string | undefined,
  step: number,
): VoiceWeights {
  const targetWeight = weights[to] ?? 0;
  if (from === undefined) {
    const scaled = Object.entries(weights).map(([name, weight]) => [name, weight * (1 - step)] as const);
    return withoutZeros({ ...Object.fromEntries(scaled), [to]: targetWeight * (1 - step) + step });
  }
  const sourceWeight = weights[from] ?? 0;
  const amount = Math.max(0, Math.min(step, sourceWeight - MIN_WEIGHT, MAX_WEIGHT - targetWeight));
  return withoutZeros({ ...weights, [to]: targetWeight + amount, [from]: sourceWeight - amount });
}

/** `weights + step * direction`, clamped to the allowed range and normalized. */
function addWeights(weights: VoiceWeights, direction: VoiceWeights, step: number): VoiceWeights {
  const names = new Set([...Object.keys(weights), ...Object.keys(direction)]);
  const sums = [...names].map((name) => {
    const weight = (weights[name] ?? 0) + step * (direction[name] ?? 0);
    return [name, clamp(weight, MIN_WEIGHT, MAX_WEIGHT)] as const;
  });
  return withoutZeros(Object.fromEntries(sums));
}

/** Drops weights near 0 and scales the rest to a sum of 1. */
function withoutZeros(weights: VoiceWeights): VoiceWeights {
  const nonzero = Object.entries(weights).filter(([, weight]) => Math.abs(weight) > 1e-3);
  const sum = nonzero.reduce((total, [, weight]) => total + weight, 0);
  return Object.fromEntries(nonzero.map(([name, weight]) => [name, weight / sum]));
}

/** Pitch scale that brings the pitch of a prosody to the target's. */
function pitchScaleFor(
  target: TargetSpeaker,
  prosody: VoiceWeights,
  presets: readonly MeasuredPreset[],
): number {
  if (target.pitchHz === undefined) return 1;
  return clamp(target.pitchHz / pitchOf(prosody, presets), PITCH_SCALE.min, PITCH_SCALE.max);
}

/** Natural logarithm of the preset's pitch over the target's; 0 if the target's is unknown. */
function pitchDistance(target: TargetSpeaker, preset: MeasuredPreset): number {
  return target.pitchHz === undefined
    ? 0
    : Math.log(pitchOf({ [preset.name]: 1 }, [preset]) / target.pitchHz);
}

/** Pitch in Hz: the geometric mean of the presets' pitches, by weight (measured error: at most 4 %). */
function pitchOf(prosody: VoiceWeights, presets: readonly MeasuredPreset[]): number {
  let logs = 0;
  for (const { name, measurements } of presets) {
    const pitches = measurements.flatMap(({ pitchHz }) => (pitchHz === undefined ? [] : [pitchHz]));
    logs += (prosody[name] ?? 0) * Math.log(median(pitches) || FALLBACK_PITCH_HZ);
  }
  return Math.exp(logs);
}

function meanEmbedding({ measurements }: MeasuredPreset): Float32Array {
  return meanDirection(measurements.map(({ embedding }) => embedding));
}

/** Weights, none below `min`, whose sum of `vectors` approximates `target`: ridge regression by coordinate descent. */
function ridgeWeights(
  target: Float32Array,
  vectors: readonly Float32Array[],
  ridge: number,
  min: number,
): number[] {
  const products = vectors.map((one) => vectors.map((other) => cosineSimilarity(one, other)));
  const projections = vectors.map((vector) => cosineSimilarity(vector, target));
  const weights = vectors.map(() => 0);
  for (let iteration = 0; iteration < DESCENT_ITERATIONS; iteration++) {
    for (const [i, row] of products.entries()) {
      const fitted = row.reduce((sum, product, j) => sum + product * (weights[j] ?? 0), 0);
      const own = row[i] ?? 1;
      weights[i] = Math.max(min, ((projections[i] ?? 0) - fitted + own * (weights[i] ?? 0)) / (own + ridge));
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

function weightsByName(presets: readonly MeasuredPreset[], weights: readonly number[]): VoiceWeights {
  return Object.fromEntries(
    presets.flatMap(({ name }, i) => {
      const weight = weights[i] ?? 0;
      return weight === 0 ? [] : [[name, weight]];
    }),
  );
}

/** The upper median; 0 for an empty list. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
