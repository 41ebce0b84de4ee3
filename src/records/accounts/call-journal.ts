import type { Insertable, Kysely, Selectable } from 'kysely';
import type { CallJournal, JournalCall, MicroCredits } from '../../contract/accounts/accounts-store.ts';
import type { UsageRecord } from '../../contract/accounts/usage.ts';
import type { Id } from '../../contract/core/id.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { CreditLedger, settlement } from './credit-ledger.ts';
import { addToDays } from './usage-days.ts';
import { toRow as toUsageRow } from './usage-store.ts';

type OpenCall = Tables['open_calls'];

/** Open calls and their credit reservations. Each method runs one transaction. The caller closes `records`. */
export function callJournal({ db, engine }: Records): CallJournal {
  /** Deletes an open call and returns it. Only one of several concurrent transactions gets it. */
  const removeOpenCall = (transaction: Kysely<Tables>, id: Id<'usage_'>) =>
    transaction
      .deleteFrom('open_calls')
      .where('id', '=', id)
      .returning(['organization', 'reserved'])
      .executeTakeFirst();

  /** Releases the reservation of a call and charges its cost, up to the available credits. */
  async function charge(
    transaction: Kysely<Tables>,
    record: UsageRecord,
    call: { readonly organization: string; readonly reserved: MicroCredits },
    cost: MicroCredits,
  ): Promise<MicroCredits> {
    if (call.reserved === 0 && cost === 0) return 0;
    const ledger = await CreditLedger.lock(engine, transaction, call.organization);
    const charged = Math.min(cost, call.reserved + (ledger?.balance.available ?? 0));
    const kind = cost === 0 ? 'release' : 'settle';
    await ledger?.transfer(kind, record.createdAt, settlement(call.reserved, charged), record.id);
    return charged;
  }

  return {
    async openCall(call) {
      const row = toRow(call);
      if (call.reserved === 0) {
        await db.insertInto('open_calls').values(row).execute();
        return undefined;
      }
      return db.transaction().execute(async (transaction) => {
        const ledger = await CreditLedger.lock(engine, transaction, call.organization);
        const available = ledger?.balance.available ?? 0;
        if (ledger === undefined || available < call.reserved) return { available };
        await transaction.insertInto('open_calls').values(row).execute();
        const amounts = { available: -call.reserved, reserved: call.reserved };
        await ledger.transfer('reserve', call.openedAt, amounts, call.id);
        return undefined;
      });
    },

    closeCall: (record, cost) =>
      db.transaction().execute(async (transaction) => {
        const call = await removeOpenCall(transaction, record.id);
        if (call === undefined) return undefined;
        await transaction.insertInto('usage').values(toUsageRow(record)).execute();
        const charged = await charge(transaction, record, call, cost);
        await addToDays(transaction, [{ record, charged }]);
        return { charged };
      }),

    discardCall: (id, at) =>
      db.transaction().execute(async (transaction) => {
        const call = await removeOpenCall(transaction, id);
        if (call === undefined) return false;
        if (call.reserved > 0) {
          const ledger = await CreditLedger.lock(engine, transaction, call.organization);
          await ledger?.transfer('release', at, settlement(call.reserved, 0), id);
        }
        return true;
      }),

    async listOpenCalls(instance, limit) {
      const rows = await db
        .selectFrom('open_calls')
        .selectAll()
        .where('instance', '=', instance)
        .orderBy('sequence')
        .limit(limit)
        .execute();
      return rows.map(toCall);
    },

    async recordHeartbeat({ id, host, pid, seenAt }) {
      const heartbeat = { place: host, pid, seen_at: seenAt };
      await db
        .insertInto('instances')
        .values({ id, ...heartbeat })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(heartbeat))
        .execute();
    },

    async listInstances() {
      const rows = await db.selectFrom('instances').selectAll().orderBy('seen_at').orderBy('id').execute();
      return rows.map(({ id, place, pid, seen_at }) => ({ id, host: place, pid, seenAt: seen_at }));
    },

    async removeInstance(instance) {
      const { numDeletedRows } = await db
        .deleteFrom('instances')
        .where('id', '=', instance)
        .where(({ exists, not, selectFrom }) =>
          not(exists(selectFrom('open_calls').select('id').where('instance', '=', instance))),
        )
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function toRow(call: JournalCall): Insertable<OpenCall> {
  return {
    id: call.id,
    instance: call.instance,
    opened_at: call.openedAt,
    endpoint: call.endpoint,
    organization: call.organization,
    request_id: call.requestId,
    model: call.model,
    reserved: call.reserved,
    repeated: Number(call.repeated),
  };
}

function toCall(row: Selectable<OpenCall>): JournalCall {
  return {
    id: row.id,
    instance: row.instance,
    openedAt: row.opened_at,
    endpoint: row.endpoint,
    organization: row.organization,
    requestId: row.request_id,
    model: row.model,
    reserved: row.reserved,
    repeated: row.repeated !== 0,
  };
}
