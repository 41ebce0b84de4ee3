/** Storage of open calls and credits. Each method is one atomic transaction, also across processes. */

import type { Id } from '../core/id.ts';
import type { EndpointLabel, UsageRecord } from './usage.ts';

/** Integer millionths of a credit. */
export type MicroCredits = number;

/** A call that is open: started, without a usage row. */
export interface JournalCall {
  /** Id of the later usage row. Therefore a call cannot have two rows. */
  readonly id: Id<'usage_'>;
  /** Id of the process that handles the call. */
  readonly instance: string;
  /** Unix seconds. */
  readonly openedAt: number;
  readonly endpoint: EndpointLabel;
  readonly organization: string;
  readonly requestId: Id<'req_'>;
  readonly model: string;
  /** Reserved credits; 0 for a free call. */
  readonly reserved: MicroCredits;
  /**
   * Whether the work is repeated after a crash of the process. Such a call is then discarded without a usage
   * row.
   */
  readonly repeated: boolean;
}

/** A process of the service. */
export interface Instance {
  readonly id: string;
  /** Scope of the process id: a machine or a container. */
  readonly host: string;
  readonly pid: number;
  /** Unix time of the last heartbeat, in seconds. */
  readonly seenAt: number;
}

export interface CallJournal {
  /**
   * Stores an open call and moves `reserved` credits of its organization from `available` to `reserved`. Does
   * not access credits if `reserved` is 0.
   * @returns the available credits if they do not cover the reservation and nothing was changed; otherwise
   *   undefined.
   */
  openCall(call: JournalCall): Promise<{ readonly available: MicroCredits } | undefined>;
  /**
   * Replaces an open call with its usage row. Moves `cost` from the reservation to revenue and the rest back
   * to `available`; cost beyond the reservation is taken from `available` as far as it suffices. Does not
   * access credits if reservation and cost are 0.
   * @param record has the id of the call.
   * @returns the charged amount; undefined if the call is not open and nothing was changed.
   */
  closeCall(record: UsageRecord, cost: MicroCredits): Promise<{ readonly charged: MicroCredits } | undefined>;
  /**
   * Deletes an open call and releases its reservation.
   * @param at Unix seconds.
   * @returns false if the call is not open.
   */
  discardCall(id: Id<'usage_'>, at: number): Promise<boolean>;
  /** Lists open calls of a process, oldest first. */
  listOpenCalls(instance: string, limit: number): Promise<readonly JournalCall[]>;
  /** Stores the heartbeat of a process. */
  recordHeartbeat(instance: Instance): Promise<void>;
  /** Lists all registered processes. */
  listInstances(): Promise<readonly Instance[]>;
  /**
   * Removes a process.
   * @returns false if it has open calls or is not registered.
   */
  removeInstance(instance: string): Promise<boolean>;
}

/**
 * Credit accounts of an organization, by double entry. The amounts of each transfer add up to 0, and so do
 * the balances of all accounts. The balance of `granted` is negative: all credits granted so far.
 */
export const CREDIT_ACCOUNTS = ['available', 'reserved', 'revenue', 'granted'] as const;
export type CreditAccount = (typeof CREDIT_ACCOUNTS)[number];

/** Balance of each account. `available` and `reserved` are never negative. */
export type CreditBalance = Readonly<Record<CreditAccount, MicroCredits>>;

/**
 * Kinds of transfers. `reserve`: available to reserved. `settle`: reserved to revenue; the rest goes to
 * available, a shortfall is taken from there. `release`: reserved to available, for a call without cost.
 */
export type TransferKind = 'grant' | 'reserve' | 'settle' | 'release';

export interface CreditTransfer {
  /** Increases with each transfer. */
  readonly sequence: number;
  readonly kind: TransferKind;
  /** Unix seconds: time of the grant, opening or discard, or `createdAt` of the usage row. */
  readonly at: number;
  /** Call of the transfer; absent for a grant. */
  readonly call?: Id<'usage_'>;
  /** Changed accounts, each once and with an amount other than 0. Amounts add up to 0. */
  readonly entries: readonly { readonly account: CreditAccount; readonly amount: MicroCredits }[];
}

export interface CreditStore {
  /**
   * Grants credits to an organization, which is created if it does not exist.
   * @param amount positive.
   * @param at Unix seconds.
   * @returns the new balance.
   * @throws ServiceError `invalid_request` if the total granted credits would exceed {@link MAX_GRANTED}.
   */
  grant(organization: string, amount: MicroCredits, at: number): Promise<CreditBalance>;
  /** Returns the balance; all zeros for an organization without transfers. */
  balance(organization: string): Promise<CreditBalance>;
  /**
   * Lists transfers, newest first.
   * @param query.before sequence of the last transfer of the previous page.
   */
  history(
    organization: string,
    query: { limit: number; before?: number | undefined },
  ): Promise<readonly CreditTransfer[]>;
}

/** One billion credits: sums of this size are exact in 53 bits. */
export const MAX_GRANTED: MicroCredits = 1_000_000_000_000_000;
