/** Times of the words of a synthesized text, from the durations that a model predicts for its tokens. */

import type { SpokenWord } from '../../contract/engines/engine.ts';
import { splitWords } from '../../kit/text/words.ts';
import type { AudibleFrames } from './frame-windows.ts';

/**
 * For each token, the position in the text of the word that it belongs to; undefined for pauses, punctuation and pads.
 * Positions are in ascending order.
 */
export type TokenSources = readonly (number | undefined)[];

/** One run of a model: the tokens of a part of the text. */
export interface TimedTokens extends Pick<AudibleFrames, 'from' | 'to'> {
  readonly sources: TokenSources;
  /** Frames of each token. */
  readonly durations: ArrayLike<number>;
}

/** The words of one request. Runs are added in order; their audible frames follow each other without a gap. */
export class WordTimes {
  /** The words that have tokens, and the positions in the text where they end. */
  readonly #words: readonly { readonly text: string; readonly end: number }[];
  readonly #frameMs: number;
  /** Index of the word of the last token. */
  #at = 0;
  /** Number of words that were returned. */
  #returned = 0;
  /** Duration of the previous runs. */
  #audioMs = 0;

  /**
   * @param sources of the tokens of all runs.
   * @param frameMs duration of a frame.
   */
  constructor(text: string, sources: TokenSources, frameMs: number) {
    this.#frameMs = frameMs;
    const positions = sources.filter((source) => source !== undefined);
    let next = 0;
    let end = 0;
    this.#words = splitWords(text, (word, start) => {
      const first = next;
      while ((positions[next] ?? Number.POSITIVE_INFINITY) < start + word.length) next++;
      return next > first;
    }).map((word) => {
      end += word.length;
      return { text: word, end };
    });
  }

  /** Adds a run and returns the words that start in it. A word that continues in the next run ends with this one. */
  add({ sources, durations, from, to }: TimedTokens): SpokenWord[] {
    const timeMs = (frame: number) =>
      this.#audioMs + (Math.min(Math.max(frame, from), to) - from) * this.#frameMs;
    const words: SpokenWord[] = [];
    let end = 0;
    for (const [i, source] of sources.entries()) {
      const start = end;
      end += durations[i] ?? 0;
      if (source === undefined) continue;
      while (source >= (this.#words[this.#at]?.end ?? Number.POSITIVE_INFINITY)) this.#at++;
      const last = words.at(-1);
      if (this.#at < this.#returned) {
        if (last !== undefined) words[words.length - 1] = { ...last, endMs: timeMs(end) };
      } else {
        const text = this.#words[this.#at]?.text ?? '';
        words.push({ text, startMs: timeMs(start), endMs: timeMs(end) });
        this.#returned = this.#at + 1;
      }
    }
    this.#audioMs += (to - from) * this.#frameMs;
    return words;
  }
}
