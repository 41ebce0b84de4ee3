import type { NewCall, JobBill, JobCall, JobCalls } from '../contract/accounts/calls.ts';
import type { UsageRecord } from '../contract/accounts/usage.ts';
import type { CallLedger } from './call-ledger.ts';
import type { RowMetrics } from './row-metrics.ts';

/** Calls of jobs: what they cost is known here, what they hold is kept with the job. */
export class JobAccounts implements JobCalls {
  readonly #books: CallLedger;
  readonly #rows: RowMetrics;

  constructor(books: CallLedger, rows: RowMetrics) {
    this.#books = books;
    this.#rows = rows;
  }

  prepareCall(opening: NewCall): ReturnType<JobCalls['prepareCall']> {
    const { id, reserved } = this.#books.prepareCall(opening, true);
    return { id, reserved };
  }

  createBill(call: JobCall, end: Parameters<JobCalls['createBill']>[1]): JobBill {
    return this.#books.createBill(call, end);
  }

  recordStored(record: UsageRecord): void {
    this.#rows.add(record);
  }
}
