/**
 * The next token from a step's logits: which tokens may follow, which is taken, how likely it was. The rules are
 * openai/whisper's `whisper/decoding.py` (SuppressBlank, SuppressTokens, ApplyTimestampRules, GreedyDecoder).
 */

import type { SpecialTokens } from '../shared/tokenizer.ts';

/** Latest time, in timestamp steps, at which the first segment may begin: OpenAI's `max_initial_timestamp` of 1 s. */
const LATEST_BEGIN_STEPS = 50;
/** The last timestamp token is 30 s. */
const LAST_STEP = 1_500;

/** What was said at one step. */
export interface TokenChoice {
  readonly token: number;
  /** Natural logarithm of the token's probability among those that might have followed, at temperature 1; within 0.002. */
  readonly logProbability: number;
}

export interface ChoiceOptions {
  /** Whether segments are told apart by timestamp tokens; without, there are none. */
  readonly timestamps: boolean;
  /** Timestamp token after which there is no audio; absent: 30 s. */
  readonly latestTimestamp?: number | undefined;
  /** 0: the likeliest token. Above: sampled. */
  readonly temperature: number;
  /** Uniform in [0, 1); asked once for each sampled token. */
  readonly random: () => number;
}

/** Chooses tokens for one model. Holds nothing of a transcript, so one object serves many. */
export class TokenRules {
  readonly #endOfText: number;
  readonly #timestampBegin: number;
  readonly #suppressed: Int32Array;
  readonly #suppressedAtBegin: Int32Array;

  /**
   * @param suppressed tokens that never follow; @param suppressedAtBegin and that never come first. Special
   *   tokens other than the end and the timestamps never follow, whether they are named or not.
   */
  constructor(
    special: Pick<SpecialTokens, 'endOfText' | 'timestampBegin'>,
    suppressed: readonly number[],
    suppressedAtBegin: readonly number[],
  ) {
    this.#endOfText = special.endOfText;
    this.#timestampBegin = special.timestampBegin;
    this.#suppressed = Int32Array.from(suppressed);
    this.#suppressedAtBegin = Int32Array.from(suppressedAtBegin);
  }

  /**
   * Chooses what follows.
   * @param logits of every token of the vocabulary; those of suppressed tokens are overwritten.
   * @param tokens chosen so far in this window, without the prompt.
   * @throws Error when the logits hold no number.
   */
  choose(logits: Float32Array, tokens: readonly number[], options: ChoiceOptions): TokenChoice {
    for (const token of this.#suppressed) logits[token] = Number.NEGATIVE_INFINITY;
    if (tokens.length === 0) {
      for (const token of this.#suppressedAtBegin) logits[token] = Number.NEGATIVE_INFINITY;
    }
    const allowed = this.#allowed(logits.length, tokens, options);
    const text = scan(logits, allowed.textFrom, allowed.textTo);
    const times = scan(logits, allowed.timeFrom, allowed.timeTo);
    // OpenAI's rule: when a timestamp is likelier than any single text token, it is a timestamp.
    const timesMass = logSum(times);
    const textAlso = text.token >= 0 && !(timesMass > text.most);
    if (!textAlso && times.token < 0) throw new Error('The decoder gave no logit that can be chosen.');
    const total = textAlso ? logAddExp(logSum(text), timesMass) : timesMass;
    let token = textAlso ? text.token : times.token;
    if (options.temperature > 0) {
      const { textFrom, textTo, timeFrom, timeTo } = allowed;
      const ranges = textAlso ? [textFrom, textTo, timeFrom, timeTo] : [timeFrom, timeTo];
      token = sample(logits, ranges, textAlso ? text.most : times.most, options);
    }
    return { token, logProbability: (logits[token] as number) - total };
  }

  /** Which tokens may follow: two runs, the end of text counting as text. */
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
        timeTo: Math.min(timeTo, begin + LATEST_BEGIN_STEPS + 1),
      };
    }
    const lastIsTime = (tokens.at(-1) as number) >= begin;
    const beforeIsTime = tokens.length < 2 || (tokens.at(-2) as number) >= begin;
    // After the end of a segment: the next one's begin, or the end of text.
    if (lastIsTime && !beforeIsTime) {
      return { textFrom: this.#endOfText, textTo, timeFrom: tokens.at(-1) as number, timeTo };
    }
    // After the begin of a segment: text.
    if (lastIsTime) return { textFrom: 0, textTo, timeFrom: begin, timeTo: begin };
    // Times never go back, and no segment is empty.
    const lastTime = tokens.findLast((token) => token >= begin);
    return { textFrom: 0, textTo, timeFrom: lastTime === undefined ? begin : lastTime + 1, timeTo };
  }
}

/** Text tokens and timestamps that may follow: from … to, the latter excluded. */
interface AllowedTokens {
  readonly textFrom: number;
  readonly textTo: number;
  readonly timeFrom: number;
  readonly timeTo: number;
}

/** The probability of one token among all, as OpenAI takes that of `<|nospeech|>` after `<|startoftranscript|>`. */
export function probabilityOf(logits: Float32Array, token: number): number {
  return Math.exp((logits[token] as number) - logSum(scan(logits, 0, logits.length)));
}

/** The likeliest of some tokens, and its probability among them: the language after `<|startoftranscript|>`. */
export function likeliestOf(
  logits: Float32Array,
  tokens: Iterable<number>,
): { readonly token: number; readonly probability: number } {
  const candidates = [...tokens];
  const chosen = Float32Array.from(candidates, (token) => logits[token] as number);
  const found = scan(chosen, 0, chosen.length);
  if (found.token < 0) throw new Error('The decoder gave no logit that can be chosen.');
  return { token: candidates[found.token] as number, probability: 1 / found.sum };
}

/** What a pass over some logits found; `token` is -1 when none was greater than minus infinity. */
interface Scan {
  readonly token: number;
  readonly most: number;
  /** Sum of e^(logit - most). */
  readonly sum: number;
}

/** Steps of the table of e^-x for each 1 of x, and where it ends: 2^16 tokens that far off weigh nothing. */
const STEPS = 256;
const FARTHEST = 24;
/** e^-x in the middle of each step. */
const DECAY = Float32Array.from({ length: FARTHEST * STEPS }, (_, index) => Math.exp(-(index + 0.5) / STEPS));

/**
 * Greatest logit, the first where several are equal, and the sum of the exponentials. Those come from a table,
 * five times as fast as Math.exp: each is off by at most 1 / 512 of itself, to either side.
 */
function scan(logits: Float32Array, from: number, to: number): Scan {
  let token = -1;
  let most = Number.NEGATIVE_INFINITY;
  for (let index = from; index < to; index++) {
    const logit = logits[index] as number;
    if (logit > most) {
      most = logit;
      token = index;
    }
  }
  if (token < 0) return { token, most, sum: 0 };
  // The greatest itself is exactly 1.
  let sum = 1 - (DECAY[0] as number);
  for (let index = from; index < to; index++) {
    const below = most - (logits[index] as number);
    if (below < FARTHEST) sum += DECAY[(below * STEPS) >>> 0] as number;
  }
  return { token, most, sum };
}

const logSum = ({ most, sum }: Scan): number => (sum > 0 ? most + Math.log(sum) : Number.NEGATIVE_INFINITY);

function logAddExp(a: number, b: number): number {
  const most = Math.max(a, b);
  return most === Number.NEGATIVE_INFINITY ? most : most + Math.log(Math.exp(a - most) + Math.exp(b - most));
}

/** Draws a token from `ranges` (from, to, from, to …) with probabilities ∝ e^(logit / temperature). */
function sample(
  logits: Float32Array,
  ranges: readonly number[],
  most: number,
  { temperature, random }: ChoiceOptions,
): number {
  const weight = (index: number): number => Math.exp(((logits[index] as number) - most) / temperature);
  let total = 0;
  for (let range = 0; range < ranges.length; range += 2) {
    const to = ranges[range + 1] as number;
    for (let index = ranges[range] as number; index < to; index++) total += weight(index);
  }
  let left = random() * total;
  let last = -1;
  for (let range = 0; range < ranges.length; range += 2) {
    const to = ranges[range + 1] as number;
    for (let index = ranges[range] as number; index < to; index++) {
      const part = weight(index);
      if (part <= 0) continue;
      last = index;
      left -= part;
      if (left < 0) return index;
    }
  }
  // Rounding may leave a rest: the last token that has any weight takes it.
  return last;
}
