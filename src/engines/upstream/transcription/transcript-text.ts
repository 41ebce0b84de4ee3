/** The text of a response, as deltas of whole words with their tokens. */

import type { TextToken, TranscriptionEvent } from '../../../contract/engines/engine.ts';
import { TextTokens } from '../../../kit/text/text-tokens.ts';
import { WordBuffer } from './word-buffer.ts';

export class TranscriptText {
  readonly #words = new WordBuffer();
  readonly #queue = new TextTokens();
  readonly #wantsTokens: boolean;
  #tokens: TextToken[] | undefined;

  /** @param wantsTokens otherwise tokens are ignored. */
  constructor(wantsTokens: boolean) {
    this.#wantsTokens = wantsTokens;
  }

  /** All text that was returned so far. */
  get emitted(): string {
    return this.#words.emittedText;
  }

  /** Whether any text was pushed. */
  get hasText(): boolean {
    return this.#words.hasText;
  }

  /** The tokens of the returned text; undefined if the server reports none. */
  get tokens(): readonly TextToken[] | undefined {
    return this.#tokens;
  }

  /** Appends tokens, before the text that they are part of. */
  addTokens(tokens: readonly TextToken[] | undefined): void {
    if (tokens === undefined || !this.#wantsTokens) return;
    this.#tokens ??= [];
    for (const token of tokens) this.#queue.push(token);
  }

  /** Returns the words that are complete with this piece. */
  push(piece: string): TranscriptionEvent[] {
    const text = this.#words.push(piece);
    return this.#delta(text, this.#queue.take(text));
  }

  /** Returns the last word. */
  flush(): TranscriptionEvent[] {
    return this.#delta(this.#words.flush(), this.#queue.flush());
  }

  #delta(text: string, tokens: readonly TextToken[]): TranscriptionEvent[] {
    this.#tokens?.push(...tokens);
    if (text === '') return [];
    return [{ kind: 'delta', text, tokens: this.#tokens && tokens }];
  }
}
