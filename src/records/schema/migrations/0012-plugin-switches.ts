import type { Migration } from '../migration.ts';

/** Plugins that were enabled or disabled at run time. */
export const pluginSwitches: Migration = ({ integer, table }) => [
  table('plugin_switches')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('enabled', integer, (column) => column.notNull())
    .addColumn('revision', integer, (column) => column.notNull())
    .addColumn('changed_at', integer, (column) => column.notNull()),
];
