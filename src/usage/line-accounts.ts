import type { NewCall, LineBill, LineCalls, OpenCall } from '../contract/accounts/calls.ts';
import type { CallLedger } from './call-ledger.ts';
import type { RowMetrics } from './row-metrics.ts';

/** Calls of batch lines: they hold credits while they run, and their rows are the checkpoint's. */
export class LineAccounts implements LineCalls {
  readonly #books: CallLedger;
  readonly #rows: RowMetrics;

  constructor(books: CallLedger, rows: RowMetrics) {
    this.#books = books;
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
    return this.#books.discardAll(bills.filter(({ hasReservation: held }) => held).map(({ record }) => record));
  }

  async #open(opening: NewCall, closed: (bill: LineBill) => void): Promise<OpenCall> {
    const books = this.#books;
    const call = books.prepareCall(opening, true);
    const held = call.reserved > 0;
    // One that holds nothing leaves nothing behind when its process dies, so the journal need not know it.
    if (held) await books.openCall(call);
    let ended: Promise<void> | undefined;
    return {
      hasReservation: held,
      close(outcome) {
        if (ended === undefined) closed({ ...books.createBill(call, outcome), hasReservation: held });
        ended ??= Promise.resolve();
        return ended;
      },
      discard() {
        ended ??= held ? books.discard(call) : Promise.resolve();
        return ended;
      },
    };
  }
}
