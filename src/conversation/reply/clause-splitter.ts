/**
 * Splits the text of a reply, while it arrives, into clauses to synthesize. The first clause ends at its first pause, because the
 * listener waits for it. The others are sentences. A reply that arrives more slowly than it is spoken is split earlier
 * ({@link ClauseSplitter.takeEarly}).
 */

import { SentenceChunker } from '../../audio/sentences.ts';

/** Words after which the first clause ends without a pause. */
const MAX_FIRST_WORDS = 6;
/** Words of a clause that is taken early without a pause at its end. */
const MIN_EARLY_WORDS = 5;

/**
 * A pause inside a sentence, with the white space that follows it. A comma inside a number has none. After a letter, a comma need not
 * wait for what follows.
 */
const PAUSE = /[,;:،、；：—–][”"’)\]]*\s+|(?<=\p{L})[,;،、；，]$/gu;
/** The same, or the end of a sentence that is not confirmed by the following text yet. */
const EARLY_PAUSE = /[.!?…。！？,;:،、；：—–][”"’)\]]*\s+/gu;
const WORD = /\S*[\p{L}\p{N}]\S*/gu;

export class ClauseSplitter {
  readonly #chunker = new SentenceChunker();
  /** Text that is not returned yet. */
  #pending = '';
  #isFirst = true;

  /** Adds text. @returns the completed clauses. Together, all clauses are the text. */
  push(text: string): string[] {
    this.#pending += text;
    const clauses = this.#chunker.push(text);
    for (const clause of clauses) this.#pending = this.#pending.slice(clause.length);
    if (clauses.some(hasWord)) this.#isFirst = false;
    const first = this.#isFirst ? this.#takeFirst() : undefined;
    return first === undefined ? clauses : [...clauses, first];
  }

  /**
   * Returns the start of an incomplete sentence: up to its last pause, or up to its last complete word. Undefined if that
   * would be too short.
   */
  takeEarly(): string | undefined {
    const pauses = [...this.#pending.matchAll(EARLY_PAUSE)];
    const pause = pauses.at(-1);
    const end = pause === undefined ? this.#lastWordStart(MIN_EARLY_WORDS) : pause.index + pause[0].length;
    return end === undefined || !hasWord(this.#pending.slice(0, end)) ? undefined : this.#take(end);
  }

  /** Ends the text. @returns the rest. A later push starts a new text. */
  end(): string[] {
    this.#pending = '';
    this.#isFirst = true;
    return this.#chunker.flush();
  }

  /** Frees the memory. Idempotent; other calls then throw. */
  close(): void {
    this.#chunker.close();
  }

  #takeFirst(): string | undefined {
    for (const { index, 0: pause } of this.#pending.matchAll(PAUSE)) {
      const end = index + pause.length;
      if (hasWord(this.#pending.slice(0, end))) return this.#take(end);
    }
    const end = this.#lastWordStart(MAX_FIRST_WORDS);
    return end === undefined ? undefined : this.#take(end);
  }

  /** Start of the last word, which may be incomplete, if at least `min` words precede it. */
  #lastWordStart(min: number): number | undefined {
    const words = wordsOf(this.#pending);
    return words.length > min ? words.at(-1)?.index : undefined;
  }

  #take(length: number): string {
    const clause = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    this.#isFirst = false;
    this.#chunker.reset();
    // The rest has no complete sentence: the chunker would have returned it.
    this.#chunker.push(this.#pending);
    return clause;
  }
}

function wordsOf(text: string): RegExpExecArray[] {
  return [...text.matchAll(WORD)];
}

function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
