import type { SpokenWord } from '../../../src/contract/engines/engine.ts';
import type { TimedMark } from '../../../src/speak/marked-text.ts';

/** A word of a response; times in seconds from the start of the audio. */
export interface WireWord {
  /** With its punctuation. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A mark of SSML; its time in seconds from the start of the audio. */
export interface WireMark {
  readonly name: string;
  readonly time: number;
}

/** The words and marks of a synthesis, until they are sent. A text has at most 5000 characters, so their number is limited. */
export class TimedWords {
  #words: WireWord[] = [];
  #marks: WireMark[] = [];

  add(words: readonly SpokenWord[]): void {
    for (const { text, startMs, endMs } of words) {
      const word = text.trim();
      if (word !== '') this.#words.push({ word, start: seconds(startMs), end: seconds(endMs) });
    }
  }

  addMarks(marks: readonly TimedMark[]): void {
    for (const { name, timeMs } of marks) this.#marks.push({ name, time: seconds(timeMs) });
  }

  /** Returns the marks since the last call. */
  takeMarks(): readonly WireMark[] {
    const marks = this.#marks;
    this.#marks = [];
    return marks;
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
