/** Splits text into the units of speech synthesis (spec 4.3, rules 1 and 2; native/src/sentences.h). */

import { type ChunkerHandle, native } from './native.ts';

/**
 * Splits streamed text into sentences, and sentences of more than 400 characters (Unicode code points) into
 * clauses. A chunk has at max 600 characters, not counting surrounding white space. White space belongs to
 * the preceding chunk, so the chunks join to the text. The chunks do not depend on how the text is split into
 * pushes.
 */
export class SentenceChunker {
  readonly #handle: ChunkerHandle = native.createChunker();

  /**
   * Pushes text and returns the completed chunks. A sentence is complete once the following characters
   * confirm its end.
   * @throws TypeError if `text` is not a string or the chunker is closed.
   * @throws RangeError if more than 2^24 UTF-16 units would be buffered.
   */
  push(text: string): string[] {
    return native.chunkerPush(this.#handle, text);
  }

  /** Ends the text and returns the remaining chunks. The next push starts a new text. */
  flush(): string[] {
    return native.chunkerFlush(this.#handle);
  }

  /** Discards the buffered text. */
  reset(): void {
    native.chunkerReset(this.#handle);
  }

  /**
   * Frees the memory immediately instead of at the next garbage collection. Idempotent. Other calls then
   * throw.
   */
  close(): void {
    native.chunkerClose(this.#handle);
  }
}

/** Returns the chunks of a complete text. An empty text has none. */
export function splitSentences(text: string): string[] {
  const chunker = new SentenceChunker();
  try {
    return [...chunker.push(text), ...chunker.flush()];
  } finally {
    chunker.close();
  }
}
