import type { Migration } from '../migration.ts';

/** Trace context of the request that created a job. */
export const jobCauses: Migration = ({ schema }) => [schema.alterTable('jobs').addColumn('cause', 'text')];
