/** Regroups streamed text into complete words and trims the whole text. */

/** In scripts without spaces between words, a word may end after every letter. */
const AFTER_LETTER_WITHOUT_SPACES =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]*$/u;
const LAST_SPACES = /\s+\S*$/;

export class WordBuffer {
  /** All text that was returned so far. */
  emittedText = '';
  #buffered = '';

  /** Whether any text was pushed. */
  get hasText(): boolean {
    return this.emittedText !== '' || this.#buffered !== '';
  }

  /** Returns the words that are complete with this piece; may be empty. A word is complete when the next one starts. */
  push(piece: string): string {
    this.#buffered += piece;
    if (this.emittedText === '') this.#buffered = this.#buffered.trimStart();
    const tail = this.#buffered.trimEnd();
    const end = Math.max(this.#buffered.search(LAST_SPACES), tail.search(AFTER_LETTER_WITHOUT_SPACES));
    return this.#emit(Math.max(0, end));
  }

  /** Returns the last word. */
  flush(): string {
    this.#buffered = this.#buffered.trimEnd();
    return this.#emit(this.#buffered.length);
  }

  #emit(characters: number): string {
    const emitted = this.#buffered.slice(0, characters);
    this.#buffered = this.#buffered.slice(characters);
    this.emittedText += emitted;
    return emitted;
  }
}
