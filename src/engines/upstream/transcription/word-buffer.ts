/** Text in any pieces as runs of whole words, with no spaces at either end of the whole. */

/** After a letter of a script that puts no spaces between words, a word may end. */
const AFTER_LETTER_WITHOUT_SPACES =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]*$/u;
const LAST_SPACES = /\s+\S*$/;

export class WholeWords {
  /** All that was given out. */
  text = '';
  #held = '';

  /** Whether there was any text. */
  get begun(): boolean {
    return this.text !== '' || this.#held !== '';
  }

  /** Words that the piece completes, maybe none: a word ends where the next one begins. */
  push(piece: string): string {
    this.#held += piece;
    if (this.text === '') this.#held = this.#held.trimStart();
    const tail = this.#held.trimEnd();
    const end = Math.max(this.#held.search(LAST_SPACES), tail.search(AFTER_LETTER_WITHOUT_SPACES));
    return this.#give(Math.max(0, end));
  }

  /** The last word. */
  end(): string {
    this.#held = this.#held.trimEnd();
    return this.#give(this.#held.length);
  }

  #give(characters: number): string {
    const given = this.#held.slice(0, characters);
    this.#held = this.#held.slice(characters);
    this.text += given;
    return given;
  }
}
