import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** Organizations, one for each organization of a key, and responses with their items. */
export const organizationsAndResponses: Migration = ({ schema, integer, table }) => [
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
];
