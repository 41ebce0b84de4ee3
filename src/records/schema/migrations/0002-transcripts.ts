import type { Migration } from '../migration.ts';

/** Transcripts of usage rows. */
export const transcripts: Migration = ({ schema }) => [
  schema.alterTable('usage').addColumn('transcript', 'text'),
];
