import type { Kysely } from 'kysely';
import {
  CREDIT_ACCOUNTS,
  type CreditBalance,
  type MicroCredits,
  type TransferKind,
} from '../../contract/accounts/accounts-store.ts';
import type { Id } from '../../contract/core/id.ts';
import { chunks } from '../lib/chunks.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

/** Changes of accounts that add up to 0. */
export type Amounts = Partial<CreditBalance>;

/** A transfer that is still to be written. */
export interface NewTransfer {
  readonly kind: TransferKind;
  /** Unix seconds. */
  readonly at: number;
  readonly amounts: Amounts;
  readonly call: Id<'usage'> | null;
}

/** Transfers of one statement, which has five values for each and its entries up to twelve. */
const MAX_CONCURRENT = 64;

export const NO_CREDITS: CreditBalance = { available: 0, reserved: 0, revenue: 0, granted: 0 };

/** An organization's accounts inside a transaction that nobody else can change before its end. */
export class CreditLedger {
  readonly #transaction: Kysely<Tables>;
  readonly #organization: string;
  #balance: CreditBalance;

  private constructor(transaction: Kysely<Tables>, organization: string, balance: CreditBalance) {
    this.#transaction = transaction;
    this.#organization = organization;
    this.#balance = balance;
  }

  /** Locks an organization's accounts; undefined when it was given nothing yet. */
  static async lock(
    engine: Records['engine'],
    transaction: Kysely<Tables>,
    organization: string,
  ): Promise<CreditLedger | undefined> {
    const row = transaction
      .selectFrom('credit_accounts')
      .select(CREDIT_ACCOUNTS)
      .where('organization', '=', organization);
    // A transaction of SQLite has the whole file to itself, and no word for this.
    const found = await (engine === 'postgres' ? row.forUpdate() : row).executeTakeFirst();
    return found && new CreditLedger(transaction, organization, found);
  }

  get balance(): CreditBalance {
    return this.#balance;
  }

  /** Writes one transfer with its entries and changes the balance by them; no amounts write nothing. */
  transfer(kind: TransferKind, at: number, amounts: Amounts, call: Id<'usage'> | null = null): Promise<void> {
    return this.transferAll([{ kind, at, amounts, call }]);
  }

  /** As {@link transfer} for each, in few statements. @param transfers no two of the same call. */
  async transferAll(transfers: readonly NewTransfer[]): Promise<void> {
    const changing = transfers.filter(({ amounts }) => entriesOf(amounts).length > 0);
    if (changing.length === 0) return;
    for (const some of chunks(changing, MAX_CONCURRENT)) await this.#write(some);
    this.#balance = changing.reduce((balance, { amounts }) => sum(balance, amounts), this.#balance);
    await this.#transaction
      .updateTable('credit_accounts')
      .set(this.#balance)
      .where('organization', '=', this.#organization)
      .execute();
  }

  async #write(transfers: readonly NewTransfer[]): Promise<void> {
    const written = await this.#transaction
      .insertInto('credit_transfers')
      .values(
        transfers.map(({ kind, at, call }) => ({
          organization: this.#organization,
          kind,
          at,
          call_id: call,
        })),
      )
      .returning(['sequence', 'call_id'])
      .execute();
    // Rows that come back have no promised order.
    const amounts = new Map(transfers.map((transfer) => [transfer.call, transfer.amounts]));
    await this.#transaction
      .insertInto('credit_entries')
      .values(
        written.flatMap(({ sequence, call_id }) =>
          entriesOf(amounts.get(call_id) ?? {}).map((entry) => ({ transfer: sequence, ...entry })),
        ),
      )
      .execute();
  }
}

/** What a call held goes: so much to revenue, the rest back; what was charged beyond it comes from what is available. */
export function settlement(held: MicroCredits, charged: MicroCredits): Amounts {
  return { available: held - charged, reserved: -held, revenue: charged };
}

function entriesOf(amounts: Amounts) {
  return CREDIT_ACCOUNTS.flatMap((account) => {
    const amount = amounts[account] ?? 0;
    return amount === 0 ? [] : [{ account, amount }];
  });
}

function sum(balance: CreditBalance, amounts: Amounts): CreditBalance {
  const plus = (account: keyof CreditBalance): MicroCredits => balance[account] + (amounts[account] ?? 0);
  return {
    available: plus('available'),
    reserved: plus('reserved'),
    revenue: plus('revenue'),
    granted: plus('granted'),
  };
}
