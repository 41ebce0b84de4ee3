import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { OPEN_BATCH_STATUSES } from '../../contract/stores/batch-store.ts';
import type { FileRecord, FileStore, IdempotencyKey } from '../../contract/stores/file-store.ts';
import { lockOrganization } from '../accounts/organization-lock.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { madeBefore } from './idempotency.ts';

type File = Tables['files'];

/** Files of organizations. The records belong to the caller. */
export function fileStore({ db, engine }: Records): FileStore {
  /** Files of an organization that are there at a time. */
  const present = (organization: string, at: number) =>
    db
      .selectFrom('files')
      .where('organization', '=', organization)
      .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]));

  /** The file that an earlier request with the key made. */
  async function earlierFile(transaction: Kysely<Tables>, file: FileRecord, idempotency: IdempotencyKey) {
    const { organization, id, createdAt: at } = file;
    const there = (earlier: string) => findFile(transaction, organization, earlier, at);
    const making = { engine, transaction, organization, kind: 'file', id, at } as const;
    const before = await madeBefore(making, idempotency, async (it) => (await there(it)) !== undefined);
    return before === undefined ? undefined : there(before);
  }

  /** @throws ServiceError when so many bytes more are too many. */
  async function requireRoom(query: Kysely<Tables>, organization: string, bytes: number, maxBytes: number) {
    const { stored } = await query
      .selectFrom('files')
      .select(sql<number>`CAST(COALESCE(SUM(length_bytes), 0) AS BIGINT)`.as('stored'))
      .where('organization', '=', organization)
      .executeTakeFirstOrThrow();
    if (stored + bytes <= maxBytes) return;
    throw invalidRequest(
      `The files of your organization have ${stored} bytes, and this one would make them more than ${maxBytes}. Delete some that you no longer need: inputs of batches that have ended, and results that you have read.`,
      'file',
      'storage_limit_exceeded',
    );
  }

  return {
    put: (file, maxBytes, idempotency) =>
      db.transaction().execute(async (transaction) => {
        const { organization, lengthBytes } = file;
        const earlier = idempotency && (await earlierFile(transaction, file, idempotency));
        if (earlier !== undefined) return earlier;
        await lockOrganization(engine, transaction, organization, 'files');
        await requireRoom(transaction, organization, lengthBytes, maxBytes);
        await transaction.insertInto('files').values(toRow(file)).execute();
        return file;
      }),

    requireCapacity: (organization, maxBytes) => requireRoom(db, organization, 1, maxBytes),

    get: (organization, id, at) => findFile(db, organization, id, at),

    async list({ organization, purpose, limit, order, after, at }) {
      let page = present(organization, at).selectAll();
      if (purpose !== undefined) page = page.where('purpose', '=', purpose);
      if (after !== undefined) {
        const last = await present(organization, at)
          .select('sequence')
          .where('id', '=', after as File['id'])
          .executeTakeFirst();
        if (last === undefined) {
          throw invalidRequest("'after' must be the id of one of your files.", 'after', 'invalid_value');
        }
        page = page.where('sequence', order === 'asc' ? '>' : '<', last.sequence);
      }
      // One row more than asked for tells whether there is another page.
      const rows = await page
        .orderBy('sequence', order)
        .limit(limit + 1)
        .execute();
      return { files: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    delete: (organization, id, at) =>
      db.transaction().execute(async (transaction) => {
        const file = await holdFile(engine, transaction, organization, id);
        if (file === undefined) return false;
        // After the row is held, so that a batch that was being made with it is seen.
        const reader = await transaction
          .selectFrom('batches')
          .select('id')
          .where('input_file', '=', file.id)
          .where('status', 'in', OPEN_BATCH_STATUSES)
          .limit(1)
          .executeTakeFirst();
        if (reader !== undefined) {
          throw new ServiceError(
            'conflict',
            `The file is the input of batch '${reader.id}', which has not ended. Cancel the batch or wait for its end.`,
            { param: 'id', code: 'file_in_use' },
          );
        }
        await transaction.deleteFrom('files').where('id', '=', file.id).execute();
        return isPresent(file, at);
      }),

    async listExpired(at, limit) {
      const rows = await db
        .selectFrom('files')
        .selectAll()
        .where('expires_at', '<=', at)
        .where(({ exists, not, selectFrom }) =>
          not(
            exists(
              selectFrom('batches')
                .select('batches.id')
                .whereRef('batches.input_file', '=', 'files.id')
                .where('status', 'in', OPEN_BATCH_STATUSES),
            ),
          ),
        )
        .orderBy('expires_at')
        .limit(limit)
        .execute();
      return rows.map(toRecord);
    },

    async filterExisting(ids) {
      if (ids.length === 0) return new Set();
      const rows = await db.selectFrom('files').select('id').where('id', 'in', ids).execute();
      return new Set(rows.map(({ id }) => id));
    },

    async deleteIdempotencyKeys(before) {
      const { numDeletedRows } = await db
        .deleteFrom('idempotency_keys')
        .where('created_at', '<', before)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

/** @param at Unix seconds: what has expired by then is not there. */
async function findFile(
  db: Kysely<Tables>,
  organization: string,
  id: string,
  at: number,
): Promise<FileRecord | undefined> {
  const row = await db
    .selectFrom('files')
    .selectAll()
    .where('organization', '=', organization)
    .where('id', '=', id as File['id'])
    .executeTakeFirst();
  const file = row && toRecord(row);
  return file && isPresent(file, at) ? file : undefined;
}

/**
 * The file, which nobody can delete before the end of the transaction; an expired one too. A batch is made with it
 * held, so that `delete` sees the batch.
 */
export async function holdFile(
  engine: Records['engine'],
  transaction: Kysely<Tables>,
  organization: string,
  id: string,
): Promise<FileRecord | undefined> {
  const row = transaction
    .selectFrom('files')
    .selectAll()
    .where('organization', '=', organization)
    .where('id', '=', id as File['id']);
  // A transaction of SQLite has the whole file to itself, and no word for this.
  const found = await (engine === 'postgres' ? row.forUpdate() : row).executeTakeFirst();
  return found && toRecord(found);
}

/** Whether a file has not expired at a time, in Unix seconds. */
export function isPresent(file: FileRecord, at: number): boolean {
  return file.expiresAt === undefined || file.expiresAt > at;
}

/** A record as a row, for every store that writes one. */
export function toRow(file: FileRecord): Insertable<File> {
  return {
    id: file.id,
    organization: file.organization,
    purpose: file.purpose,
    filename: file.filename,
    length_bytes: file.lengthBytes,
    sha256: file.sha256,
    created_at: file.createdAt,
    expires_at: file.expiresAt ?? null,
  };
}

function toRecord(row: Selectable<File>): FileRecord {
  return {
    id: row.id,
    organization: row.organization,
    purpose: row.purpose,
    filename: row.filename,
    lengthBytes: row.length_bytes,
    sha256: row.sha256,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  };
}
