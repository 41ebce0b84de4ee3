import type { Kysely } from 'kysely';
import {
  CREDIT_ACCOUNTS,
  type CreditBalance,
  type MicroCredits,
  type TransferKind,
} from '../contract/accounts-store.ts';
import type { Id } from '../contract/id.ts';
import type { Records } from './records.ts';
import type { Tables } from './tables.ts';

/** Changes of accounts that add up to 0. */
export type Amounts = Partial<CreditBalance>;

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
  async transfer(kind: TransferKind, at: number, amounts: Amounts, call?: Id<'usage'>): Promise<void> {
    const entries = CREDIT_ACCOUNTS.flatMap((account) => {
      const amount = amounts[account] ?? 0;
      return amount === 0 ? [] : [{ account, amount }];
    });
    if (entries.length === 0) return;
    const { sequence } = await this.#transaction
      .insertInto('credit_transfers')
      .values({ organization: this.#organization, kind, at, call_id: call ?? null })
      .returning('sequence')
      .executeTakeFirstOrThrow();
    await this.#transaction
      .insertInto('credit_entries')
      .values(entries.map((entry) => ({ transfer: sequence, ...entry })))
      .execute();
    this.#balance = sum(this.#balance, amounts);
    await this.#transaction
      .updateTable('credit_accounts')
      .set(this.#balance)
      .where('organization', '=', this.#organization)
      .execute();
  }
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
