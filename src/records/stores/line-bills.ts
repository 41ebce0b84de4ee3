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

/** Calls of one statement. */
const MAX_CONCURRENT = 64;

/**
 * Writes the usage rows of calls of batch lines, charges for them and ends what they hold, inside a transaction of
 * the caller: all of it happens with the rest of that or not at all. A call that another process ended meanwhile,
 * because it took this one for dead, is charged from what is available. One that holds nothing and costs nothing
 * touches no credits.
 * @param transaction holds no organization's ledger yet: calls are taken before ledgers everywhere.
 * @returns what they cost beyond what there was for them, which is not charged.
 * @throws what the engine throws when a call has its row already.
 */
export type StoreBills = (transaction: Kysely<Tables>, bills: readonly LineBill[]) => Promise<MicroCredits>;

/** What writes bills of lines into the tables of an engine. */
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
  const held = await takeHeld(transaction, bills);
  const byOrganization = Map.groupBy(bills, ({ record }) => record.organization);
  const paid = new Map<Id<'usage'>, MicroCredits>();
  // In the same order everywhere, so that two transactions never wait for each other.
  for (const [organization, theirs] of [...byOrganization].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const charged = theirs.filter(({ record, cost }) => cost > 0 || held.has(record.id));
    if (charged.length === 0) continue;
    const ledger = await CreditLedger.lock(engine, transaction, organization);
    const transfers = settlements(charged, held, ledger?.balance.available ?? 0);
    await ledger?.transferAll(transfers);
    for (const { call, amounts } of transfers) if (call !== null) paid.set(call, amounts.revenue ?? 0);
  }
  const charged = bills.map(({ record, cost }) => ({ record, cost, charged: paid.get(record.id) ?? 0 }));
  await addToDays(transaction, charged);
  return charged.reduce((sum, bill) => sum + bill.cost - bill.charged, 0);
}

/** Takes calls out of the journal that hold credits, and tells how many each held. */
async function takeHeld(
  transaction: Kysely<Tables>,
  bills: readonly LineBill[],
): Promise<ReadonlyMap<Id<'usage'>, MicroCredits>> {
  const ids = bills.filter(({ hasReservation: held }) => held).map(({ record }) => record.id);
  const taken = new Map<Id<'usage'>, MicroCredits>();
  for (const some of chunks(ids, MAX_CONCURRENT)) {
    const rows = await transaction
      .deleteFrom('open_calls')
      .where('id', 'in', some)
      .returning(['id', 'reserved'])
      .execute();
    for (const { id, reserved } of rows) taken.set(id, reserved);
  }
  return taken;
}

/** One transfer a bill; what costs more than it held takes from what those before it left. */
function settlements(
  bills: readonly LineBill[],
  held: ReadonlyMap<Id<'usage'>, MicroCredits>,
  available: MicroCredits,
): readonly NewTransfer[] {
  let left = available;
  return bills.map(({ record, cost }) => {
    const reserved = held.get(record.id) ?? 0;
    const charged = Math.min(cost, reserved + left);
    left += reserved - charged;
    const kind = cost === 0 ? 'release' : 'settle';
    return { kind, at: record.createdAt, amounts: settlement(reserved, charged), call: record.id };
  });
}
