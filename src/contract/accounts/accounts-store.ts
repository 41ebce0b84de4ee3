/**
 * Where open calls and credits are kept. Every method is one atomic step: it happens wholly or not at all, also
 * when the process dies in it, and steps of all processes happen one after the other.
 */

import type { Id } from '../core/id.ts';
import type { EndpointLabel, UsageRecord } from './usage.ts';

/** Integer millionths of a credit. */
export type MicroCredits = number;

/** A call that has begun and has no usage row yet. */
export interface JournalCall {
  /** Of the row that it becomes: a call can have no second one. */
  readonly id: Id<'usage'>;
  /** The process that works on it. */
  readonly instance: string;
  /** Unix seconds. */
  readonly openedAt: number;
  readonly endpoint: EndpointLabel;
  readonly organization: string;
  readonly requestId: Id<'request'>;
  readonly model: string;
  /** Credits that it holds; 0 for one that is free. */
  readonly reserved: MicroCredits;
  /** Whether its work is done again when its process dies: such a call is discarded then and has no row. */
  readonly repeated: boolean;
}

/** A process of the service. */
export interface Instance {
  readonly id: string;
  /** Where its process number means something: a machine or a container. */
  readonly place: string;
  readonly pid: number;
  /** When it last said that it lives, in Unix seconds. */
  readonly seenAt: number;
}

export interface CallJournal {
  /**
   * Notes a call and moves `reserved` from its organization's `available` to its `reserved`. A call that reserves
   * nothing does not touch credits.
   * @returns what is available, when that is less than the call needs and nothing happened; else undefined.
   */
  openCall(call: JournalCall): Promise<{ readonly available: MicroCredits } | undefined>;
  /**
   * Replaces an open call by its usage row. Of what the call held, `cost` becomes revenue and the rest is
   * available again; what it cost beyond that is taken from `available`, as far as it goes. A call that held
   * nothing and cost nothing does not touch credits.
   * @param record whose id is the call's.
   * @returns what was charged; undefined when no such call is open and nothing happened.
   */
  closeCall(record: UsageRecord, cost: MicroCredits): Promise<{ readonly charged: MicroCredits } | undefined>;
  /**
   * Forgets an open call; what it held is available again.
   * @param at Unix seconds.
   * @returns false when no such call is open.
   */
  discardCall(id: Id<'usage'>, at: number): Promise<boolean>;
  /** Open calls of one process, oldest first. */
  listOpenCalls(instance: string, limit: number): Promise<readonly JournalCall[]>;
  /** Notes a process, or that it still lives. */
  recordHeartbeat(instance: Instance): Promise<void>;
  /** Every process that was noted and not forgotten. */
  listInstances(): Promise<readonly Instance[]>;
  /** Forgets a process that has no open call. False when it has, or is not noted. */
  removeInstance(instance: string): Promise<boolean>;
}

/**
 * Where credits of an organization lie, by double entry. Every transfer's amounts add up to 0, and so do those of
 * all accounts together: `granted` is negative, what the house gave out.
 */
export const CREDIT_ACCOUNTS = ['available', 'reserved', 'revenue', 'granted'] as const;
export type CreditAccount = (typeof CREDIT_ACCOUNTS)[number];

/** Sum of every entry of each account; `available` and `reserved` are never negative. */
export type CreditBalance = Readonly<Record<CreditAccount, MicroCredits>>;

/**
 * `reserve`: available to reserved. `settle`: reserved to revenue, with what is left to available or what is
 * missing from there. `release`: reserved to available, of a call that cost nothing.
 */
export type TransferKind = 'grant' | 'reserve' | 'settle' | 'release';

export interface CreditTransfer {
  /** Grows with every transfer. */
  readonly sequence: number;
  readonly kind: TransferKind;
  /** Unix seconds: of a grant, a call's opening, a row's `createdAt`, a discard. */
  readonly at: number;
  /** The call that it is for; absent of a grant. */
  readonly call?: Id<'usage'>;
  /** Accounts that change, none twice and none by 0; amounts add up to 0. */
  readonly entries: readonly { readonly account: CreditAccount; readonly amount: MicroCredits }[];
}

export interface CreditStore {
  /**
   * Gives credits to an organization, which is made if there is none of that name.
   * @param amount positive.
   * @param at Unix seconds.
   * @returns the balance after it.
   * @throws ServiceError `invalid_request` when what an organization was given would pass
   *   {@link MAX_GRANTED}.
   */
  grant(organization: string, amount: MicroCredits, at: number): Promise<CreditBalance>;
  /** All zeros for an organization that was given nothing. */
  balance(organization: string): Promise<CreditBalance>;
  /**
   * Transfers, newest first.
   * @param query.before sequence of the last transfer of the previous page.
   */
  history(
    organization: string,
    query: { limit: number; before?: number | undefined },
  ): Promise<readonly CreditTransfer[]>;
}

/** A billion credits: sums stay exact in 53 bits. */
export const MAX_GRANTED: MicroCredits = 1_000_000_000_000_000;
