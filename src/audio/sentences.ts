/** Cutting text into what is synthesised in one pass each (spec 4.3, rules 1 and 2; native/src/sentences.h). */

import { type ChunkerHandle, native } from './native.ts';

/**
 * Cuts a text that arrives bit by bit into sentences, and sentences of more than 400 characters (Unicode code
 * points) into clauses; no chunk has more than 600, the white space around it not counted. Joined, the chunks
 * are the text: white space belongs to the chunk before it. They do not depend on how the text was cut
 * into pushes.
 */
export class SentenceChunker {
  readonly #handle: ChunkerHandle = native.createChunker();

  /**
   * Takes text and returns the chunks that it completes; a sentence is complete once the characters behind
   * it confirm that it ended.
   * @throws TypeError when `text` is no string or the chunker is closed, RangeError when more than 2^24
   *   UTF-16 units would wait.
   */
  push(text: string): string[] {
    return native.chunkerPush(this.#handle, text);
  }

  /** Ends the text and returns what is left of it. The next push starts a new text. */
  flush(): string[] {
    return native.chunkerFlush(this.#handle);
  }

  /** Forgets the text that is waiting. */
  reset(): void {
    native.chunkerReset(this.#handle);
  }

  /** Frees the memory now instead of at the next garbage collection. Idempotent; other calls then throw. */
  close(): void {
    native.chunkerClose(this.#handle);
  }
}

/** The chunks of a whole text; empty for an empty text. */
export function splitSentences(text: string): string[] {
  const chunker = new SentenceChunker();
  try {
    return [...chunker.push(text), ...chunker.flush()];
  } finally {
    chunker.close();
  }
}
