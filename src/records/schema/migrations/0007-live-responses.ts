import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** When the node of an unfinished response was last seen. */
export const liveResponses: Migration = ({ schema, integer }) => [
  schema.alterTable('responses').addColumn('seen_at', integer, (column) => column.notNull().defaultTo(0)),
  'UPDATE responses SET seen_at = created_at',
  schema.dropIndex('responses_unfinished'),
  schema
    .createIndex('responses_unfinished')
    .on('responses')
    .column('seen_at')
    .where(sql<boolean>`status = 'in_progress'`),
];
