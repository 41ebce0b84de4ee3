import { type Kysely, type Selectable, sql } from 'kysely';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import type { Id } from '../../contract/core/id.ts';
import {
  type BatchError,
  type BatchPage,
  type BatchPart,
  type BatchRecord,
  type BatchStatus,
  type BatchStore,
  type ClaimedBatch,
  MAX_LINES_AHEAD,
  OPEN_BATCH_STATUSES,
  STATUS_BEFORE_END,
} from '../../contract/stores/batch-store.ts';
import type { FileRecord, IdempotencyKey } from '../../contract/stores/file-store.ts';
import { lockOrganization } from '../accounts/organization-lock.ts';
import { chunks } from '../lib/chunks.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { isPresent, lockFile, toRow as toFileRow } from './file-store.ts';
import { claimIdempotencyKey } from './idempotency.ts';
import { lineBills } from './line-bills.ts';

type Batches = Tables['batches'];

/** Literals instead of parameters, because otherwise the partial index of open batches is not used. */
const OPEN = sql<boolean>`status IN (${sql.join(OPEN_BATCH_STATUSES.map((status) => sql.lit(status)))})`;
/** Batch parts per statement. */
const PARTS_PER_STATEMENT = 1000;
const RETRY_AFTER_S = 10;

/**
 * Batches and their progress. Each state transition is one statement that matches only the expected status and runner, so a
 * stale transition changes no row. The caller closes `records`.
 */
export function batchStore({ db, engine }: Records): BatchStore {
  const storeBills = lineBills(engine);
  const ofOrganization = (query: Kysely<Tables>, organization: string, id: string) =>
    query
      .selectFrom('batches')
      .where('organization', '=', organization)
      .where('id', '=', id as Id<'batch_'>);

  const claimedBatch = (query: Kysely<Tables>, id: Id<'batch_'>, runner: string) =>
    query.updateTable('batches').where('id', '=', id).where('runner', '=', runner);

  async function checkBatchQuota(
    transaction: Kysely<Tables>,
    batch: BatchRecord,
    maxOpen: number,
  ): Promise<void> {
    const { organization } = batch;
    await lockOrganization(engine, transaction, organization, 'batches');
    const { open } = await transaction
      .selectFrom('batches')
      .select(({ fn }) => fn.countAll<number>().as('open'))
      .where('organization', '=', organization)
      .where(OPEN)
      .executeTakeFirstOrThrow();
    if (open < maxOpen) return;
    throw new ServiceError(
      'rate_limited',
      `Your organization has ${open} of at most ${maxOpen} unfinished batches. Retry when a batch has finished.`,
      { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
    );
  }

  async function requireInput(transaction: Kysely<Tables>, batch: BatchRecord): Promise<void> {
    const file = await lockFile(engine, transaction, batch.organization, batch.inputFile);
    if (file === undefined || !isPresent(file, batch.times.created)) {
      throw invalidRequest(
        "'input_file_id' must be the id of a file of your organization.",
        'input_file_id',
        'invalid_value',
      );
    }
    if (file.purpose !== 'batch') {
      throw invalidRequest(
        `'input_file_id' must be a file with purpose 'batch'; this file has purpose '${file.purpose}'.`,
        'input_file_id',
        'invalid_value',
      );
    }
  }

  async function createBatch(
    transaction: Kysely<Tables>,
    batch: BatchRecord,
    maxOpen: number,
    idempotency: IdempotencyKey | undefined,
  ): Promise<BatchRecord> {
    const { organization, id } = batch;
    if (idempotency !== undefined) {
      const creation = {
        engine,
        transaction,
        organization,
        kind: 'batch',
        id,
        at: batch.times.created,
      } as const;
      // Batches are never deleted.
      const existing = await claimIdempotencyKey(creation, idempotency, async () => true);
      if (existing !== undefined) {
        const row = ofOrganization(transaction, organization, existing).selectAll();
        return toRecord(await row.executeTakeFirstOrThrow());
      }
    }
    await requireInput(transaction, batch);
    await checkBatchQuota(transaction, batch, maxOpen);
    await transaction.insertInto('batches').values(toRow(batch)).execute();
    return batch;
  }

  return {
    create: (batch, maxOpen, idempotency) =>
      db.transaction().execute((transaction) => createBatch(transaction, batch, maxOpen, idempotency)),

    async get(organization, id) {
      const row = await ofOrganization(db, organization, id).selectAll().executeTakeFirst();
      return row && toRecord(row);
    },

    async list({ organization, limit, after }): Promise<BatchPage> {
      let page = db.selectFrom('batches').selectAll().where('organization', '=', organization);
      if (after !== undefined) {
        const last = await ofOrganization(db, organization, after).select('sequence').executeTakeFirst();
        if (last === undefined) {
          throw invalidRequest("'after' must be the id of one of your batches.", 'after', 'invalid_value');
        }
        page = page.where('sequence', '<', last.sequence);
      }
      // One row more than the limit shows whether there is another page.
      const rows = await page
        .orderBy('sequence', 'desc')
        .limit(limit + 1)
        .execute();
      return { batches: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    cancel: (organization, id, at) =>
      db.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('batches')
          .set({ status: 'cancelling', cancelling_at: at })
          .where('organization', '=', organization)
          .where('id', '=', id as Id<'batch_'>)
          .where('status', 'in', ['validating', 'in_progress'])
          .execute();
        const row = await ofOrganization(transaction, organization, id).selectAll().executeTakeFirst();
        return row && { batch: toRecord(row), accepted: row.status === 'cancelling' };
      }),

    claim: (id, runner) =>
      db.transaction().execute(async (transaction) => {
        const claimed = transaction
          .updateTable('batches')
          .set({ runner })
          .where('id', '=', id)
          .where(OPEN)
          .returningAll();
        const first = await claimed.where('runner', 'is', null).executeTakeFirst();
        const row = first ?? (await claimed.executeTakeFirst());
        return row && toClaimed(row, first !== undefined);
      }),

    async refresh(id, runner) {
      const row = await db
        .selectFrom('batches')
        .selectAll()
        .where('id', '=', id)
        .where('runner', '=', runner)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async startProcessing(id, runner, { total, model, at }) {
      const { numUpdatedRows } = await claimedBatch(db, id, runner)
        .set({ status: 'in_progress', in_progress_at: at, total, model: model ?? null })
        .where('status', '=', 'validating')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async fail(id, runner, errors, at) {
      const { numUpdatedRows } = await claimedBatch(db, id, runner)
        .set({ status: 'failed', failed_at: at, faults: JSON.stringify(errors) })
        .where('status', '=', 'validating')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    checkpoint(id, runner, { progress, parts, completed, failed, tokens, bills }) {
      if (progress.ahead.length > MAX_LINES_AHEAD)
        throw new Error('too many lines are ahead of a checkpoint');
      return db.transaction().execute(async (transaction) => {
        const row = await claimedBatch(transaction, id, runner)
          .set(({ eb }) => ({
            offset_bytes: progress.offsetBytes,
            line: progress.line,
            lines_ahead: JSON.stringify(progress.ahead),
            completed: eb('completed', '+', completed),
            failed: eb('failed', '+', failed),
            input_tokens: eb('input_tokens', '+', tokens.input),
            output_tokens: eb('output_tokens', '+', tokens.output),
          }))
          .where('status', 'in', ['in_progress', 'cancelling'])
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        for (const chunk of chunks(parts, PARTS_PER_STATEMENT)) {
          const rows = chunk.map((part) => ({ ...toPartRow(part), batch: id }));
          await transaction.insertInto('batch_parts').values(rows).execute();
        }
        const uncovered = await storeBills(transaction, bills);
        return { batch: toRecord(row), uncovered };
      });
    },

    async finalize(id, runner, at) {
      const { numUpdatedRows } = await claimedBatch(db, id, runner)
        .set({ status: 'finalizing', finalizing_at: at })
        .where('status', '=', 'in_progress')
        .where(({ eb }) => eb('total', '=', eb('completed', '+', eb.ref('failed'))))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async listParts(id) {
      const rows = await db
        .selectFrom('batch_parts')
        .select(['kind', 'blob', 'length_bytes'])
        .where('batch', '=', id)
        .orderBy('sequence')
        .execute();
      return rows.map(({ kind, blob, length_bytes }) => ({ kind, blob, lengthBytes: length_bytes }));
    },

    finish: (id, runner, { status, files, errors = [], at }) =>
      db.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await claimedBatch(transaction, id, runner)
          .set({
            status,
            [`${status}_at`]: at,
            output_file: files.output?.id ?? null,
            error_file: files.error?.id ?? null,
            faults: JSON.stringify(errors),
          })
          .where('status', '=', STATUS_BEFORE_END[status])
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        const results = [files.output, files.error].filter((file): file is FileRecord => file !== undefined);
        if (results.length > 0)
          await transaction.insertInto('files').values(results.map(toFileRow)).execute();
        await transaction.deleteFrom('batch_parts').where('batch', '=', id).execute();
        return true;
      }),

    async listOpen(limit, after) {
      let page = db.selectFrom('batches').select('id').where(OPEN);
      if (after !== undefined) {
        page = page.where('sequence', '>', ({ selectFrom }) =>
          selectFrom('batches').select('sequence').where('id', '=', after),
        );
      }
      const rows = await page.orderBy('sequence').limit(limit).execute();
      return rows.map(({ id }) => id);
    },
  };
}

function toRow(batch: BatchRecord) {
  const { times, counts, tokens } = batch;
  return {
    id: batch.id,
    organization: batch.organization,
    key_id: batch.keyId,
    endpoint: batch.endpoint,
    input_file: batch.inputFile,
    metadata: batch.metadata === null ? null : JSON.stringify(batch.metadata),
    output_expires_after_s: batch.outputExpiresAfterS ?? null,
    status: batch.status,
    runner: null,
    created_at: times.created,
    expires_at: times.expires,
    in_progress_at: times.inProgress ?? null,
    finalizing_at: times.finalizing ?? null,
    cancelling_at: times.cancelling ?? null,
    completed_at: times.completed ?? null,
    failed_at: times.failed ?? null,
    expired_at: times.expired ?? null,
    cancelled_at: times.cancelled ?? null,
    ...counts,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    model: batch.model ?? null,
    faults: JSON.stringify(batch.errors),
    output_file: batch.outputFile ?? null,
    error_file: batch.errorFile ?? null,
    offset_bytes: 0,
    line: 1,
    lines_ahead: '[]',
  };
}

function toPartRow({ kind, blob, lengthBytes }: BatchPart) {
  return { kind, blob, length_bytes: lengthBytes };
}

function toClaimed(row: Selectable<Batches>, isFirst: boolean): ClaimedBatch {
  const ahead: number[] = JSON.parse(row.lines_ahead);
  const progress = { offsetBytes: row.offset_bytes, line: row.line, ahead };
  return { batch: toRecord(row), isFirst, progress };
}

function toRecord(row: Selectable<Batches>): BatchRecord {
  const errors: BatchError[] = JSON.parse(row.faults);
  return {
    id: row.id,
    organization: row.organization,
    keyId: row.key_id,
    endpoint: row.endpoint,
    inputFile: row.input_file,
    metadata: row.metadata === null ? null : JSON.parse(row.metadata),
    outputExpiresAfterS: row.output_expires_after_s ?? undefined,
    status: row.status satisfies BatchStatus,
    times: {
      created: row.created_at,
      expires: row.expires_at,
      inProgress: row.in_progress_at ?? undefined,
      finalizing: row.finalizing_at ?? undefined,
      cancelling: row.cancelling_at ?? undefined,
      completed: row.completed_at ?? undefined,
      failed: row.failed_at ?? undefined,
      expired: row.expired_at ?? undefined,
      cancelled: row.cancelled_at ?? undefined,
    },
    counts: { total: row.total, completed: row.completed, failed: row.failed },
    tokens: { input: row.input_tokens, output: row.output_tokens },
    model: row.model ?? undefined,
    errors,
    outputFile: row.output_file ?? undefined,
    errorFile: row.error_file ?? undefined,
  };
}
