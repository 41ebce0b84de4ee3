import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/**
 * Condition of the partial indexes of open batches. The queries of src/records/stores/batch-store.ts must contain the same
 * condition to use the indexes.
 */
const OPEN_BATCH = sql<boolean>`status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`;

/** Files, batches, idempotency keys and jobs. */
export const filesAndBatches: Migration = ({ schema, integer, table, numberedTable }) => [
  schema.alterTable('open_calls').addColumn('repeated', integer, (column) => column.notNull().defaultTo(0)),
  numberedTable('files')
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('organization', 'text', (column) => column.notNull())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('length_bytes', integer, (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('expires_at', integer),
  schema.createIndex('files_by_organization').on('files').columns(['organization', 'sequence']),
  schema
    .createIndex('files_by_expiry')
    .on('files')
    .column('expires_at')
    .where(sql<boolean>`expires_at IS NOT NULL`),
  table('idempotency_keys')
    .addColumn('organization', 'text', (column) => column.notNull())
    .addColumn('made_kind', 'text', (column) => column.notNull())
    .addColumn('idempotency_key', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('made_id', 'text', (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_key', ['organization', 'made_kind', 'idempotency_key']),
  schema.createIndex('idempotency_keys_by_age').on('idempotency_keys').column('created_at'),
  numberedTable('batches')
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('organization', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('input_file', 'text', (column) => column.notNull())
    .addColumn('metadata', 'text')
    .addColumn('output_expires_after_s', integer)
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('runner', 'text')
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('expires_at', integer, (column) => column.notNull())
    .addColumn('in_progress_at', integer)
    .addColumn('finalizing_at', integer)
    .addColumn('cancelling_at', integer)
    .addColumn('completed_at', integer)
    .addColumn('failed_at', integer)
    .addColumn('expired_at', integer)
    .addColumn('cancelled_at', integer)
    .addColumn('total', integer, (column) => column.notNull())
    .addColumn('completed', integer, (column) => column.notNull())
    .addColumn('failed', integer, (column) => column.notNull())
    .addColumn('input_tokens', integer, (column) => column.notNull())
    .addColumn('output_tokens', integer, (column) => column.notNull())
    .addColumn('model', 'text')
    .addColumn('faults', 'text', (column) => column.notNull())
    .addColumn('output_file', 'text')
    .addColumn('error_file', 'text')
    .addColumn('offset_bytes', integer, (column) => column.notNull())
    .addColumn('line', integer, (column) => column.notNull())
    .addColumn('lines_ahead', 'text', (column) => column.notNull()),
  schema.createIndex('batches_by_organization').on('batches').columns(['organization', 'sequence']),
  schema.createIndex('batches_by_input').on('batches').column('input_file'),
  schema.createIndex('batches_open').on('batches').column('sequence').where(OPEN_BATCH),
  schema.createIndex('batches_open_by_organization').on('batches').column('organization').where(OPEN_BATCH),
  numberedTable('batch_parts')
    .addColumn('batch', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('blob', 'text', (column) => column.notNull())
    .addColumn('length_bytes', integer, (column) => column.notNull()),
  schema.createIndex('batch_parts_by_batch').on('batch_parts').columns(['batch', 'sequence']),
  table('jobs')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    // Unix time in ms from which the job can be claimed: the end of its delay or of its current lease.
    .addColumn('free_at_ms', integer, (column) => column.notNull())
    .addColumn('lease', 'text')
    .addColumn('failures', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('jobs_key', ['kind', 'id']),
  schema.createIndex('jobs_by_time').on('jobs').columns(['kind', 'free_at_ms']),
];
