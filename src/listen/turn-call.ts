import type { Calls, CallUsage, NewCall, OpenCall } from '../contract/accounts/calls.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import type { TextToken, TranscriptDelta } from '../contract/engines/engine.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';

/** The end of the transcription of a turn. */
export type TurnEnd = CallUsage & { readonly status: UsageStatus };

export interface TurnCallDeps {
  readonly calls: Calls;
  /** Creates the call of a turn with this maximum length in seconds. */
  readonly opening: (maxS: number) => NewCall;
}

/** The transcription of the turn. */
export interface TurnWork {
  /** Stops the transcription. */
  readonly stopped: AbortSignal;
  /** Called only while the call is open. */
  readonly onText: (delta: TranscriptDelta) => void;
  /** Called when the transcription ends, before its usage row is stored. The turn may not be confirmed yet. */
  readonly onEnd: (end: TurnEnd | undefined) => void;
}

/**
 * The billed call of one turn. The call is opened when the turn is confirmed: possibly long before the
 * transcription starts, possibly when it is almost complete. Text that arrives earlier is buffered until the
 * call is open. The transcription uses it as {@link Calls}, so that its end waits until the turn is confirmed or stopped.
 */
export class TurnCall implements Calls {
  readonly #deps: TurnCallDeps;
  readonly #settled = Promise.withResolvers<void>();
  readonly #rejected = new AbortController();
  #state: 'unconfirmed' | 'opening' | 'open' | 'rejected' = 'unconfirmed';
  #call: OpenCall | undefined;
  #work: TurnWork | undefined;
  #bufferedText = '';
  /** Tokens of the buffered text; undefined if none are reported. */
  #bufferedTokens: TextToken[] | undefined;

  constructor(deps: TurnCallDeps) {
    this.#deps = deps;
  }

  get isConfirmed(): boolean {
    return this.#state !== 'unconfirmed';
  }

  /** Aborts with the reason if the call cannot be opened. */
  get rejected(): AbortSignal {
    return this.#rejected.signal;
  }

  /**
   * Opens the call. Resolves when it is open or rejected.
   * @param maxS maximum length of the turn in seconds.
   */
  async confirm(maxS: number): Promise<void> {
    if (this.isConfirmed) return await this.#settled.promise;
    this.#state = 'opening';
    const { calls, opening } = this.#deps;
    try {
      this.#call = await calls.openCall(opening(maxS));
      this.#state = 'open';
      this.#deliverText();
    } catch (error) {
      this.#state = 'rejected';
      this.#rejected.abort(error);
    }
    this.#settled.resolve();
  }

  /** Sets the transcription, before it opens the call. */
  start(work: TurnWork): void {
    this.#work = work;
  }

  /** A confirmed turn waits until its call is open. A turn that may still be dropped starts immediately. */
  async openCall(): Promise<OpenCall> {
    if (this.isConfirmed) {
      await this.#settled.promise;
      this.rejected.throwIfAborted();
    }
    return {
      hasReservation: false,
      close: async (end) => {
        this.#work?.onEnd(end);
        await (await this.#confirmedCall())?.close(end);
      },
      discard: async () => {
        this.#work?.onEnd(undefined);
        await (await this.#confirmedCall())?.discard();
      },
    };
  }

  pushText({ text, tokens }: TranscriptDelta): void {
    this.#bufferedText += text;
    if (tokens !== undefined) this.#bufferedTokens = [...(this.#bufferedTokens ?? []), ...tokens];
    if (this.#state === 'open') this.#deliverText();
  }

  /** Closes a call whose transcription will never start. */
  async abandon(): Promise<void> {
    await this.#settled.promise;
    await this.#call?.close({ status: 'cancelled', inputTokens: 0, outputTokens: 0, audioSeconds: 0 });
  }

  /** Resolves with the open call when the turn is confirmed; with undefined if it was rejected or stopped before. */
  async #confirmedCall(): Promise<OpenCall | undefined> {
    const { promise: settled } = this.#settled;
    if (!this.isConfirmed && this.#work) await Promise.race([settled, waitForAbort(this.#work.stopped)]);
    if (this.isConfirmed) await settled;
    return this.#call;
  }

  #deliverText(): void {
    if (this.#bufferedText === '') return;
    const delta = { text: this.#bufferedText, tokens: this.#bufferedTokens };
    this.#bufferedText = '';
    this.#bufferedTokens = undefined;
    this.#work?.onText(delta);
  }
}
