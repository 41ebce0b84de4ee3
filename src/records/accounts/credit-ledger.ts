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

/** Changes of accounts; they add up to 0. */
export type Amounts = Partial<CreditBalance>;

/** A transfer that is not yet stored. */
export interface NewTransfer {
  readonly kind: TransferKind;
  /** Unix seconds. */
  readonly at: number;
  readonly amounts: Amounts;
  readonly call: Id<'usage_'> | null;
}

/** Transfers per statement. The number of values per statement is limited; each transfer has 5, and its entries up to 12. */
const TRANSFERS_PER_STATEMENT = 64;

export const NO_CREDITS: CreditBalance = { available: 0, reserved: 0, revenue: 0, granted: 0 };

/** The accounts of an organization, locked until the end of a transaction. */
export class CreditLedger {
  readonly #transaction: Kysely<Tables>;
  readonly #organization: string;
  #balance: CreditBalance;

  private constructor(transaction: Kysely<Tables>, organization: string, balance: CreditBalance) {
    this.#transaction = transaction;
    this.#organization = organization;
    this.#balance = balance;
  }

  /** Locks the accounts of an organization. Returns undefined if it was never granted credits. */
  static async lock(
    engine: Records['engine'],
    transaction: Kysely<Tables>,
    organization: string,
  ): Promise<CreditLedger | undefined> {
    const row = transaction
      .selectFrom('credit_accounts')
      .select(CREDIT_ACCOUNTS)
      .where('organization', '=', organization);
    // SQLite has no row locks; its transactions lock the whole file.
    const found = await (engine === 'postgres' ? row.forUpdate() : row).executeTakeFirst();
    return found && new CreditLedger(transaction, organization, found);
  }

  get balance(): CreditBalance {
    return this.#balance;
  }

  /** Stores one transfer with its entries and updates the balance. Does nothing if all amounts are 0. */
  transfer(
    kind: TransferKind,
    at: number,
    amounts: Amounts,
    call: Id<'usage_'> | null = null,
  ): Promise<void> {
    return this.transferAll([{ kind, at, amounts, call }]);
  }

  /** Like {@link transfer} for each, in few statements. @param transfers at most one per call. */
  async transferAll(transfers: readonly NewTransfer[]): Promise<void> {
    const changing = transfers.filter(({ amounts }) => entriesOf(amounts).length > 0);
    if (changing.length === 0) return;
    for (const chunk of chunks(changing, TRANSFERS_PER_STATEMENT)) await this.#write(chunk);
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
    // The order of returned rows is not defined, so they are matched by call.
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

/** Amounts that release a reservation and move `charged` to revenue. A charge over the reservation uses available credits. */
export function settlement(reserved: MicroCredits, charged: MicroCredits): Amounts {
  return { available: reserved - charged, reserved: -reserved, revenue: charged };
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
