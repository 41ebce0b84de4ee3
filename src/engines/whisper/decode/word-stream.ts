/** Converts a stream of text tokens to whole words. */

import { hasSpaces } from '../shared/languages.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';

/**
 * Returns a word, with the space before it, when the next word starts. In languages without spaces, a word is a character
 * with its combining marks; Latin words and numbers are not split. Characters whose bytes span several tokens are buffered
 * until the last of them.
 *
 * The results of {@link push} and {@link flush} concatenate to the text of all tokens, without spaces at either end.
 */
export class WordStream {
  readonly #tokenizer: Pick<WhisperTokenizer, 'bytesOf' | 'special'>;
  readonly #openEnd: (text: string) => number;
  #decoder = newDecoder();
  #pending = '';
  #started = false;

  /** @param language ISO code of the text. Undefined: a language with spaces. */
  constructor(tokenizer: Pick<WhisperTokenizer, 'bytesOf' | 'special'>, language: string | undefined) {
    this.#tokenizer = tokenizer;
    this.#openEnd = hasSpaces(language) ? lastWord : lastCharacter;
  }

  /**
   * Appends one token and returns the text that it completes, which is often empty. A special token or a timestamp
   * completes the word before it. An incomplete character at that point is returned as U+FFFD.
   */
  push(token: number): string {
    if (token >= this.#tokenizer.special.endOfText) {
      this.#pending += this.#decoder.decode();
      this.#decoder = newDecoder();
      return this.#takeText(this.#pending.trimEnd().length);
    }
    const text = this.#decoder.decode(this.#tokenizer.bytesOf(token), { stream: true });
    if (text === '') return '';
    this.#pending += text;
    return this.#takeText(this.#openEnd(this.#pending));
  }

  /** Returns the remaining text and resets the stream. */
  flush(): string {
    const rest = this.push(this.#tokenizer.special.endOfText);
    this.#pending = '';
    this.#started = false;
    return rest;
  }

  #takeText(length: number): string {
    const complete = this.#pending.slice(0, length);
    const delta = this.#started ? complete : complete.trimStart();
    if (delta === '') return '';
    this.#pending = this.#pending.slice(length);
    this.#started = true;
    return delta;
  }
}

const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
const SPACE = /\s/;
/** A character with its combining marks, or a Latin word or number, at the end. */
const LAST_CHARACTER = /(?:[\p{Script=Latin}\p{N}\p{M}]+|\P{M}\p{M}*)$/u;

/** Start of the last word, including the space before it. */
function lastWord(text: string): number {
  let index = text.length;
  while (index > 0 && !SPACE.test(text.charAt(index - 1))) index--;
  return beforeSpace(text, index);
}

/** Start of the last character, including the space before it. */
function lastCharacter(text: string): number {
  return beforeSpace(text, text.search(LAST_CHARACTER));
}

function beforeSpace(text: string, end: number): number {
  let index = end;
  while (index > 0 && SPACE.test(text.charAt(index - 1))) index--;
  return index;
}
