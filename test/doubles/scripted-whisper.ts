/** Whisper graphs with scripted output, and a small tokenizer for the scripts. */

import type {
  DecoderCache,
  EncodedWindow,
  WhisperGraphs,
  WhisperShape,
} from '../../src/engines/whisper/shared/graphs.ts';
import type { Attention } from '../../src/engines/whisper/shared/token-alignment.ts';
import { WhisperTokenizer } from '../../src/engines/whisper/shared/tokenizer.ts';
import { smallTokenizerFile } from '../generators/small-tokenizer.ts';

/** One-letter words; each is one token including its leading space. */
export const WORDS = [...'abcdefghijklmnopqrstuvwxyz'];

class WordTokenizer extends WhisperTokenizer {
  /** Suppresses nothing: the small vocabulary would spell sound annotations with tokens of words. */
  override suppressed(): number[] {
    return [];
  }
}

export const wordTokenizer: WhisperTokenizer = new WordTokenizer(
  smallTokenizerFile(WORDS.map((letter) => [' ', letter] as const)),
);
const { special } = wordTokenizer;
export const VOCABULARY = special.timestampBegin + 1_501;

const FIRST_WORD = 256;

/** Token of a word of {@link WORDS}, of a time such as `<1.50>`, or of the end, `.`. */
export function tokenOf(word: string): number {
  if (word === '.') return special.endOfText;
  const time = /^<([\d.]+)>$/.exec(word)?.[1];
  if (time !== undefined) return special.timestampBegin + Math.round(Number(time) * 50);
  const [token] = wordTokenizer.encode(` ${word}`);
  if (token === undefined) throw new Error('empty word');
  return token;
}

/** Logits by token; all others are 0. */
export type Logits = Readonly<Record<number, number>>;

/** Logit of a certain word. */
export const SURE = 20;
/** Logit of a word with a probability of about 0.2, which is below the limit for a text. */
export const UNSURE = 4.3;

/** Inputs of one decoding attempt of a window. */
export interface AttemptSeen {
  /** Mel frames that were encoded. */
  readonly frames: number;
  /** Tokens before the text, including special tokens. */
  readonly prompt: readonly number[];
  /** Forced text tokens at the beginning. */
  readonly begun: readonly number[];
}

/**
 * Logits of the next token.
 * @param decoded text tokens and times of the attempt so far.
 * @param attempt number of the attempt, from 0 on.
 */
export type Script = (decoded: readonly number[], attempt: number) => Logits;

/** Decodes one text per attempt; the last text is used for all later attempts. */
export function texts(...scripts: readonly { readonly words: string; readonly logit?: number }[]): Script {
  const attempts = scripts.map(({ words, logit = SURE }) => ({
    tokens: words.split(' ').filter(Boolean).map(tokenOf),
    logit,
  }));
  return (decoded, attempt) => {
    const { tokens, logit } = attempts[attempt] ?? attempts.at(-1) ?? { tokens: [], logit: SURE };
    return { [tokens[decoded.length] ?? special.endOfText]: logit };
  };
}

export const says = (words: string): Script => texts({ words });

/** Repeats words without end. */
export const loops =
  (words: string, before = ''): Script =>
  (decoded) => {
    const [first, block] = [before, words].map((each) => each.split(' ').filter(Boolean).map(tokenOf));
    const at = decoded.length - (first?.length ?? 0);
    return { [(at < 0 ? first?.[decoded.length] : block?.[at % (block?.length ?? 1)]) ?? 0]: SURE };
  };

export interface ScriptedOptions {
  /** After `<|startoftranscript|>`: languages and `<|nospeech|>`. */
  readonly start?: Logits;
  readonly shortWindows?: boolean;
  readonly textPositions?: number;
  /** Tokens that are not words are never emitted. */
  readonly wordsAlone?: boolean;
  readonly attention?: (rows: number, frames: number) => Attention | undefined;
}

export class ScriptedGraphs implements WhisperGraphs {
  readonly shape: WhisperShape;
  readonly shortWindows: boolean;
  readonly attempts: AttemptSeen[] = [];
  /** Mel frames of each encoded window. */
  readonly encoded: number[] = [];
  /** Tokens of each aligned text. */
  readonly aligned: (readonly number[])[] = [];
  steps = 0;
  readonly #script: Script;
  readonly #options: ScriptedOptions;
  readonly #frames = new WeakMap<EncodedWindow, number>();
  readonly #tokens = new WeakMap<DecoderCache, readonly number[]>();

  constructor(script: Script, options: ScriptedOptions = {}) {
    this.#script = script;
    this.#options = options;
    const { textPositions = 448 } = options;
    this.shape = { width: 32, heads: 2, decoderLayers: 2, melBands: 80, textPositions };
    this.shortWindows = options.shortWindows ?? true;
  }

  async encode(mel: Float32Array, frames: number): Promise<EncodedWindow> {
    if (mel.length !== this.shape.melBands * frames) throw new Error('the spectrogram has a wrong length');
    this.encoded.push(frames);
    const window = { tensors: {} };
    this.#frames.set(window, frames);
    return window;
  }

  async step(window: EncodedWindow, tokens: readonly number[], before?: DecoderCache) {
    this.steps += 1;
    const all = [...((before && this.#tokens.get(before)) ?? []), ...tokens];
    if (all.length > this.shape.textPositions)
      throw new Error('more tokens than the model has positions for');
    const cache = { tensors: {} };
    this.#tokens.set(cache, all);
    // The last special token that is not a timestamp ends the prompt.
    const length =
      1 + all.findLastIndex((token) => token >= special.endOfText && token < special.timestampBegin);
    const decoded = all.slice(length);
    if (all.length === 1) return { logits: this.#logits(this.#options.start ?? {}), cache };
    if (before === undefined) {
      const frames = this.#frames.get(window) ?? 0;
      this.attempts.push({ frames, prompt: all.slice(0, length), begun: decoded });
    }
    return { logits: this.#logits(this.#script(decoded, this.attempts.length - 1)), cache };
  }

  async align(window: EncodedWindow, tokens: readonly number[]): Promise<Attention | undefined> {
    this.aligned.push(tokens);
    return this.#options.attention?.(tokens.length, (this.#frames.get(window) ?? 0) / 2);
  }

  async close(): Promise<void> {}

  #logits(logits: Logits): Float32Array<ArrayBuffer> {
    const all = new Float32Array(VOCABULARY);
    if (this.#options.wordsAlone) all.fill(Number.NEGATIVE_INFINITY, 0, FIRST_WORD);
    for (const [token, logit] of Object.entries(logits)) all[Number(token)] = logit;
    return all;
  }
}
