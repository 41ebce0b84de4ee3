import type { Calls } from '../contract/accounts/calls.ts';
import type { TextToken, TranscriptDelta } from '../contract/engines/engine.ts';
import type { TranscriptionUsageMeter } from '../usage/usage-meters.ts';

/**
 * The billed call of one turn. The call is opened when the turn is confirmed: possibly long before the
 * transcription starts, possibly when it is almost complete. Text that arrives earlier is buffered until the
 * call is open.
 */
export class TurnCall {
  readonly usageMeter: TranscriptionUsageMeter;
  readonly #settled = Promise.withResolvers<void>();
  readonly #rejected = new AbortController();
  #state: 'unconfirmed' | 'opening' | 'open' | 'rejected' = 'unconfirmed';
  #bufferedText = '';
  /** Tokens of the buffered text; undefined if none are reported. */
  #bufferedTokens: TextToken[] | undefined;
  #onText: (delta: TranscriptDelta) => void = () => undefined;

  constructor(usageMeter: TranscriptionUsageMeter) {
    this.usageMeter = usageMeter;
  }

  get isConfirmed(): boolean {
    return this.#state !== 'unconfirmed';
  }

  /** Resolves when the call is open or rejected. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Aborts with the reason if the call cannot be opened. */
  get rejected(): AbortSignal {
    return this.#rejected.signal;
  }

  /**
   * Opens the call. Resolves when it is open or rejected.
   * @param maxS maximum length of the turn in seconds.
   */
  async confirm(calls: Calls, maxS: number): Promise<void> {
    if (this.isConfirmed) return await this.settled;
    this.#state = 'opening';
    try {
      await this.usageMeter.open(calls, maxS);
      this.#state = 'open';
      this.#deliverText();
    } catch (error) {
      this.#state = 'rejected';
      this.#rejected.abort(error);
    }
    this.#settled.resolve();
  }

  /** Sets the callback for text. It is called only while the call is open. */
  listen(onText: (delta: TranscriptDelta) => void): void {
    this.#onText = onText;
  }

  pushText({ text, tokens }: TranscriptDelta): void {
    this.#bufferedText += text;
    if (tokens !== undefined) this.#bufferedTokens = [...(this.#bufferedTokens ?? []), ...tokens];
    if (this.#state === 'open') this.#deliverText();
  }

  /** Closes a call whose transcription will never start. */
  async abandon(): Promise<void> {
    await this.settled;
    await this.usageMeter.abandon();
  }

  #deliverText(): void {
    if (this.#bufferedText === '') return;
    const delta = { text: this.#bufferedText, tokens: this.#bufferedTokens };
    this.#bufferedText = '';
    this.#bufferedTokens = undefined;
    this.#onText(delta);
  }
}
