/** Text tokens as they come, made whole words: what a listener may see before the rest is known. */

import { hasSpaces } from '../shared/languages.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';

/**
 * Gives out a word once the next one begins, with the space before it. In languages without spaces a character
 * is a word, with its marks; Latin words and figures stay whole there too. Characters whose bytes are spread
 * over several tokens wait for the last of them.
 *
 * What {@link push} and {@link flush} return is together the text of all tokens, without spaces at either end.
 */
export class WordStream {
  readonly #tokenizer: Pick<WhisperTokenizer, 'bytesOf' | 'special'>;
  readonly #openEnd: (text: string) => number;
  #decoder = newDecoder();
  #waiting = '';
  #begun = false;

  /** @param language ISO code of the text that comes out; undefined: one with spaces. */
  constructor(tokenizer: Pick<WhisperTokenizer, 'bytesOf' | 'special'>, language: string | undefined) {
    this.#tokenizer = tokenizer;
    this.#openEnd = hasSpaces(language) ? lastWord : lastCharacter;
  }

  /**
   * Takes one token and returns what it completes, often nothing. A special token or a timestamp completes
   * the word before it; a character that is unfinished there is U+FFFD.
   */
  push(token: number): string {
    if (token >= this.#tokenizer.special.endOfText) {
      this.#waiting += this.#decoder.decode();
      this.#decoder = newDecoder();
      return this.#give(this.#waiting.trimEnd().length);
    }
    const text = this.#decoder.decode(this.#tokenizer.bytesOf(token), { stream: true });
    if (text === '') return '';
    this.#waiting += text;
    return this.#give(this.#openEnd(this.#waiting));
  }

  /** Returns the rest. The stream is then as new. */
  flush(): string {
    const rest = this.push(this.#tokenizer.special.endOfText);
    this.#waiting = '';
    this.#begun = false;
    return rest;
  }

  #give(length: number): string {
    const complete = this.#waiting.slice(0, length);
    const delta = this.#begun ? complete : complete.trimStart();
    if (delta === '') return '';
    this.#waiting = this.#waiting.slice(length);
    this.#begun = true;
    return delta;
  }
}

const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
const SPACE = /\s/;
/** A character with its marks, or a Latin word or figure, at the end. */
const LAST_CHARACTER = /(?:[\p{Script=Latin}\p{N}\p{M}]+|\P{M}\p{M}*)$/u;

/** Where the last word begins, with the space before it. */
function lastWord(text: string): number {
  let index = text.length;
  while (index > 0 && !SPACE.test(text.charAt(index - 1))) index--;
  return beforeSpace(text, index);
}

/** Where the last character begins, with the space before it. */
function lastCharacter(text: string): number {
  return beforeSpace(text, text.search(LAST_CHARACTER));
}

function beforeSpace(text: string, end: number): number {
  let index = end;
  while (index > 0 && SPACE.test(text.charAt(index - 1))) index--;
  return index;
}
