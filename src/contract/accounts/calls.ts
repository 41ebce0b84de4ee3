/** Billed calls. A call is opened before its work and closed once (spec 1.8, 4.3, 4.7). */

import type { Id } from '../core/id.ts';
import type { MicroCredits } from './accounts-store.ts';
import type { Caller } from './caller.ts';
import type { EndpointLabel, UsageRecord, UsageStatus } from './usage.ts';

/** Usage of a call, in the units of prices and usage rows. Absent values do not apply to the endpoint. */
export interface UsageAmounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Unicode code points accepted for synthesis. */
  readonly characters?: number;
  readonly audioSeconds?: number;
}

/** Usage of a call as its usage row records it. */
export interface CallUsage extends UsageAmounts {
  /** Bytes of audio generated. */
  readonly audioBytes?: number;
  /** Transcript, for transcription endpoints. */
  readonly transcript?: string;
}

export interface NewCall {
  readonly endpoint: EndpointLabel;
  readonly model: string;
  readonly caller: Caller;
  /** Upper bound of the usage. Credits for this amount are reserved. */
  readonly maxUsage: UsageAmounts;
}

/** An open call. It gets exactly one usage row, even if this process crashes. */
export interface OpenCall {
  /** Whether credits are reserved for the call. Usage beyond `maxUsage` may exceed the available credits. */
  readonly hasReservation: boolean;
  /**
   * Writes the usage row, charges the usage and releases the rest of the reservation. Resolves when all of it
   * is durable. Never rejects: store errors are logged and retried later. Only the first call of `close` or
   * `discard` has an effect.
   */
  close(end: { readonly status: UsageStatus } & CallUsage): Promise<void>;
  /** Discards a call that was rejected before any work was done: no usage row, no charge. Never rejects. */
  discard(): Promise<void>;
}

export interface Calls {
  /**
   * Opens a call and reserves credits. Resolves when the call is durable; no result may be delivered before.
   * @throws ServiceError `insufficient_quota` if the credits of the organization do not cover `maxUsage`,
   *   `rate_limited` if the key or the organization has too many open calls.
   */
  openCall(call: NewCall): Promise<OpenCall>;
}

/** A finished call of a batch line that the next checkpoint stores. */
export interface LineBill {
  readonly record: UsageRecord;
  /** Cost. */
  readonly cost: MicroCredits;
  /** Whether the call is open in the journal with reserved credits. */
  readonly hasReservation: boolean;
}

/**
 * Calls of batch lines. A line is run again if the process crashes before the checkpoint, so its usage row is
 * written only by the checkpoint.
 */
export interface LineCalls {
  /**
   * Creates the calls of one run of one line. Credits are reserved as for other calls; the batch itself
   * limits the number of open calls.
   */
  forLine(): {
    /** `close` resolves immediately, because the row is stored by the checkpoint. */
    readonly calls: Calls;
    /** Bills of the closed calls. Discarded calls have none. */
    bills(): readonly LineBill[];
  };
  /** Updates the metrics for bills that a checkpoint stored. */
  recordStored(bills: readonly LineBill[]): void;
  /** Releases the reserved credits of calls whose results are discarded. Never rejects. */
  discard(bills: readonly LineBill[]): Promise<void>;
}

/**
 * The call of a durable job. The store of the job opens and closes the call in the same transaction as the
 * job.
 */
export type JobCall = Pick<UsageRecord, 'id' | 'endpoint' | 'organization' | 'requestId' | 'model'>;

/** Usage row and cost of a closed job call. */
export interface JobBill {
  readonly record: UsageRecord;
  /** Cost. */
  readonly cost: MicroCredits;
}

export interface JobCalls {
  /** Returns the id of a new call and the credits to reserve for its maximum usage. */
  prepareCall(call: NewCall): { readonly id: Id<'usage_'>; readonly reserved: MicroCredits };
  /** Creates the usage row of a call that ends now, and its cost. */
  createBill(call: JobCall, end: { readonly status: UsageStatus } & CallUsage): JobBill;
  /** Updates the metrics for a stored row. */
  recordStored(record: UsageRecord): void;
}
