/**
 * The search for a mix of Kokoro's voices that sounds like a speaker. A state machine without time, chance of its own or
 * inference: it says what to speak next, and is told how that sounded.
 *
 * The voice print of a mix is nearly the mix of the voices' prints (measured: a cosine of 0.91 between the two, and of 0.92
 * between two texts of one voice), so a mix of prints that comes near to the speaker's gives the first mix. From there on
 * moves of weight are tried, those first that the prints say are the most useful, and kept when they were heard to be.
 */

import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { likeness, meanDirection } from '../../speakers/host/voice-print.ts';
import type { KokoroMix, VoiceWeights } from '../shared/voice-mix.ts';

/** How a voice sounded that spoke one text. */
export interface HeardVoice {
  /** Of length 1. */
  readonly embedding: Float32Array;
  /** Median, in Hz; undefined where hardly anything was voiced. */
  readonly pitchHz: number | undefined;
  readonly seconds: number;
}

/** A voice that came with the model, as it speaks the texts that mixes are tried on, in order. */
export interface Preset {
  readonly name: string;
  readonly heard: readonly HeardVoice[];
}

/** The speaker to come near to. */
export type Target = Pick<HeardVoice, 'embedding' | 'pitchHz'>;

/**
 * Keeps weights small, as prints of voices are much alike: the less, the nearer a mix comes and the further it leads away from
 * the model's own voices. The first mix is safe; the others are worth a trial.
 */
const FIRST_RIDGE = 0.03;
const OTHER_RIDGES = [0.1, 0.01];
const MIN_WEIGHT = 0.01;
const ROUNDS = 200;
/** How far a mix may lead away from one voice: its speech stays that of voices that the model learned. */
const LOWEST_WEIGHT = -0.3;
const HIGHEST_WEIGHT = 1.1;
/** The median of a short clip may be an octave wrong, and far from its own pitch a voice sounds made. */
const PITCH_SCALE = { least: 0.75, most: 1.33 };
/** How far from a speaker's pitch a voice may be whose movement is taken, as a natural logarithm. */
const PITCH_REACH = 0.15;
/** Deviations that cost nothing, as natural logarithms, and what more costs in likeness. */
const FREE_PITCH = 0.1;
const FREE_PACE = 0.2;
const COST = 0.3;
/** Of a candidate that did worse than this on the first text the others are not spoken. */
const HOPE = 0.01;
/** Less is no gain. */
const MIN_GAIN = 0.003;
/** Candidates in a row without one after which the search is over. */
const PATIENCE = 40;
const FIRST_STEP = 0.25;
const STEP = { least: 0.04, most: 0.5 };
/** How much a voice that the prints speak for is preferred. */
const SHARPNESS = 30;
const PITCH_STEP = 0.06;

/** Most like the target where only prints are known. @param presets at least one. */
export function firstMix(target: Target, presets: readonly Preset[], ridge = FIRST_RIDGE): KokoroMix {
  const weights = sharesOf(nearestMix(target.embedding, presets.map(printOf), ridge, LOWEST_WEIGHT));
  // No print tells of movement: it is that of the voices that are most alike and speak about as high.
  const near = presets.map((preset) => Math.exp(-Math.abs(pitchDistance(target, preset)) / PITCH_REACH));
  const prosody = named(presets, sharesOf(weights.map((weight, i) => Math.max(0, weight) * (near[i] ?? 0))));
  return {
    timbre: named(presets, weights),
    prosody,
    pitchScale: pitchScaleFor(target, prosody, presets),
  };
}

/** The one voice that is most like the target. */
function nearestPreset(target: Target, presets: readonly Preset[]): KokoroMix {
  const likenesses = presets.map((preset) => likeness(printOf(preset), target.embedding));
  const nearest = presets[likenesses.indexOf(Math.max(...likenesses))];
  const voices = { [nearest?.name ?? '']: 1 };
  return { timbre: voices, prosody: voices, pitchScale: 1 };
}

export class MixSearch {
  readonly #target: Target;
  readonly #presets: readonly Preset[];
  readonly #prints: readonly Float32Array[];
  /** Of each text, what the voices need for it. */
  readonly #seconds: readonly number[];
  readonly #random: () => number;
  /** Candidates before the first move. */
  readonly #given: KokoroMix[];
  #best:
    | { readonly mix: KokoroMix; readonly heard: readonly HeardVoice[]; readonly score: number }
    | undefined;
  #move: Move | undefined;
  #step = FIRST_STEP;
  #inVain = 0;

  /**
   * @param presets at least one.
   * @param from where to begin.
   */
  constructor(target: Target, presets: readonly Preset[], from: KokoroMix, seed: number) {
    this.#target = target;
    this.#presets = presets;
    this.#prints = presets.map(printOf);
    this.#seconds = (presets[0]?.heard ?? []).map((_, text) =>
      median(presets.map(({ heard }) => heard[text]?.seconds ?? 0)),
    );
    this.#random = seededRandom(seed);
    const others = [FIRST_RIDGE, ...OTHER_RIDGES].map((ridge) => firstMix(target, presets, ridge));
    this.#given = [from, nearestPreset(target, presets), ...others];
  }

  /** Whether nothing more is to be expected. */
  get isOver(): boolean {
    return this.#inVain >= PATIENCE;
  }

  /** What to speak next. The answer goes to {@link heard} before the next call. */
  next(): KokoroMix {
    const given = this.#given.shift();
    if (given || !this.#best) return given ?? firstMix(this.#target, this.#presets);
    this.#move ??= this.#chosenMove(
      this.#best.mix,
      meanDirection(this.#best.heard.map(({ embedding }) => embedding)),
    );
    return this.#move(this.#best.mix, this.#step);
  }

  /** Whether a candidate that was heard on the first texts only may still be the best. */
  isPromising(heard: readonly HeardVoice[]): boolean {
    if (!this.#best) return true;
    const before = this.#score(this.#best.heard.slice(0, heard.length));
    return this.#score(heard) > before - HOPE;
  }

  /**
   * Takes in how the candidate sounded.
   * @param heard on each text; fewer: it was given up.
   * @returns whether it is the best so far.
   */
  heard(mix: KokoroMix, heard: readonly HeardVoice[]): boolean {
    const score = heard.length < this.#seconds.length ? Number.NEGATIVE_INFINITY : this.#score(heard);
    const isBetter = !this.#best || score > this.#best.score + MIN_GAIN;
    this.#inVain = isBetter ? 0 : this.#inVain + 1;
    // What helped may help once more.
    const factor = isBetter ? 1.3 : 0.9;
    if (this.#move) this.#step = limited(this.#step * factor, STEP.least, STEP.most);
    if (isBetter) this.#best = { mix, heard, score };
    else this.#move = undefined;
    return isBetter;
  }

  /** Likeness, less what is unnatural: another pitch than the speaker's, another pace than that of the voices. */
  #score(heard: readonly HeardVoice[]): number {
    const costs = heard.map(({ pitchHz, seconds }, text) => {
      const pitch = pitchHz && this.#target.pitchHz ? Math.log(pitchHz / this.#target.pitchHz) : 0;
      const pace = Math.log(seconds / (this.#seconds[text] ?? seconds));
      return Math.max(0, Math.abs(pitch) - FREE_PITCH) + Math.max(0, Math.abs(pace) - FREE_PACE);
    });
    const cost = COST * (costs.reduce((sum, each) => sum + each, 0) / Math.max(1, costs.length));
    const print = meanDirection(heard.map(({ embedding }) => embedding));
    return likeness(print, this.#target.embedding) - cost;
  }

  #chosenMove(mix: KokoroMix, print: Float32Array): Move {
    const kind = this.#random();
    if (kind < 0.15) {
      const direction = this.#random() < 0.5 ? -1 : 1;
      const by = Math.exp(direction * PITCH_STEP * (0.5 + this.#random()));
      return (from) => ({
        ...from,
        pitchScale: limited(from.pitchScale * by, PITCH_SCALE.least, PITCH_SCALE.most),
      });
    }
    // How much nearer each voice leads: its print along what the best one lacks.
    const like = likeness(print, this.#target.embedding);
    const missing = print.map((value, i) => (this.#target.embedding[i] ?? 0) - like * value);
    if (kind < 0.6) {
      const weights = nearestMix(
        missing,
        this.#prints,
        OTHER_RIDGES[0] ?? FIRST_RIDGE,
        Number.NEGATIVE_INFINITY,
      );
      return (from, step) => ({ ...from, timbre: led(from.timbre, named(this.#presets, weights), 2 * step) });
    }
    const gains = this.#prints.map((each) => likeness(each, missing));
    if (kind < 0.7) {
      const to = this.#drawn(gains.map(() => 1));
      return (from, step) =>
        this.#keepingPitch(from, { ...from, prosody: moved(from.prosody, to, undefined, step) });
    }
    const to = this.#drawn(gains.map((gain) => Math.exp(SHARPNESS * gain)));
    const givers = this.#presets.map(({ name }, i) =>
      name === to || (mix.timbre[name] ?? 0) <= LOWEST_WEIGHT
        ? 0
        : ((mix.timbre[name] ?? 0) + 0.05) * Math.exp(-SHARPNESS * (gains[i] ?? 0)),
    );
    // From one voice, or from all.
    const giver = this.#random() < 0.5 ? this.#drawn(givers) : undefined;
    return (from, step) => ({ ...from, timbre: moved(from.timbre, to, giver, step) });
  }

  /** Another prosody at the pitch of the one before. */
  #keepingPitch(before: KokoroMix, after: KokoroMix): KokoroMix {
    const scale =
      (before.pitchScale * pitchOf(before.prosody, this.#presets)) / pitchOf(after.prosody, this.#presets);
    return { ...after, pitchScale: limited(scale, PITCH_SCALE.least, PITCH_SCALE.most) };
  }

  /** Name of a preset, drawn by weight. */
  #drawn(weights: readonly number[]): string {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let left = this.#random() * total;
    const at = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return this.#presets[Math.max(0, at)]?.name ?? '';
  }
}

type Move = (from: KokoroMix, step: number) => KokoroMix;

/** Moves weight to a voice, from one or from all; the sum stays. */
function moved(weights: VoiceWeights, to: string, from: string | undefined, step: number): VoiceWeights {
  const own = weights[to] ?? 0;
  if (from === undefined) {
    const kept = Object.entries(weights).map(([name, weight]) => [name, weight * (1 - step)] as const);
    return without0({ ...Object.fromEntries(kept), [to]: own * (1 - step) + step });
  }
  const giving = weights[from] ?? 0;
  const amount = Math.max(0, Math.min(step, giving - LOWEST_WEIGHT, HIGHEST_WEIGHT - own));
  return without0({ ...weights, [to]: own + amount, [from]: giving - amount });
}

/** Weights led some way along others. */
function led(weights: VoiceWeights, along: VoiceWeights, step: number): VoiceWeights {
  const names = new Set([...Object.keys(weights), ...Object.keys(along)]);
  const moved = [...names].map((name) => {
    const weight = (weights[name] ?? 0) + step * (along[name] ?? 0);
    return [name, limited(weight, LOWEST_WEIGHT, HIGHEST_WEIGHT)] as const;
  });
  return without0(Object.fromEntries(moved));
}

function without0(weights: VoiceWeights): VoiceWeights {
  const some = Object.entries(weights).filter(([, weight]) => Math.abs(weight) > 1e-3);
  const sum = some.reduce((total, [, weight]) => total + weight, 0);
  return Object.fromEntries(some.map(([name, weight]) => [name, weight / sum]));
}

/** Where the pitch of a prosody comes to the target's. */
function pitchScaleFor(target: Target, prosody: VoiceWeights, presets: readonly Preset[]): number {
  if (target.pitchHz === undefined) return 1;
  return limited(target.pitchHz / pitchOf(prosody, presets), PITCH_SCALE.least, PITCH_SCALE.most);
}

/** From the target's to a voice's, as a natural logarithm. */
function pitchDistance(target: Target, preset: Preset): number {
  return target.pitchHz === undefined
    ? 0
    : Math.log(pitchOf({ [preset.name]: 1 }, [preset]) / target.pitchHz);
}

/** In Hz. The pitch of a mix is the mix of the pitches (measured: within 4 %). */
function pitchOf(prosody: VoiceWeights, presets: readonly Preset[]): number {
  let logs = 0;
  for (const { name, heard } of presets) {
    const pitches = heard.flatMap(({ pitchHz }) => (pitchHz === undefined ? [] : [pitchHz]));
    logs += (prosody[name] ?? 0) * Math.log(median(pitches) || UNKNOWN_PITCH_HZ);
  }
  return Math.exp(logs);
}

const UNKNOWN_PITCH_HZ = 150;

function printOf({ heard }: Preset): Float32Array {
  return meanDirection(heard.map(({ embedding }) => embedding));
}

/** Weights of `vectors` whose sum is nearest to `target`, none below `lowest`: ridge regression by coordinate descent. */
function nearestMix(
  target: Float32Array,
  vectors: readonly Float32Array[],
  ridge: number,
  lowest: number,
): number[] {
  const products = vectors.map((one) => vectors.map((other) => likeness(one, other)));
  const wanted = vectors.map((vector) => likeness(vector, target));
  const weights = vectors.map(() => 0);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, row] of products.entries()) {
      const had = row.reduce((sum, product, j) => sum + product * (weights[j] ?? 0), 0);
      const own = row[i] ?? 1;
      weights[i] = Math.max(lowest, ((wanted[i] ?? 0) - had + own * (weights[i] ?? 0)) / (own + ridge));
    }
  }
  return weights;
}

/** Parts of the sum, without the smallest. */
function sharesOf(weights: readonly number[]): number[] {
  const share = (values: readonly number[]) => {
    const sum = values.reduce((total, value) => total + value, 0);
    return values.map((value) => (sum > 0 ? value / sum : 1 / values.length));
  };
  return share(share(weights).map((weight) => (Math.abs(weight) < MIN_WEIGHT ? 0 : weight)));
}

function named(presets: readonly Preset[], weights: readonly number[]): VoiceWeights {
  return Object.fromEntries(
    presets.flatMap(({ name }, i) => {
      const weight = weights[i] ?? 0;
      return weight === 0 ? [] : [[name, weight]];
    }),
  );
}

/** 0 of none. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function limited(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
