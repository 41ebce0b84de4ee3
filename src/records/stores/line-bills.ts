import type { Kysely } from 'kysely';
import type { MicroCredits } from '../../contract/accounts/accounts-store.ts';
import type { LineBill } from '../../contract/accounts/calls.ts';
import type { Id } from '../../contract/core/id.ts';
import { CreditLedger, type NewTransfer, settlement } from '../accounts/credit-ledger.ts';
import { addToDays } from '../accounts/usage-days.ts';
import { toRow } from '../accounts/usage-store.ts';
import { chunks } from '../lib/chunks.ts';
import { RowInserts } from '../lib/row-inserts.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

/** Calls per statement. */
const CALLS_PER_STATEMENT = 64;

/**
 * Stores the usage rows of batch lines, charges their costs and releases their reservations, in the caller's transaction.
 * If another process has closed a call in the meantime because it considered this process crashed, its cost is charged to
 * the available credits. Calls without a reservation and without a cost do not change any credits.
 * @param transaction must not have locked a ledger yet: all transactions lock calls before ledgers.
 * @returns the part of the costs that exceeds the credits and is not charged.
 * @throws the database's error if a call already has a usage row.
 */
export type StoreBills = (transaction: Kysely<Tables>, bills: readonly LineBill[]) => Promise<MicroCredits>;

/** Creates the function that stores the bills of batch lines. */
export function lineBills(engine: Records['engine']): StoreBills {
  const usage = new RowInserts('usage');
  return async (transaction, bills) => {
    await usage.insert(
      transaction,
      bills.map(({ record }) => toRow(record)),
    );
    return await charge(engine, transaction, bills);
  };
}

async function charge(
  engine: Records['engine'],
  transaction: Kysely<Tables>,
  bills: readonly LineBill[],
): Promise<MicroCredits> {
  const reservations = await claimReservations(transaction, bills);
  const byOrganization = Map.groupBy(bills, ({ record }) => record.organization);
  const paid = new Map<Id<'usage_'>, MicroCredits>();
  // Transactions lock ledgers in the same order, so that they cannot deadlock.
  for (const [organization, organizationBills] of [...byOrganization].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const charged = organizationBills.filter(({ record, cost }) => cost > 0 || reservations.has(record.id));
    if (charged.length === 0) continue;
    const ledger = await CreditLedger.lock(engine, transaction, organization);
    const transfers = settlements(charged, reservations, ledger?.balance.available ?? 0);
    await ledger?.transferAll(transfers);
    for (const { call, amounts } of transfers) if (call !== null) paid.set(call, amounts.revenue ?? 0);
  }
  const charged = bills.map(({ record, cost }) => ({ record, cost, charged: paid.get(record.id) ?? 0 }));
  await addToDays(transaction, charged);
  return charged.reduce((sum, bill) => sum + bill.cost - bill.charged, 0);
}

/** Deletes the open calls with reservations and returns the reserved credits by call. */
async function claimReservations(
  transaction: Kysely<Tables>,
  bills: readonly LineBill[],
): Promise<ReadonlyMap<Id<'usage_'>, MicroCredits>> {
  const ids = bills.filter(({ hasReservation }) => hasReservation).map(({ record }) => record.id);
  const claimed = new Map<Id<'usage_'>, MicroCredits>();
  for (const chunk of chunks(ids, CALLS_PER_STATEMENT)) {
    const rows = await transaction
      .deleteFrom('open_calls')
      .where('id', 'in', chunk)
      .returning(['id', 'reserved'])
      .execute();
    for (const { id, reserved } of rows) claimed.set(id, reserved);
  }
  return claimed;
}

/** One transfer per bill. Costs over the reservation are charged to the credits that the previous bills left. */
function settlements(
  bills: readonly LineBill[],
  reservations: ReadonlyMap<Id<'usage_'>, MicroCredits>,
  available: MicroCredits,
): readonly NewTransfer[] {
  let remaining = available;
  return bills.map(({ record, cost }) => {
    const reserved = reservations.get(record.id) ?? 0;
    const charged = Math.min(cost, reserved + remaining);
    remaining += reserved - charged;
    const kind = cost === 0 ? 'release' : 'settle';
    return { kind, at: record.createdAt, amounts: settlement(reserved, charged), call: record.id };
  });
}
