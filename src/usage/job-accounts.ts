import type { JobBill, JobCall, JobCalls, NewCall } from '../contract/accounts/calls.ts';
import type { UsageRecord } from '../contract/accounts/usage.ts';
import type { CallLedger } from './call-ledger.ts';
import type { RowMetrics } from './row-metrics.ts';

/** Calls of durable jobs. The store of the job keeps the reservation. */
export class JobAccounts implements JobCalls {
  readonly #ledger: CallLedger;
  readonly #rows: RowMetrics;

  constructor(ledger: CallLedger, rows: RowMetrics) {
    this.#ledger = ledger;
    this.#rows = rows;
  }

  prepareCall(opening: NewCall): ReturnType<JobCalls['prepareCall']> {
    const { id, reserved } = this.#ledger.prepareCall(opening, true);
    return { id, reserved };
  }

  createBill(call: JobCall, end: Parameters<JobCalls['createBill']>[1]): JobBill {
    return this.#ledger.createBill(call, end);
  }

  recordStored(record: UsageRecord): void {
    this.#rows.add(record);
  }
}
