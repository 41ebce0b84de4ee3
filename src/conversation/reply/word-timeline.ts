/** Times of the words of a reply, in the audio of its item. */

import type { TimedWord } from '../items/item.ts';

/** Speaking rate with which words are timed until the audio of their clause is complete. */
const MS_PER_CHARACTER = 65;

export interface WordTimelineOptions {
  /** Words are about to be played. @param startMs time of the first word. */
  readonly onWords: (words: readonly TimedWord[], startMs: number) => void;
  /** The times of the last reported words are now known better. */
  readonly onRetimed: (words: readonly TimedWord[]) => void;
}

/**
 * Reports the words of each clause before its audio. An engine may report their times; otherwise they are estimated, and
 * interpolated when the length of the clause is known.
 */
export class WordTimeline {
  readonly #options: WordTimelineOptions;
  /** Audio of the finished clauses, and of the current one so far. */
  #startMs = 0;
  #clauseMs = 0;
  #clause = '';
  /** Whether the words of the clause are reported with estimated times. */
  #isEstimated = false;
  /** Whether the engine reports the times of the clause. */
  #isTimed = false;

  constructor(options: WordTimelineOptions) {
    this.#options = options;
  }

  /** A clause starts. */
  startClause(text: string): void {
    this.endClause();
    this.#clause = text;
  }

  /** The engine reports times. @param words relative to the start of the clause. */
  addWords(words: readonly TimedWord[]): void {
    this.#isTimed = true;
    const timed = words.map(({ text, startMs, endMs }) => ({
      text,
      startMs: this.#startMs + startMs,
      endMs: this.#startMs + endMs,
    }));
    this.#report(timed);
  }

  /** Audio of the clause is about to be played. */
  addAudio(lengthMs: number): void {
    if (this.#clauseMs === 0 && !this.#isTimed) {
      this.#isEstimated = true;
      this.#report(this.#interpolated(this.#clause.length * MS_PER_CHARACTER));
    }
    this.#clauseMs += lengthMs;
  }

  /** The audio of the clause is complete. */
  endClause(): void {
    if (this.#isEstimated) this.#options.onRetimed(this.#interpolated(this.#clauseMs));
    // Text without sound is part of the transcript.
    else if (!this.#isTimed && this.#clause !== '') this.#report(this.#interpolated(0));
    this.#startMs += this.#clauseMs;
    this.#clauseMs = 0;
    this.#clause = '';
    this.#isEstimated = false;
    this.#isTimed = false;
  }

  #interpolated(lengthMs: number): TimedWord[] {
    return interpolateWords(this.#clause, lengthMs).map(({ text, startMs, endMs }) => ({
      text,
      startMs: this.#startMs + startMs,
      endMs: this.#startMs + endMs,
    }));
  }

  #report(words: readonly TimedWord[]): void {
    const [first] = words;
    if (first !== undefined) this.#options.onWords(words, first.startMs);
  }
}

/** Distributes a duration over the words of a text by their length. The words with the white space after them are the text. */
function interpolateWords(text: string, lengthMs: number): TimedWord[] {
  const pieces = text.match(/^\s*\S+\s*|\S+\s*/g) ?? (text === '' ? [] : [text]);
  const msPerCharacter = lengthMs / Math.max(1, text.length);
  let at = 0;
  return pieces.map((piece) => {
    const startMs = at * msPerCharacter;
    at += piece.length;
    return { text: piece, startMs, endMs: at * msPerCharacter };
  });
}
