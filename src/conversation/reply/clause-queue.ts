/** The clauses of a reply: filled by the language model, read by the speech synthesis. */

import { ClauseSplitter } from './clause-splitter.ts';
import { SpeakableText } from './speakable-text.ts';

/** The synthesis takes an incomplete sentence when the listener has less audio than this, in ms. */
export const MIN_AHEAD_MS = 700;

export interface ClauseQueueOptions {
  /** Unplayed audio of the listener in ms; undefined before the first audio. */
  readonly aheadMs: () => number | undefined;
}

export class ClauseQueue implements AsyncIterable<string> {
  readonly #options: ClauseQueueOptions;
  readonly #speakable = new SpeakableText();
  readonly #splitter = new ClauseSplitter();
  readonly #clauses: string[] = [];
  #state: 'open' | 'ended' | { readonly error: unknown } = 'open';
  #wake: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ClauseQueueOptions) {
    this.#options = options;
  }

  /** Adds text of the language model. @returns whether it contains a word to speak. */
  push(text: string): boolean {
    const spoken = this.#speakable.push(text);
    this.#add(this.#splitter.push(spoken));
    return /[\p{L}\p{N}]/u.test(spoken);
  }

  /** Ends the text. */
  end(): void {
    if (this.#state !== 'open') return;
    this.#add(this.#splitter.push(this.#speakable.end()));
    this.#add(this.#splitter.end());
    this.#state = 'ended';
    this.#signal();
  }

  /** Makes the reader throw after the clauses so far are dropped. */
  fail(error: unknown): void {
    if (this.#state !== 'open') return;
    this.#clauses.length = 0;
    this.#state = { error };
    this.#signal();
  }

  /** Frees the memory. Idempotent. */
  close(): void {
    this.fail(new Error('The clause queue is closed.'));
    clearTimeout(this.#timer);
    this.#splitter.close();
  }

  /** Supports one reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    for (;;) {
      if (typeof this.#state === 'object') throw this.#state.error;
      const clause = this.#clauses.shift() ?? this.#early();
      if (clause !== undefined) yield clause;
      else if (this.#state === 'ended') return;
      else await this.#changed();
    }
  }

  /** An incomplete sentence, if the listener would otherwise run out of audio. */
  #early(): string | undefined {
    if (this.#state !== 'open') return undefined;
    const aheadMs = this.#options.aheadMs();
    return aheadMs !== undefined && aheadMs <= MIN_AHEAD_MS ? this.#splitter.takeEarly() : undefined;
  }

  /** Resolves after the next change, or when the listener is about to run out of audio. */
  async #changed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const aheadMs = this.#options.aheadMs();
    if (aheadMs !== undefined && aheadMs > MIN_AHEAD_MS) {
      this.#timer = setTimeout(resolve, aheadMs - MIN_AHEAD_MS);
    }
    await promise;
    clearTimeout(this.#timer);
  }

  #add(clauses: readonly string[]): void {
    this.#clauses.push(...clauses);
    // Text that is not a clause yet may be taken early.
    this.#signal();
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
