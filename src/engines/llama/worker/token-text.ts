/** Converts the tokens of a response to text. */

/** A character has at most four bytes, so more tokens without a complete character are invalid UTF-8. */
const MAX_INCOMPLETE_TOKENS = 4;
const REPLACEMENT_CHARACTER = '\ufffd';

/** Incremental detokenizer. Returns only complete characters. */
export class TokenText {
  readonly #detokenize: (tokens: readonly number[]) => string;
  /** The last returned token: some tokenizers omit the space before the first token of a text. */
  #previous: readonly number[] = [];
  /** Tokens that end with an incomplete character. */
  #incomplete: readonly number[] = [];

  /** @param detokenize returns U+FFFD for incomplete characters. */
  constructor(detokenize: (tokens: readonly number[]) => string) {
    this.#detokenize = detokenize;
  }

  /** Adds a token and returns the characters that it completes. */
  push(token: number): string {
    this.#incomplete = [...this.#incomplete, token];
    const text = this.#text();
    const complete =
      !text.endsWith(REPLACEMENT_CHARACTER) || this.#incomplete.length >= MAX_INCOMPLETE_TOKENS;
    if (!complete) return '';
    this.#previous = this.#incomplete.slice(-1);
    this.#incomplete = [];
    return text;
  }

  /** Returns the rest of a response, in which an incomplete character is U+FFFD. */
  end(): string {
    const text = this.#incomplete.length === 0 ? '' : this.#text();
    this.#incomplete = [];
    return text;
  }

  #text(): string {
    const before = this.#previous.length === 0 ? '' : this.#detokenize(this.#previous);
    return this.#detokenize([...this.#previous, ...this.#incomplete]).slice(before.length);
  }
}
