import { sql } from 'kysely';
import type { Migration } from '../migration.ts';

/** Condition of the partial indexes of open video jobs; used in the same way by src/records/stores/video-store.ts. */
const OPEN_VIDEO = sql<boolean>`status IN ('queued', 'in_progress')`;

/** Video jobs. */
export const videos: Migration = ({ schema, integer, numberedTable }) => [
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
];
