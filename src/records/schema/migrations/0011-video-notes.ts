import type { Migration } from '../migration.ts';

/** Notes of video jobs, such as an ignored prompt. */
export const videoNotes: Migration = ({ schema }) => [schema.alterTable('videos').addColumn('note', 'text')];
