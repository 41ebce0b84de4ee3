import type { Migration } from '../migration.ts';

/** Pronunciation lexicons of organizations. */
export const lexicons: Migration = ({ integer, table }) => [
  table('lexicon_entries')
    .addColumn('organization', 'text', (column) => column.notNull())
    .addColumn('word_key', 'text', (column) => column.notNull())
    .addColumn('language', 'text', (column) => column.notNull())
    .addColumn('word', 'text', (column) => column.notNull())
    .addColumn('phonemes', 'text')
    .addColumn('respelling', 'text')
    .addColumn('updated_at', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('lexicon_entries_key', ['organization', 'word_key', 'language']),
  table('lexicon_revisions')
    .addColumn('organization', 'text', (column) => column.primaryKey().notNull())
    .addColumn('revision', integer, (column) => column.notNull()),
];
