/** Emission of text during decoding. Emitted text is final. */

import { repeatedAtEnd } from '../shared/loop-guard.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';
import { WordStream } from './word-stream.ts';

/** The emitted text, with which later attempts must start. */
export class EmittedText {
  /** Tokens whose text is emitted, or buffered until the end of its word. */
  emitted: readonly number[] = [];
  readonly #words: WordStream;
  readonly #endOfText: number;

  constructor(tokenizer: WhisperTokenizer, language: string) {
    this.#words = new WordStream(tokenizer, language);
    this.#endOfText = tokenizer.special.endOfText;
  }

  /** Returns the new text of the tokens, except a repetitive tail. */
  emit(tokens: readonly number[]): string {
    const repeated = repeatedAtEnd(tokens.filter((token) => token < this.#endOfText));
    return this.#push(tokens.slice(0, lengthBefore(tokens, repeated, this.#endOfText)));
  }

  /** Returns the remaining text of the selected tokens. */
  finish(tokens: readonly number[]): string {
    return this.#push(tokens) + this.#words.flush();
  }

  #push(tokens: readonly number[]): string {
    let text = '';
    for (const token of tokens.slice(this.emitted.length)) text += this.#words.push(token);
    if (tokens.length > this.emitted.length) this.emitted = tokens;
    return text;
  }
}

/** Returns the number of tokens before the last `count` text tokens and the timestamps among them. */
export function lengthBefore(tokens: readonly number[], count: number, endOfText: number): number {
  let length = tokens.length;
  for (let remaining = count; remaining > 0 && length > 0; length--)
    if ((tokens[length - 1] ?? 0) < endOfText) remaining--;
  return length;
}
