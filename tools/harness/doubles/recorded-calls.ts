import type { Calls, NewCall, OpenCall } from '../../../src/contract/accounts/calls.ts';
import type { UsageEntry } from '../../../src/contract/accounts/usage.ts';

export interface RecordedCallsOptions {
  /** Awaited before a call is opened; may throw, for example for insufficient credits. */
  readonly opening?: (call: NewCall) => Promise<void> | void;
  /** Whether calls have reservations; default: false. */
  readonly holds?: boolean;
  /** Awaited before a row is stored. */
  readonly storing?: () => Promise<void> | void;
  /** Called with each stored row. */
  readonly stored?: (row: UsageEntry) => void;
}

/** Calls that record their events, for tests of the callers. */
export class RecordedCalls implements Calls {
  readonly openings: NewCall[] = [];
  readonly rows: UsageEntry[] = [];
  readonly #options: RecordedCallsOptions;
  #unended = 0;

  constructor(options: RecordedCallsOptions = {}) {
    this.#options = options;
  }

  /** Number of open calls. */
  get unended(): number {
    return this.#unended;
  }

  async openCall(call: NewCall): Promise<OpenCall> {
    await this.#options.opening?.(call);
    this.openings.push(call);
    this.#unended += 1;
    const { endpoint, model, caller } = call;
    const { organization, requestId } = caller;
    const fields = { endpoint, model, organization, requestId };
    let ended: Promise<void> | undefined;
    return {
      hasReservation: this.#options.holds ?? false,
      close: (end) => {
        ended ??= this.#store({ ...fields, ...end });
        return ended;
      },
      discard: () => {
        ended ??= this.#forget();
        return ended;
      },
    };
  }

  async #store(row: UsageEntry): Promise<void> {
    await this.#options.storing?.();
    this.#unended -= 1;
    this.rows.push(row);
    this.#options.stored?.(row);
  }

  async #forget(): Promise<void> {
    this.#unended -= 1;
  }
}
