import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** Nodes, open calls, and the accounts and transfers of credits. */
export const callsAndCredits: Migration = ({ schema, integer, table, numberedTable }) => [
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
];
