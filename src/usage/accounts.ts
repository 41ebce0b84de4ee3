import type { CallJournal, JournalCall, MicroCredits } from '../contract/accounts/accounts-store.ts';
import type { Calls, CallUsage, NewCall, OpenCall } from '../contract/accounts/calls.ts';
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
  readonly ledger: CallLedger;
  readonly rows: RowMetrics;
  readonly journal: CallJournal;
  readonly limits: CallLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Opens and closes calls whose usage rows are written when they close, and charges for them. */
export class Accounts implements Calls {
  readonly #deps: AccountsDeps;
  #open = 0;
  /** Credits reserved for open calls. */
  #reserved: MicroCredits = 0;

  constructor(deps: AccountsDeps) {
    this.#deps = deps;
    deps.metrics.gauge('usage_open_calls', 'Open calls.', () => this.#open);
    deps.metrics.gauge('usage_reserved_credits', 'Credits reserved for open calls.', () =>
      creditNumber(this.#reserved),
    );
  }

  async openCall(opening: NewCall): Promise<OpenCall> {
    const { ledger, limits } = this.#deps;
    const call = ledger.prepareCall(opening, false);
    const release = await limits.acquire(opening.caller, call.id);
    try {
      await ledger.openCall(call);
    } catch (error) {
      release();
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
      ended ??= step().finally(release);
      return ended;
    };
    return {
      hasReservation: call.reserved > 0,
      close: (outcome) => end(() => ledger.closeCall(call, () => this.#close(call, outcome))),
      discard: () => end(() => ledger.discard(call)),
    };
  }

  /**
   * Recovers a call of a crashed process. A call whose work is repeated is discarded, because the repetition
   * writes its row. The usage of other calls is unknown: they are not charged and their reservation is
   * released.
   * @returns false if another process has recovered it.
   */
  async recover(call: JournalCall): Promise<boolean> {
    const { journal, clock, rows } = this.#deps;
    if (call.repeated) return journal.discardCall(call.id, unixSeconds(clock));
    const row = { ...rowOf(call), createdAt: call.openedAt };
    const record = { ...row, status: 'failed', inputTokens: 0, outputTokens: 0 } as const;
    const stored = await journal.closeCall(record, 0);
    if (stored !== undefined) rows.add(record);
    return stored !== undefined;
  }

  async #close(call: JournalCall, outcome: { status: UsageStatus } & CallUsage): Promise<void> {
    const { ledger, rows, journal, log } = this.#deps;
    const { record, cost } = ledger.createBill(call, outcome);
    const stored = await journal.closeCall(record, cost);
    const fields = { request_id: call.requestId, endpoint: call.endpoint };
    if (stored === undefined) {
      // Another process recovered the call, or the store had written it although it reported an error.
      log.warn('call already had a usage row', fields);
      return;
    }
    rows.add(record);
    const missing = cost - stored.charged;
    if (missing > 0)
      log.warn('cost of a call exceeded its credits', { ...fields, missing: creditText(missing) });
  }
}
