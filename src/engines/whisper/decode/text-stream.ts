/** Text that leaves while it is decoded, and is never taken back. */

import { repeatedAtEnd } from '../shared/loop-guard.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';
import { WordStream } from './word-stream.ts';

/** The text that has left, which later attempts have to begin with. */
export class LeavingText {
  /** Tokens whose text has left, or waits for the end of its word. */
  left: readonly number[] = [];
  readonly #words: WordStream;
  readonly #endOfText: number;

  constructor(tokenizer: WhisperTokenizer, language: string) {
    this.#words = new WordStream(tokenizer, language);
    this.#endOfText = tokenizer.special.endOfText;
  }

  /** Lets everything leave but a tail that repeats what stands before it. */
  leave(tokens: readonly number[]): string {
    const held = repeatedAtEnd(tokens.filter((token) => token < this.#endOfText));
    return this.#push(tokens.slice(0, lengthBefore(tokens, held, this.#endOfText)));
  }

  /** The rest of the tokens that were decided for. */
  finish(tokens: readonly number[]): string {
    return this.#push(tokens) + this.#words.flush();
  }

  #push(tokens: readonly number[]): string {
    let text = '';
    for (const token of tokens.slice(this.left.length)) text += this.#words.push(token);
    if (tokens.length > this.left.length) this.left = tokens;
    return text;
  }
}

/** How many tokens there are before the last `count` of text and the times among those. */
export function lengthBefore(tokens: readonly number[], count: number, endOfText: number): number {
  let length = tokens.length;
  for (let left = count; left > 0 && length > 0; length--) if ((tokens[length - 1] ?? 0) < endOfText) left--;
  return length;
}
