import type { LineBill, LineCalls, NewCall, OpenCall } from '../contract/accounts/calls.ts';
import type { CallLedger } from './call-ledger.ts';
import type { RowMetrics } from './row-metrics.ts';

/** Calls of batch lines. Credits are reserved while they run; the checkpoint writes their usage rows. */
export class LineAccounts implements LineCalls {
  readonly #ledger: CallLedger;
  readonly #rows: RowMetrics;

  constructor(ledger: CallLedger, rows: RowMetrics) {
    this.#ledger = ledger;
    this.#rows = rows;
  }

  forLine(): ReturnType<LineCalls['forLine']> {
    const bills: LineBill[] = [];
    return {
      calls: { openCall: (opening) => this.#open(opening, (bill) => bills.push(bill)) },
      bills: () => [...bills],
    };
  }

  recordStored(bills: readonly LineBill[]): void {
    for (const { record } of bills) this.#rows.add(record);
  }

  discard(bills: readonly LineBill[]): Promise<void> {
    return this.#ledger.discardAll(
      bills.filter(({ hasReservation }) => hasReservation).map(({ record }) => record),
    );
  }

  async #open(opening: NewCall, closed: (bill: LineBill) => void): Promise<OpenCall> {
    const ledger = this.#ledger;
    const call = ledger.prepareCall(opening, true);
    const hasReservation = call.reserved > 0;
    // A call without a reservation leaves nothing behind after a crash, so it is not stored in the journal.
    if (hasReservation) await ledger.openCall(call);
    let ended: Promise<void> | undefined;
    return {
      hasReservation,
      close(outcome) {
        if (ended === undefined) closed({ ...ledger.createBill(call, outcome), hasReservation });
        ended ??= Promise.resolve();
        return ended;
      },
      discard() {
        ended ??= hasReservation ? ledger.discard(call) : Promise.resolve();
        return ended;
      },
    };
  }
}
