/** Times of the words of a text that is synthesized clause by clause, in the audio of the whole text. */

import type { SpokenWord } from '../contract/engines/engine.ts';

/** Speaking rate with which words are timed until the audio of their clause is complete. */
const MS_PER_CHARACTER = 65;

export interface WordTimelineOptions {
  /** Words are about to be played. @param isEstimated whether their times are reported again as soon as they are known better. */
  readonly onWords: (words: readonly SpokenWord[], isEstimated: boolean) => void;
  /** The times of the last reported words are now known better. */
  readonly onRetimed: (words: readonly SpokenWord[]) => void;
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
  addWords(words: readonly SpokenWord[]): void {
    this.#isTimed = true;
    const timed = words.map(({ text, startMs, endMs }) => ({
      text,
      startMs: this.#startMs + startMs,
      endMs: this.#startMs + endMs,
    }));
    this.#report(timed, false);
  }

  /** Audio of the clause is about to be played. */
  addAudio(lengthMs: number): void {
    if (this.#clauseMs === 0 && !this.#isTimed) {
      this.#isEstimated = true;
      this.#report(this.#interpolated(this.#clause.length * MS_PER_CHARACTER), true);
    }
    this.#clauseMs += lengthMs;
  }

  /** The audio of the clause is complete. */
  endClause(): void {
    if (this.#isEstimated) this.#options.onRetimed(this.#interpolated(this.#clauseMs));
    // Text without sound is part of the transcript.
    else if (!this.#isTimed && this.#clause !== '') this.#report(this.#interpolated(0), false);
    this.#startMs += this.#clauseMs;
    this.#clauseMs = 0;
    this.#clause = '';
    this.#isEstimated = false;
    this.#isTimed = false;
  }

  #interpolated(lengthMs: number): SpokenWord[] {
    return interpolateWords(this.#clause, lengthMs).map(({ text, startMs, endMs }) => ({
      text,
      startMs: this.#startMs + startMs,
      endMs: this.#startMs + endMs,
    }));
  }

  #report(words: readonly SpokenWord[], isEstimated: boolean): void {
    if (words.length > 0) this.#options.onWords(words, isEstimated);
  }
}

/** Distributes a duration over the words of a text by their length. The words with the white space after them are the text. */
function interpolateWords(text: string, lengthMs: number): SpokenWord[] {
  const pieces = text.match(/^\s*\S+\s*|\S+\s*/g) ?? (text === '' ? [] : [text]);
  const msPerCharacter = lengthMs / Math.max(1, text.length);
  let at = 0;
  return pieces.map((piece) => {
    const startMs = at * msPerCharacter;
    at += piece.length;
    return { text: piece, startMs, endMs: at * msPerCharacter };
  });
}
