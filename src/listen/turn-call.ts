import type { Calls } from '../contract/accounts/calls.ts';
import type { TranscriptionUsageMeter } from '../usage/call-tally.ts';

/**
 * The call of one turn. It is opened when the turn is confirmed, which may be long before an engine begins or
 * when one has almost ended; words that came before are held until it is open.
 */
export class TurnCall {
  readonly tally: TranscriptionUsageMeter;
  readonly #settled = Promise.withResolvers<void>();
  readonly #refused = new AbortController();
  #state: 'early' | 'opening' | 'open' | 'refused' = 'early';
  #held = '';
  #tell: (text: string) => void = () => undefined;

  constructor(tally: TranscriptionUsageMeter) {
    this.tally = tally;
  }

  get isConfirmed(): boolean {
    return this.#state !== 'early';
  }

  /** Resolves when the call is open or refused. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Fires, with the reason, when the call cannot be opened. */
  get refused(): AbortSignal {
    return this.#refused.signal;
  }

  /**
   * Resolves when the call is open or refused.
   * @param maxS most audio of the turn.
   */
  async confirm(calls: Calls, maxS: number): Promise<void> {
    if (this.isConfirmed) return await this.settled;
    this.#state = 'opening';
    try {
      await this.tally.open(calls, maxS);
      this.#state = 'open';
      this.#tellHeld();
    } catch (error) {
      this.#state = 'refused';
      this.#refused.abort(error);
    }
    this.#settled.resolve();
  }

  /** Who is told words, once they may be told. */
  listen(tell: (text: string) => void): void {
    this.#tell = tell;
  }

  say(text: string): void {
    this.#held += text;
    if (this.#state === 'open') this.#tellHeld();
  }

  /** Ends a call whose turn will never begin. */
  async abandon(): Promise<void> {
    await this.settled;
    await this.tally.abandon();
  }

  #tellHeld(): void {
    if (this.#held === '') return;
    const text = this.#held;
    this.#held = '';
    this.#tell(text);
  }
}
