import { type JobStore, MAX_SCHEDULE_AHEAD_MS } from '../../contract/stores/job-store.ts';
import type { Records } from '../schema/records.ts';

/** Jobs of the embedded queue. The caller closes `records`. */
export function jobStore({ db, engine }: Records): JobStore {
  return {
    async addJob(kind, id, at, cause) {
      await db
        .insertInto('jobs')
        .values({ kind, id, free_at_ms: at, lease: null, failures: 0, cause: cause ?? null })
        .onConflict((conflict) => conflict.columns(['kind', 'id']).doNothing())
        .execute();
    },

    async claimJob({ kind, lease }, { at, until }) {
      const claimed = await db
        .updateTable('jobs')
        .set({ lease, free_at_ms: until })
        .where('kind', '=', kind)
        .where('id', '=', ({ selectFrom }) =>
          selectFrom('jobs')
            .select('id')
            .where('kind', '=', kind)
            .where(({ eb, or }) =>
              or([eb('free_at_ms', '<=', at), eb('free_at_ms', '>', at + MAX_SCHEDULE_AHEAD_MS)]),
            )
            .orderBy('free_at_ms')
            .orderBy('id')
            .limit(1)
            // Concurrent claims get the next job instead of waiting for the row lock of this one.
            .$if(engine === 'postgres', (query) => query.forUpdate().skipLocked()),
        )
        .returning(['id', 'failures', 'cause'])
        .executeTakeFirst();
      return claimed && { ...claimed, cause: claimed.cause ?? undefined };
    },

    async renewLeases(leases, until) {
      const rows = await db
        .updateTable('jobs')
        .set({ free_at_ms: until })
        .where('lease', 'in', leases)
        .returning('lease')
        .execute();
      return new Set(rows.map(({ lease }) => lease ?? ''));
    },

    async rescheduleJob(lease, at, failures) {
      await db
        .updateTable('jobs')
        .set({ lease: null, free_at_ms: at, failures })
        .where('lease', '=', lease)
        .execute();
    },

    async removeJob(lease) {
      await db.deleteFrom('jobs').where('lease', '=', lease).execute();
    },

    async leases(kind) {
      const rows = await db
        .selectFrom('jobs')
        .select('lease')
        .where('kind', '=', kind)
        .where('lease', 'is not', null)
        .execute();
      return rows.map(({ lease }) => lease ?? '');
    },

    async releaseJob(lease, at) {
      await db.updateTable('jobs').set({ lease: null, free_at_ms: at }).where('lease', '=', lease).execute();
    },
  };
}
