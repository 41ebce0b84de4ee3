import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { OPEN_BATCH_STATUSES } from '../../contract/stores/batch-store.ts';
import type { FileRecord, FileStore, IdempotencyKey } from '../../contract/stores/file-store.ts';
import { lockOrganization } from '../accounts/organization-lock.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { claimIdempotencyKey } from './idempotency.ts';

type File = Tables['files'];

/** Files of organizations. The caller closes `records`. */
export function fileStore({ db, engine }: Records): FileStore {
  /** Files of an organization that have not expired at a time (Unix seconds). */
  const present = (organization: string, at: number) =>
    db
      .selectFrom('files')
      .where('organization', '=', organization)
      .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]));

  /** The file that an earlier request with the same idempotency key created. */
  async function earlierFile(transaction: Kysely<Tables>, file: FileRecord, idempotency: IdempotencyKey) {
    const { organization, id, createdAt: at } = file;
    const findExisting = (earlier: string) => findFile(transaction, organization, earlier, at);
    const creation = { engine, transaction, organization, kind: 'file', id, at } as const;
    const before = await claimIdempotencyKey(
      creation,
      idempotency,
      async (it) => (await findExisting(it)) !== undefined,
    );
    return before === undefined ? undefined : findExisting(before);
  }

  /** @throws ServiceError `storage_limit_exceeded` if the files with these additional bytes exceed the limit. */
  async function checkStorageQuota(
    query: Kysely<Tables>,
    organization: string,
    bytes: number,
    maxBytes: number,
  ) {
    const { stored } = await query
      .selectFrom('files')
      .select(sql<number>`CAST(COALESCE(SUM(length_bytes), 0) AS BIGINT)`.as('stored'))
      .where('organization', '=', organization)
      .executeTakeFirstOrThrow();
    if (stored + bytes <= maxBytes) return;
    throw invalidRequest(
      `The files of your organization use ${stored} of at most ${maxBytes} bytes, so this file does not fit. Delete files that you no longer need, such as inputs and results of finished batches.`,
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
        await checkStorageQuota(transaction, organization, lengthBytes, maxBytes);
        await transaction.insertInto('files').values(toRow(file)).execute();
        return file;
      }),

    requireCapacity: (organization, maxBytes) => checkStorageQuota(db, organization, 1, maxBytes),

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
      // One row more than the limit shows whether there is another page.
      const rows = await page
        .orderBy('sequence', order)
        .limit(limit + 1)
        .execute();
      return { files: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    delete: (organization, id, at) =>
      db.transaction().execute(async (transaction) => {
        const file = await lockFile(engine, transaction, organization, id);
        if (file === undefined) return false;
        // Queried after the file is locked, so that a batch that is created concurrently is found.
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
            `The file is the input of batch '${reader.id}', which has not finished. Cancel the batch or wait until it has finished.`,
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

/** @param at Unix seconds; files that have expired by then are not returned. */
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
 * Returns a file, even if it has expired, and locks it until the end of the transaction. A batch is created while its input
 * file is locked, so that a concurrent `delete` finds the batch.
 */
export async function lockFile(
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
  // SQLite has no row locks; its transactions lock the whole file.
  const found = await (engine === 'postgres' ? row.forUpdate() : row).executeTakeFirst();
  return found && toRecord(found);
}

/** Whether a file has not expired. @param at Unix seconds. */
export function isPresent(file: FileRecord, at: number): boolean {
  return file.expiresAt === undefined || file.expiresAt > at;
}

/** Converts a record to a row, for every store that writes files. */
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
