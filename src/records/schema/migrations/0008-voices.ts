import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** Stored voices. */
export const voices: Migration = ({ schema, integer, real, numberedTable }) => [
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
];
