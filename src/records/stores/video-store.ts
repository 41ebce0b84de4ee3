import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import type { IdempotencyKey } from '../../contract/stores/file-store.ts';
import {
  OPEN_VIDEO_STATUSES,
  type VideoQuota,
  type VideoRecord,
  type VideoStore,
} from '../../contract/stores/video-store.ts';
import { CreditLedger, settlement } from '../accounts/credit-ledger.ts';
import { lockOrganization } from '../accounts/organization-lock.ts';
import { addToDays } from '../accounts/usage-days.ts';
import { toRow as toUsageRow } from '../accounts/usage-store.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { claimIdempotencyKey, type ObjectCreation, releaseIdempotencyKey } from './idempotency.ts';

type Videos = Tables['videos'];
type VideoId = Videos['id'];

/** Literals instead of parameters, because otherwise the partial index of open jobs is not used. */
const OPEN = sql<boolean>`status IN (${sql.join(OPEN_VIDEO_STATUSES.map((status) => sql.lit(status)))})`;
const RETRY_AFTER_S = 30;

/**
 * Video jobs. Each state transition is one statement that matches only the expected status and runner, so a stale
 * transition changes no row. The caller closes `records`.
 */
export function videoStore({ db, engine }: Records): VideoStore {
  const ofOrganization = (query: Kysely<Tables>, organization: string, id: string) =>
    query
      .selectFrom('videos')
      .selectAll()
      .where('organization', '=', organization)
      .where('id', '=', id as VideoId);

  /** Returns a job and locks it until the end of the transaction. */
  const lockVideo = (transaction: Kysely<Tables>, organization: string, id: string) => {
    const row = ofOrganization(transaction, organization, id);
    // SQLite has no row locks; its transactions lock the whole file.
    return (engine === 'postgres' ? row.forUpdate() : row).executeTakeFirst();
  };

  /** The job that an earlier request with the same idempotency key created. */
  async function earlierVideo(creation: ObjectCreation, idempotency: IdempotencyKey) {
    const findExisting = (id: string) =>
      ofOrganization(creation.transaction, creation.organization, id).executeTakeFirst();
    const made = await claimIdempotencyKey(
      creation,
      idempotency,
      async (it) => (await findExisting(it)) !== undefined,
    );
    const row = made === undefined ? undefined : await findExisting(made);
    return row && toRecord(row);
  }

  return {
    create: (video, reserved, quota, idempotency) =>
      db.transaction().execute(async (transaction) => {
        const { id, organization, source, createdAt, call, clip } = video;
        const creation = { engine, transaction, organization, kind: 'video', id, at: createdAt } as const;
        const earlier = idempotency && (await earlierVideo(creation, idempotency));
        if (earlier !== undefined) return { video: earlier };
        await lockOrganization(engine, transaction, organization, 'videos');
        await checkVideoQuota(transaction, organization, clip.lengthBytes, quota);
        // The source is locked, so that a concurrent `delete` finds this job.
        if (source !== undefined && (await lockVideo(transaction, organization, source)) === undefined) {
          throw new ServiceError('not_found', `Video with id '${source}' not found.`, { param: 'video' });
        }
        if (reserved > 0) {
          const ledger = await CreditLedger.lock(engine, transaction, organization);
          const available = ledger?.balance.available ?? 0;
          if (ledger === undefined || available < reserved) {
            // The idempotency key can be reused, as after every other rejection.
            if (idempotency !== undefined) await releaseIdempotencyKey(creation);
            return { available };
          }
          await ledger.transfer('reserve', createdAt, { available: -reserved, reserved }, call);
        }
        await transaction.insertInto('videos').values(toRow(video, reserved)).execute();
        return { video };
      }),

    requireCapacity: (organization, quota) => checkVideoQuota(db, organization, 1, quota),

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
      // One row more than the limit shows whether there is another page.
      const rows = await page
        .orderBy('sequence', order)
        .limit(limit + 1)
        .execute();
      return { videos: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    delete: (organization, id) =>
      db.transaction().execute(async (transaction) => {
        const video = await lockVideo(transaction, organization, id);
        if (video === undefined) return false;
        if (OPEN_VIDEO_STATUSES.includes(video.status)) {
          throw inUse(`The video is ${video.status}. Delete it after it has finished.`);
        }
        // Queried after the row is locked, so that a job that is created concurrently is found.
        const reader = await transaction
          .selectFrom('videos')
          .select('id')
          .where('source', '=', video.id)
          .where(OPEN)
          .limit(1)
          .executeTakeFirst();
        if (reader !== undefined) {
          throw inUse(
            `The video is the input of job '${reader.id}', which has not finished. Wait until it has finished.`,
          );
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
        const finished = await transaction
          .updateTable('videos')
          .set({
            status: end.status,
            completed_at: end.at,
            made: end.status === 'completed' ? JSON.stringify(end.result) : null,
            error: end.status === 'failed' ? JSON.stringify(end.error) : null,
            length_bytes: end.status === 'completed' ? end.result.video.lengthBytes : 0,
          })
          .where('id', '=', id)
          .where('runner', '=', runner)
          .where('status', '=', 'in_progress')
          .returning(['organization', 'reserved'])
          .executeTakeFirst();
        if (finished === undefined) return false;
        await transaction.insertInto('usage').values(toUsageRow(record)).execute();
        const { organization, reserved } = finished;
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
async function checkVideoQuota(
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
    // As JSON, because databases cannot store NUL in text.
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
    result: row.made === null ? undefined : JSON.parse(row.made),
    error: row.error === null ? undefined : JSON.parse(row.error),
    savedState: row.remembered ?? undefined,
    note: row.note ?? undefined,
  };
}
