import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import type { IdempotencyKey } from '../../contract/stores/file-store.ts';
import {
  OPEN_VIDEO_STATUSES,
  type VideoRecord,
  type VideoQuota,
  type VideoStore,
} from '../../contract/stores/video-store.ts';
import { CreditLedger, settlement } from '../accounts/credit-ledger.ts';
import { lockOrganization } from '../accounts/organization-lock.ts';
import { addToDays } from '../accounts/usage-days.ts';
import { toRow as toUsageRow } from '../accounts/usage-store.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { forgetMade, type Making, madeBefore } from './idempotency.ts';

type Videos = Tables['videos'];
type VideoId = Videos['id'];

/** Words of the statement itself, not values: only so the index of open jobs is used. */
const OPEN = sql<boolean>`status IN (${sql.join(OPEN_VIDEO_STATUSES.map((status) => sql.lit(status)))})`;
const RETRY_AFTER_S = 30;

/**
 * Video jobs. Moves are guarded by the statement that makes them: a status and a runner that are no longer so change no
 * row. The records belong to the caller.
 */
export function videoStore({ db, engine }: Records): VideoStore {
  const ofOrganization = (query: Kysely<Tables>, organization: string, id: string) =>
    query
      .selectFrom('videos')
      .selectAll()
      .where('organization', '=', organization)
      .where('id', '=', id as VideoId);

  /** A job that nobody can delete before the end of the transaction. */
  const hold = (transaction: Kysely<Tables>, organization: string, id: string) => {
    const row = ofOrganization(transaction, organization, id);
    // A transaction of SQLite has the whole file to itself, and no word for this.
    return (engine === 'postgres' ? row.forUpdate() : row).executeTakeFirst();
  };

  /** The job that an earlier request with the key made. */
  async function earlierVideo(making: Making, idempotency: IdempotencyKey) {
    const there = (id: string) =>
      ofOrganization(making.transaction, making.organization, id).executeTakeFirst();
    const made = await madeBefore(making, idempotency, async (it) => (await there(it)) !== undefined);
    const row = made === undefined ? undefined : await there(made);
    return row && toRecord(row);
  }

  return {
    create: (video, reserved, room, idempotency) =>
      db.transaction().execute(async (transaction) => {
        const { id, organization, source, createdAt, call, clip } = video;
        const making = { engine, transaction, organization, kind: 'video', id, at: createdAt } as const;
        const earlier = idempotency && (await earlierVideo(making, idempotency));
        if (earlier !== undefined) return { video: earlier };
        await lockOrganization(engine, transaction, organization, 'videos');
        await requireRoom(transaction, organization, clip.lengthBytes, room);
        // Held, so that `delete` sees the job that is being made.
        if (source !== undefined && (await hold(transaction, organization, source)) === undefined) {
          throw new ServiceError('not_found', `Video with id '${source}' not found.`, { param: 'video' });
        }
        if (reserved > 0) {
          const ledger = await CreditLedger.lock(engine, transaction, organization);
          const available = ledger?.balance.available ?? 0;
          if (ledger === undefined || available < reserved) {
            // The key is free again, as after every other refusal.
            if (idempotency !== undefined) await forgetMade(making);
            return { available };
          }
          await ledger.transfer('reserve', createdAt, { available: -reserved, reserved }, call);
        }
        await transaction.insertInto('videos').values(toRow(video, reserved)).execute();
        return { video };
      }),

    requireCapacity: (organization, room) => requireRoom(db, organization, 1, room),

    async get(organization, id) {
      const row = await ofOrganization(db, organization, id).executeTakeFirst();
      return row && toRecord(row);
    },

    async list({ organization, limit, order, after }) {
      let page = db.selectFrom('videos').selectAll().where('organization', '=', organization);
      if (after !== undefined) {
        const last = await ofOrganization(db, organization, after).executeTakeFirst();
        if (last === undefined) {
          throw invalidRequest("'after' must be the id of one of your videos.", 'after', 'invalid_value');
        }
        page = page.where('sequence', order === 'asc' ? '>' : '<', last.sequence);
      }
      // One row more than asked for tells whether there is another page.
      const rows = await page
        .orderBy('sequence', order)
        .limit(limit + 1)
        .execute();
      return { videos: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    delete: (organization, id) =>
      db.transaction().execute(async (transaction) => {
        const video = await hold(transaction, organization, id);
        if (video === undefined) return false;
        if (OPEN_VIDEO_STATUSES.includes(video.status)) {
          throw inUse(`The video is ${video.status}. Delete it when it has ended.`);
        }
        // After the row is held, so that a job that was being made of it is seen.
        const reader = await transaction
          .selectFrom('videos')
          .select('id')
          .where('source', '=', video.id)
          .where(OPEN)
          .limit(1)
          .executeTakeFirst();
        if (reader !== undefined) {
          throw inUse(`The video is continued by '${reader.id}', which has not ended. Wait for its end.`);
        }
        await transaction.deleteFrom('videos').where('id', '=', video.id).execute();
        return true;
      }),

    async claim(id, runner, at) {
      const row = await db
        .updateTable('videos')
        .set(({ fn, val }) => ({
          status: 'in_progress',
          runner,
          started_at: fn.coalesce('started_at', val(at)),
        }))
        .where('id', '=', id)
        .where(OPEN)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async saveEngineState(id, runner, state) {
      const { numUpdatedRows } = await db
        .updateTable('videos')
        .set({ remembered: state })
        .where('id', '=', id)
        .where('runner', '=', runner)
        .where('status', '=', 'in_progress')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    finish: (id, runner, end, { record, cost }) =>
      db.transaction().execute(async (transaction) => {
        const ended = await transaction
          .updateTable('videos')
          .set({
            status: end.status,
            completed_at: end.at,
            made: end.status === 'completed' ? JSON.stringify(end.made) : null,
            error: end.status === 'failed' ? JSON.stringify(end.error) : null,
            length_bytes: end.status === 'completed' ? end.made.video.lengthBytes : 0,
          })
          .where('id', '=', id)
          .where('runner', '=', runner)
          .where('status', '=', 'in_progress')
          .returning(['organization', 'reserved'])
          .executeTakeFirst();
        if (ended === undefined) return false;
        await transaction.insertInto('usage').values(toUsageRow(record)).execute();
        const { organization, reserved } = ended;
        let charged = 0;
        if (reserved > 0 || cost > 0) {
          const ledger = await CreditLedger.lock(engine, transaction, organization);
          charged = Math.min(cost, reserved + (ledger?.balance.available ?? 0));
          const kind = cost === 0 ? 'release' : 'settle';
          await ledger?.transfer(kind, end.at, settlement(reserved, charged), record.id);
        }
        await addToDays(transaction, [{ record, charged }]);
        return true;
      }),

    async listOpen(limit, after) {
      let page = db.selectFrom('videos').select('id').where(OPEN);
      if (after !== undefined) {
        page = page.where('sequence', '>', ({ selectFrom }) =>
          selectFrom('videos').select('sequence').where('id', '=', after),
        );
      }
      const rows = await page.orderBy('sequence').limit(limit).execute();
      return rows.map(({ id }) => id);
    },

    async listStates(ids) {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom('videos')
        .select(['id', 'status', 'runner'])
        .where('id', 'in', ids)
        .execute();
      return rows.map(({ runner, ...rest }) => ({ ...rest, runner: runner ?? undefined }));
    },
  };
}

/** @throws ServiceError when the organization has reached the limit of unfinished jobs or of stored bytes. */
async function requireRoom(
  query: Kysely<Tables>,
  organization: string,
  bytes: number,
  { maxOpen, maxBytes }: VideoQuota,
): Promise<void> {
  const { open, stored } = await query
    .selectFrom('videos')
    .select([
      sql<number>`CAST(COALESCE(SUM(CASE WHEN ${OPEN} THEN 1 ELSE 0 END), 0) AS BIGINT)`.as('open'),
      sql<number>`CAST(COALESCE(SUM(length_bytes), 0) AS BIGINT)`.as('stored'),
    ])
    .where('organization', '=', organization)
    .executeTakeFirstOrThrow();
  if (open >= maxOpen) {
    throw new ServiceError(
      'rate_limited',
      `Your organization has ${open} of at most ${maxOpen} unfinished video jobs. Its videos use ${stored} of at most ${maxBytes} bytes. Retry when a job has finished.`,
      { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
    );
  }
  if (stored + bytes > maxBytes) {
    throw invalidRequest(
      `The videos of your organization use ${stored} of at most ${maxBytes} bytes, so this one does not fit. Delete videos that you no longer need.`,
      'video',
      'storage_limit_exceeded',
    );
  }
}

function inUse(message: string): ServiceError {
  return new ServiceError('conflict', message, { param: 'id', code: 'video_in_use' });
}

function toRow(video: VideoRecord, reserved: number): Insertable<Videos> {
  return {
    id: video.id,
    organization: video.organization,
    call_id: video.call,
    request_id: video.requestId,
    model: video.model,
    // Databases keep no NUL in a text.
    prompt: JSON.stringify(video.prompt),
    status: video.status,
    runner: video.runner ?? null,
    created_at: video.createdAt,
    started_at: video.startedAt ?? null,
    completed_at: video.completedAt ?? null,
    seconds: video.seconds,
    width: video.width,
    height: video.height,
    audio: Number(video.audio),
    clip: JSON.stringify(video.clip),
    source: video.source ?? null,
    made: null,
    error: null,
    remembered: null,
    note: video.note ?? null,
    length_bytes: video.clip.lengthBytes,
    reserved,
  };
}

function toRecord(row: Selectable<Videos>): VideoRecord {
  return {
    id: row.id,
    organization: row.organization,
    call: row.call_id,
    requestId: row.request_id,
    model: row.model,
    prompt: JSON.parse(row.prompt),
    status: row.status,
    runner: row.runner ?? undefined,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
    seconds: row.seconds,
    width: row.width,
    height: row.height,
    audio: row.audio !== 0,
    clip: JSON.parse(row.clip),
    source: row.source ?? undefined,
    made: row.made === null ? undefined : JSON.parse(row.made),
    error: row.error === null ? undefined : JSON.parse(row.error),
    remembered: row.remembered ?? undefined,
    note: row.note ?? undefined,
  };
}
