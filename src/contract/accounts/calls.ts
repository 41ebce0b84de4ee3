/** Billed calls: each is opened before its work and closed once (spec 1.8, 4.3, 4.7). */

import type { Id } from '../core/id.ts';
import type { MicroCredits } from './accounts-store.ts';
import type { Caller } from './caller.ts';
import type { EndpointLabel, UsageRecord, UsageStatus } from './usage.ts';

/** What a call consumed, in the units of prices and of usage rows. What is absent was none of its business. */
export interface UsageAmounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Unicode code points that were accepted for synthesis. */
  readonly characters?: number;
  readonly audioSeconds?: number;
}

/** What a usage row says beside the call itself. */
export interface CallUsage extends UsageAmounts {
  /** Bytes of audio that were really made. */
  readonly audioBytes?: number;
  /** What was heard, for endpoints that transcribe. */
  readonly transcript?: string;
}

export interface NewCall {
  readonly endpoint: EndpointLabel;
  readonly model: string;
  readonly caller: Caller;
  /** Upper bound of what the call may consume: credits for so much are reserved. */
  readonly maxUsage: UsageAmounts;
}

/** A call that will have exactly one usage row, whatever becomes of it or of this process. */
export interface OpenCall {
  /** Whether credits are held for it: what it consumes beyond `most` may have no credits. */
  readonly hasReservation: boolean;
  /**
   * Writes the row, charges what was consumed and frees the rest of the reservation. Resolves when all of it is
   * durable; never rejects: a store that fails is logged and tried again later. Only the first of `close` and
   * `discard` counts.
   */
  close(end: { readonly status: UsageStatus } & CallUsage): Promise<void>;
  /** Forgets the call, which was refused before anything was done: no row, nothing charged. Never rejects. */
  discard(): Promise<void>;
}

export interface Calls {
  /**
   * Resolves when the call is durable; nothing may be delivered before.
   * @throws ServiceError `insufficient_quota` when the organization's credits do not cover `most`, `rate_limited`
   *   when the key or the organization has too many calls open.
   */
  openCall(call: NewCall): Promise<OpenCall>;
}

/** A call of a batch line that has ended and is not stored yet: its checkpoint does that. */
export interface LineBill {
  readonly record: UsageRecord;
  /** What it costs. */
  readonly cost: MicroCredits;
  /** Whether the call is open in the journal: it holds credits. */
  readonly hasReservation: boolean;
}

/**
 * Calls of lines that are run again when their process dies before the checkpoint: they have no row before it.
 */
export interface LineCalls {
  /**
   * Calls of one run of one line. Credits are reserved as for other calls; how many calls are open at once is the
   * batch's own matter.
   */
  forLine(): {
    /** A `close` resolves at once: nothing is stored before the checkpoint. */
    readonly calls: Calls;
    /** Of calls that were closed; those discarded left nothing. */
    bills(): readonly LineBill[];
  };
  /** Takes note that a checkpoint has stored them. */
  recordStored(bills: readonly LineBill[]): void;
  /** Frees what calls hold whose results are thrown away. Never rejects. */
  discard(bills: readonly LineBill[]): Promise<void>;
}

/** The call of a job that outlives its process: the store of the job opens and ends it, in one step with the job. */
export type JobCall = Pick<UsageRecord, 'id' | 'endpoint' | 'organization' | 'requestId' | 'model'>;

/** What the end of such a call leaves. */
export interface JobBill {
  readonly record: UsageRecord;
  /** What it costs. */
  readonly cost: MicroCredits;
}

export interface JobCalls {
  /** The name of a call, and what is to be reserved for it: the most that it may cost. */
  prepareCall(call: NewCall): { readonly id: Id<'usage'>; readonly reserved: MicroCredits };
  /** The row of a call that ends now, and what it costs. */
  createBill(call: JobCall, end: { readonly status: UsageStatus } & CallUsage): JobBill;
  /** Takes note that a row was stored. */
  recordStored(record: UsageRecord): void;
}
