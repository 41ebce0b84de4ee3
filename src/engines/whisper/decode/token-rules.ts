/**
 * Selects the next token from the logits of a decoder step, as in openai/whisper `whisper/decoding.py` (SuppressBlank,
 * SuppressTokens, ApplyTimestampRules, GreedyDecoder).
 */

import type { SpecialTokens } from '../shared/tokenizer.ts';

/** Maximum start of the first segment, in timestamp steps: `max_initial_timestamp` of openai/whisper, 1 s. */
const MAX_INITIAL_STEPS = 50;
/** The last timestamp token: 30 s. */
const LAST_STEP = 1_500;

/** The token chosen at one step. */
export interface TokenChoice {
  readonly token: number;
  /** Natural logarithm of the probability of the token among the allowed ones, at temperature 1. Accurate to 0.002. */
  readonly logProbability: number;
}

export interface ChoiceOptions {
  /** Whether timestamp tokens are allowed. */
  readonly timestamps: boolean;
  /** Timestamp token of the end of the audio. Absent: 30 s. */
  readonly latestTimestamp?: number | undefined;
  /** 0: the most likely token. Above 0: sampled. */
  readonly temperature: number;
  /** Returns uniform random numbers in [0, 1). Called once for each sampled token. */
  readonly random: () => number;
}

/** Chooses tokens for one model. Has no state of a transcript, so an instance can be shared. */
export class TokenRules {
  readonly #endOfText: number;
  readonly #timestampBegin: number;
  readonly #suppressed: Int32Array;
  readonly #suppressedAtStart: Int32Array;

  /**
   * @param suppressed tokens that are never chosen. Special tokens other than the end of text and the timestamps are never
   *   chosen in any case.
   * @param suppressedAtStart tokens that are not chosen as the first token.
   */
  constructor(
    special: Pick<SpecialTokens, 'endOfText' | 'timestampBegin'>,
    suppressed: readonly number[],
    suppressedAtStart: readonly number[],
  ) {
    this.#endOfText = special.endOfText;
    this.#timestampBegin = special.timestampBegin;
    this.#suppressed = Int32Array.from(suppressed);
    this.#suppressedAtStart = Int32Array.from(suppressedAtStart);
  }

  /**
   * Chooses the next token.
   * @param logits of every token of the vocabulary. Those of suppressed tokens are overwritten.
   * @param tokens chosen so far in this window, without the prompt.
   * @throws Error when no allowed token has a logit above minus infinity.
   */
  choose(logits: Float32Array, tokens: readonly number[], options: ChoiceOptions): TokenChoice {
    for (const token of this.#suppressed) logits[token] = Number.NEGATIVE_INFINITY;
    if (tokens.length === 0) {
      for (const token of this.#suppressedAtStart) logits[token] = Number.NEGATIVE_INFINITY;
    }
    const allowed = this.#allowed(logits.length, tokens, options);
    const text = scan(logits, allowed.textFrom, allowed.textTo);
    const times = scan(logits, allowed.timeFrom, allowed.timeTo);
    // Rule of openai/whisper: choose a timestamp if timestamps together are more likely than any single text token.
    const timesMass = logSum(times);
    const textAlso = text.token >= 0 && !(timesMass > text.max);
    if (!textAlso && times.token < 0) throw new Error('The decoder returned no valid logit.');
    const total = textAlso ? logAddExp(logSum(text), timesMass) : timesMass;
    let token = textAlso ? text.token : times.token;
    if (options.temperature > 0) {
      const { textFrom, textTo, timeFrom, timeTo } = allowed;
      const ranges = textAlso ? [textFrom, textTo, timeFrom, timeTo] : [timeFrom, timeTo];
      token = sample(logits, ranges, textAlso ? text.max : times.max, options);
    }
    return { token, logProbability: (logits[token] as number) - total };
  }

  /** Returns the allowed tokens as two ranges. The end of text counts as text. */
  #allowed(vocabulary: number, tokens: readonly number[], options: ChoiceOptions): AllowedTokens {
    const begin = this.#timestampBegin;
    const textTo = this.#endOfText + 1;
    if (!options.timestamps) return { textFrom: 0, textTo, timeFrom: begin, timeTo: begin };
    const latest = Math.max(begin, Math.min(options.latestTimestamp ?? begin + LAST_STEP, begin + LAST_STEP));
    const timeTo = Math.min(vocabulary, latest + 1);
    if (tokens.length === 0) {
      return {
        textFrom: 0,
        textTo: 0,
        timeFrom: begin,
        timeTo: Math.min(timeTo, begin + MAX_INITIAL_STEPS + 1),
      };
    }
    const lastIsTime = (tokens.at(-1) as number) >= begin;
    const beforeIsTime = tokens.length < 2 || (tokens.at(-2) as number) >= begin;
    // After the end timestamp of a segment: the start timestamp of the next one, or the end of text.
    if (lastIsTime && !beforeIsTime) {
      return { textFrom: this.#endOfText, textTo, timeFrom: tokens.at(-1) as number, timeTo };
    }
    // After the start timestamp of a segment: text.
    if (lastIsTime) return { textFrom: 0, textTo, timeFrom: begin, timeTo: begin };
    // Timestamps increase, and segments are not empty.
    const lastTime = tokens.findLast((token) => token >= begin);
    return { textFrom: 0, textTo, timeFrom: lastTime === undefined ? begin : lastTime + 1, timeTo };
  }
}

/** Ranges of the allowed text and timestamp tokens, `to` exclusive. */
interface AllowedTokens {
  readonly textFrom: number;
  readonly textTo: number;
  readonly timeFrom: number;
  readonly timeTo: number;
}

/** Returns the probability of a token in the vocabulary, such as `<|nospeech|>` after `<|startoftranscript|>`. */
export function probabilityOf(logits: Float32Array, token: number): number {
  return Math.exp((logits[token] as number) - logSum(scan(logits, 0, logits.length)));
}

/** Returns the most likely of `tokens` and its probability among them, such as the language. */
export function likeliestOf(
  logits: Float32Array,
  tokens: Iterable<number>,
): { readonly token: number; readonly probability: number } {
  const candidates = [...tokens];
  const chosen = Float32Array.from(candidates, (token) => logits[token] as number);
  const found = scan(chosen, 0, chosen.length);
  if (found.token < 0) throw new Error('The decoder returned no valid logit.');
  return { token: candidates[found.token] as number, probability: 1 / found.sum };
}

/** Maximum and sum of a range of logits. `token` is -1 when no logit is above minus infinity. */
interface Scan {
  readonly token: number;
  readonly max: number;
  /** Sum of e^(logit - max). */
  readonly sum: number;
}

/** Resolution and end of the table of e^-x. The weight of 2^16 tokens beyond its end is negligible. */
const STEPS = 256;
const MAX_EXPONENT = 24;
/** e^-x at the middle of each step. */
const DECAY = Float32Array.from({ length: MAX_EXPONENT * STEPS }, (_, index) =>
  Math.exp(-(index + 0.5) / STEPS),
);

/**
 * Returns the maximum logit, the first of equals, and the sum of the exponentials. Reads the exponentials from a table,
 * which is five times as fast as Math.exp and has a relative error of at most 1 / 512.
 */
function scan(logits: Float32Array, from: number, to: number): Scan {
  let token = -1;
  let max = Number.NEGATIVE_INFINITY;
  for (let index = from; index < to; index++) {
    const logit = logits[index] as number;
    if (logit > max) {
      max = logit;
      token = index;
    }
  }
  if (token < 0) return { token, max, sum: 0 };
  // The exponential of the maximum is exactly 1.
  let sum = 1 - (DECAY[0] as number);
  for (let index = from; index < to; index++) {
    const below = max - (logits[index] as number);
    if (below < MAX_EXPONENT) sum += DECAY[(below * STEPS) >>> 0] as number;
  }
  return { token, max, sum };
}

const logSum = ({ max, sum }: Scan): number => (sum > 0 ? max + Math.log(sum) : Number.NEGATIVE_INFINITY);

function logAddExp(a: number, b: number): number {
  const max = Math.max(a, b);
  return max === Number.NEGATIVE_INFINITY ? max : max + Math.log(Math.exp(a - max) + Math.exp(b - max));
}

/** Samples a token from `ranges` (from, to, from, to …) with probabilities proportional to e^(logit / temperature). */
function sample(
  logits: Float32Array,
  ranges: readonly number[],
  max: number,
  { temperature, random }: ChoiceOptions,
): number {
  const weight = (index: number): number => Math.exp(((logits[index] as number) - max) / temperature);
  let total = 0;
  for (let range = 0; range < ranges.length; range += 2) {
    const to = ranges[range + 1] as number;
    for (let index = ranges[range] as number; index < to; index++) total += weight(index);
  }
  let remaining = random() * total;
  let last = -1;
  for (let range = 0; range < ranges.length; range += 2) {
    const to = ranges[range + 1] as number;
    for (let index = ranges[range] as number; index < to; index++) {
      const tokenWeight = weight(index);
      if (tokenWeight <= 0) continue;
      last = index;
      remaining -= tokenWeight;
      if (remaining < 0) return index;
    }
  }
  // Rounding may leave a remainder, which belongs to the last token with a weight.
  return last;
}
