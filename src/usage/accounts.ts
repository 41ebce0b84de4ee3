import type { CallJournal, JournalCall, MicroCredits } from '../contract/accounts/accounts-store.ts';
import type { NewCall, Calls, CallUsage, OpenCall } from '../contract/accounts/calls.ts';
import type { CallLimits } from '../contract/accounts/limits.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import { unixSeconds } from '../kit/clock.ts';
import { type CallLedger, rowOf } from './call-ledger.ts';
import { creditNumber, creditText } from './credit-amounts.ts';
import type { RowMetrics } from './row-metrics.ts';

export interface AccountsDeps {
  readonly books: CallLedger;
  readonly rows: RowMetrics;
  readonly journal: CallJournal;
  readonly limits: CallLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Opens and closes calls whose rows are written as they end, and charges for them. */
export class Accounts implements Calls {
  readonly #parts: AccountsDeps;
  #open = 0;
  /** What open calls hold. */
  #reserved: MicroCredits = 0;

  constructor(parts: AccountsDeps) {
    this.#parts = parts;
    parts.metrics.gauge('usage_open_calls', 'Calls that have begun and not ended.', () => this.#open);
    parts.metrics.gauge('usage_reserved_credits', 'Credits that are held for them.', () =>
      creditNumber(this.#reserved),
    );
  }

  async openCall(opening: NewCall): Promise<OpenCall> {
    const { books, limits } = this.#parts;
    const call = books.prepareCall(opening, false);
    const leave = await limits.acquire(opening.caller, call.id);
    try {
      await books.openCall(call);
    } catch (error) {
      leave();
      throw error;
    }
    this.#open += 1;
    this.#reserved += call.reserved;
    let ended: Promise<void> | undefined;
    const end = (step: () => Promise<void>): Promise<void> => {
      if (ended === undefined) {
        this.#open -= 1;
        this.#reserved -= call.reserved;
      }
      ended ??= step().finally(leave);
      return ended;
    };
    return {
      hasReservation: call.reserved > 0,
      close: (outcome) => end(() => books.closeCall(call, () => this.#close(call, outcome))),
      discard: () => end(() => books.discard(call)),
    };
  }

  /**
   * Ends a call of a process that died. One whose work is done again is forgotten, and has its row then. Of others
   * nobody knows what they consumed: they are charged nothing and their reservation is freed.
   * @returns false when another process was faster.
   */
  async recover(call: JournalCall): Promise<boolean> {
    const { journal, clock, rows } = this.#parts;
    if (call.repeated) return journal.discardCall(call.id, unixSeconds(clock));
    const row = { ...rowOf(call), createdAt: call.openedAt };
    const record = { ...row, status: 'failed', inputTokens: 0, outputTokens: 0 } as const;
    const stored = await journal.closeCall(record, 0);
    if (stored !== undefined) rows.add(record);
    return stored !== undefined;
  }

  async #close(call: JournalCall, outcome: { status: UsageStatus } & CallUsage): Promise<void> {
    const { books, rows, journal, log } = this.#parts;
    const { record, cost } = books.createBill(call, outcome);
    const stored = await journal.closeCall(record, cost);
    const fields = { request_id: call.requestId, endpoint: call.endpoint };
    if (stored === undefined) {
      // Another process took this one for dead, or the store had done it although it failed to say so.
      log.warn('call had its usage row already', fields);
      return;
    }
    rows.add(record);
    const missing = cost - stored.charged;
    if (missing > 0) log.warn('call cost more than its credits', { ...fields, missing: creditText(missing) });
  }
}
