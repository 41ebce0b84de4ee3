import type { SpokenWord } from '../../../src/contract/engines/engine.ts';

/** A word of a response; times in seconds from the start of the audio. */
export interface WireWord {
  /** With its punctuation. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** The words of a synthesis, until they are sent. A text has at most 5000 characters, so their number is limited. */
export class TimedWords {
  #words: WireWord[] = [];

  add(words: readonly SpokenWord[]): void {
    for (const { text, startMs, endMs } of words) {
      const word = text.trim();
      if (word !== '') this.#words.push({ word, start: seconds(startMs), end: seconds(endMs) });
    }
  }

  /** Returns the words since the last call. */
  take(): readonly WireWord[] {
    const words = this.#words;
    this.#words = [];
    return words;
  }
}

/** Whole milliseconds in seconds. */
function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
