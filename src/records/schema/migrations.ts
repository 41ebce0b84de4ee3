import { type Compilable, type CreateTableBuilder, type SchemaModule, sql } from 'kysely';

/** The schema builder of an engine, and the parts of SQL in which the engines differ. */
export interface MigrationDialect {
  readonly schema: SchemaModule;
  /** 64-bit integer. */
  readonly integer: 'integer' | 'bigint';
  /** Double precision. */
  readonly real: 'real' | 'double precision';
  /** A new table whose rows are numbered in insertion order. */
  numberedTable(name: string): CreateTableBuilder<string, 'sequence'>;
  table(name: string): CreateTableBuilder<string, never>;
}

/** A migration: statements of the schema builder, or SQL text that is valid in both engines. */
export type Migration = (dialect: MigrationDialect) => readonly (Compilable | string)[];

/**
 * Condition of the partial indexes of open batches. The queries of src/records/stores/batch-store.ts must contain the same
 * condition to use the indexes.
 */
const OPEN_BATCH = sql<boolean>`status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`;

/** Condition of the partial indexes of open video jobs; used in the same way by src/records/stores/video-store.ts. */
const OPEN_VIDEO = sql<boolean>`status IN ('queued', 'in_progress')`;

/** Computes the daily totals of all existing usage rows, including the charged credits. */
export const BACKFILL_USAGE_DAYS = `INSERT INTO usage_days
  SELECT usage.organization, usage.created_at / 86400, usage.endpoint, usage.model,
    COUNT(*), SUM(CASE WHEN usage.status = 'failed' THEN 1 ELSE 0 END),
    SUM(usage.input_tokens), SUM(usage.output_tokens), SUM(COALESCE(usage.characters, 0)),
    SUM(COALESCE(usage.audio_seconds, 0)), SUM(COALESCE(paid.amount, 0))
  FROM usage LEFT JOIN (
    SELECT credit_transfers.call_id, SUM(credit_entries.amount) AS amount
    FROM credit_transfers JOIN credit_entries ON credit_entries.transfer = credit_transfers.sequence
    WHERE credit_entries.account = 'revenue' GROUP BY credit_transfers.call_id
  ) AS paid ON paid.call_id = usage.id
  GROUP BY usage.organization, usage.created_at / 86400, usage.endpoint, usage.model`;

/**
 * Migrations from an empty database to the current schema, for both engines. The database stores the number of applied
 * migrations. Never change a released migration; add another one.
 */
const MIGRATIONS: readonly Migration[] = [
  ({ schema, integer, real, numberedTable }) => [
    numberedTable('usage')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('endpoint', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('input_tokens', integer, (column) => column.notNull())
      .addColumn('output_tokens', integer, (column) => column.notNull())
      .addColumn('characters', integer)
      .addColumn('audio_bytes', integer)
      .addColumn('audio_seconds', real)
      .addColumn('request_id', 'text', (column) => column.notNull()),
    schema.createIndex('usage_by_organization').on('usage').columns(['organization', 'sequence']),
    schema.createIndex('usage_by_endpoint').on('usage').columns(['organization', 'endpoint', 'sequence']),
    numberedTable('api_keys')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('key_hash', 'text', (column) => column.notNull().unique())
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('hint', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('revoked_at', integer),
  ],

  ({ schema }) => [schema.alterTable('usage').addColumn('transcript', 'text')],

  ({ schema, integer, table }) => [
    table('organizations')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('created_at', integer, (column) => column.notNull()),
    `INSERT INTO organizations (id, created_at)
     SELECT organization, MIN(created_at) FROM api_keys GROUP BY organization`,
    table('responses')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('previous_id', 'text')
      .addColumn('body_characters', integer, (column) => column.notNull())
      .addColumn('input_characters', integer, (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull()),
    schema
      .createIndex('responses_unfinished')
      .on('responses')
      .column('created_at')
      .where(sql<boolean>`status = 'in_progress'`),
    table('response_items')
      .addColumn('response_id', 'text', (column) =>
        column.notNull().references('responses.id').onDelete('cascade'),
      )
      .addColumn('position', integer, (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('item', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('response_items_key', ['response_id', 'position']),
  ],

  ({ schema, integer, table, numberedTable }) => [
    table('instances')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('place', 'text', (column) => column.notNull())
      .addColumn('pid', integer, (column) => column.notNull())
      .addColumn('seen_at', integer, (column) => column.notNull()),
    numberedTable('open_calls')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('instance', 'text', (column) => column.notNull())
      .addColumn('opened_at', integer, (column) => column.notNull())
      .addColumn('endpoint', 'text', (column) => column.notNull())
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('request_id', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('reserved', integer, (column) => column.notNull()),
    schema.createIndex('open_calls_by_instance').on('open_calls').columns(['instance', 'sequence']),
    table('credit_accounts')
      .addColumn('organization', 'text', (column) => column.primaryKey().notNull())
      .addColumn('available', integer, (column) => column.notNull().check(sql`available >= 0`))
      .addColumn('reserved', integer, (column) => column.notNull().check(sql`reserved >= 0`))
      .addColumn('revenue', integer, (column) => column.notNull())
      .addColumn('granted', integer, (column) => column.notNull())
      .addCheckConstraint('credits_are_conserved', sql`available + reserved + revenue + granted = 0`),
    numberedTable('credit_transfers')
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('call_id', 'text'),
    schema
      .createIndex('credit_transfers_by_organization')
      .on('credit_transfers')
      .columns(['organization', 'sequence']),
    table('credit_entries')
      .addColumn('transfer', integer, (column) => column.notNull().references('credit_transfers.sequence'))
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('amount', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('credit_entries_key', ['transfer', 'account']),
  ],

  ({ schema, integer, table, numberedTable }) => [
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
  ],

  () => [
    `INSERT INTO organizations (id, created_at)
     SELECT organization, MIN(at) FROM credit_transfers
     WHERE organization NOT IN (SELECT id FROM organizations) GROUP BY organization`,
  ],

  ({ schema, integer }) => [
    schema.alterTable('responses').addColumn('seen_at', integer, (column) => column.notNull().defaultTo(0)),
    'UPDATE responses SET seen_at = created_at',
    schema.dropIndex('responses_unfinished'),
    schema
      .createIndex('responses_unfinished')
      .on('responses')
      .column('seen_at')
      .where(sql<boolean>`status = 'in_progress'`),
  ],

  ({ schema, integer, real, numberedTable }) => [
    numberedTable('voices')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('consent', 'text', (column) => column.notNull())
      .addColumn('ref_text', 'text', (column) => column.notNull())
      .addColumn('speaker_description', 'text')
      .addColumn('format', 'text', (column) => column.notNull())
      .addColumn('duration_s', real, (column) => column.notNull())
      .addColumn('sample_rate_hz', integer, (column) => column.notNull())
      .addColumn('length_bytes', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('adaptation', 'text')
      .addColumn('is_improving', integer, (column) => column.notNull()),
    schema.createIndex('voices_by_organization').on('voices').columns(['organization', 'sequence']),
    schema.createIndex('voices_improving').on('voices').column('id').where(sql<boolean>`is_improving = 1`),
  ],

  ({ schema, integer, numberedTable }) => [
    numberedTable('videos')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('call_id', 'text', (column) => column.notNull())
      .addColumn('request_id', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('prompt', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('runner', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('started_at', integer)
      .addColumn('completed_at', integer)
      .addColumn('seconds', integer, (column) => column.notNull())
      .addColumn('width', integer, (column) => column.notNull())
      .addColumn('height', integer, (column) => column.notNull())
      .addColumn('audio', integer, (column) => column.notNull())
      .addColumn('clip', 'text', (column) => column.notNull())
      .addColumn('source', 'text')
      .addColumn('made', 'text')
      .addColumn('error', 'text')
      .addColumn('remembered', 'text')
      .addColumn('length_bytes', integer, (column) => column.notNull())
      .addColumn('reserved', integer, (column) => column.notNull()),
    schema.createIndex('videos_by_organization').on('videos').columns(['organization', 'sequence']),
    schema.createIndex('videos_open').on('videos').column('sequence').where(OPEN_VIDEO),
    schema.createIndex('videos_open_by_source').on('videos').column('source').where(OPEN_VIDEO),
  ],

  ({ schema, integer, real, table }) => [
    // Keys from before the introduction of roles were created by operators and had all permissions.
    schema.alterTable('api_keys').addColumn('role', 'text', (column) => column.notNull().defaultTo('admin')),
    schema.alterTable('api_keys').addColumn('name', 'text'),
    schema.createIndex('api_keys_by_organization').on('api_keys').columns(['organization', 'sequence']),
    table('usage_days')
      .addColumn('organization', 'text', (column) => column.notNull())
      .addColumn('day', integer, (column) => column.notNull())
      .addColumn('endpoint', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('requests', integer, (column) => column.notNull())
      .addColumn('failed', integer, (column) => column.notNull())
      .addColumn('input_tokens', integer, (column) => column.notNull())
      .addColumn('output_tokens', integer, (column) => column.notNull())
      .addColumn('characters', integer, (column) => column.notNull())
      .addColumn('audio_seconds', real, (column) => column.notNull())
      .addColumn('charged', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_days_key', ['organization', 'day', 'endpoint', 'model']),
    BACKFILL_USAGE_DAYS,
  ],

  ({ schema }) => [schema.alterTable('videos').addColumn('note', 'text')],

  ({ integer, table }) => [
    table('plugin_switches')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('enabled', integer, (column) => column.notNull())
      .addColumn('revision', integer, (column) => column.notNull())
      .addColumn('changed_at', integer, (column) => column.notNull()),
  ],

  // Trace context of the request that created the job.
  ({ schema }) => [schema.alterTable('jobs').addColumn('cause', 'text')],

  // Stored voices are no longer improved by jobs. Older nodes do not queue them again.
  () => [
    'UPDATE voices SET is_improving = 0 WHERE is_improving = 1',
    `DELETE FROM jobs WHERE kind = 'voice'`,
  ],
];

/** The SQL statements of every migration. */
export function migrationSql(dialect: MigrationDialect): readonly (readonly string[])[] {
  return MIGRATIONS.map((migration) =>
    migration(dialect).map((statement) =>
      typeof statement === 'string' ? statement : statement.compile().sql,
    ),
  );
}
