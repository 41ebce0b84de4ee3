import type { Migration } from '../migration.ts';

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

/** Roles and names of API keys, and daily totals of usage. */
export const rolesAndUsageDays: Migration = ({ schema, integer, real, table }) => [
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
];
