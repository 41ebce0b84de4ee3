import type { Migration } from '../migration.ts';

/** Usage rows and API keys. */
export const usageAndKeys: Migration = ({ schema, integer, real, numberedTable }) => [
  numberedTable('usage')
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('organization', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('input_tokens', integer, (column) => column.notNull())
    .addColumn('output_tokens', integer, (column) => column.notNull())
    .addColumn('characters', integer)
    .addColumn('audio_bytes', integer)
    .addColumn('audio_seconds', real)
    .addColumn('request_id', 'text', (column) => column.notNull()),
  schema.createIndex('usage_by_organization').on('usage').columns(['organization', 'sequence']),
  schema.createIndex('usage_by_endpoint').on('usage').columns(['organization', 'endpoint', 'sequence']),
  numberedTable('api_keys')
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('key_hash', 'text', (column) => column.notNull().unique())
    .addColumn('organization', 'text', (column) => column.notNull())
    .addColumn('hint', 'text', (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('revoked_at', integer),
];
