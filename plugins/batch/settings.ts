import { integer, section } from '../../src/config/section.ts';

export const batchSettings = [
  section('batch', {
    maxConcurrentLines: integer('max_concurrent_lines', {
      min: 1,
      max: 512,
      default: 64,
      formerly: 'lines_at_once',
      doc: 'maximum for all batches of a node; the actual concurrency adapts to the models',
    }),
    maxConcurrentBatches: integer('max_concurrent_batches', {
      min: 1,
      max: 64,
      default: 8,
      formerly: 'batches_at_once',
      doc: 'per node; further batches are queued',
    }),
  }),
  section('limits', {
    /** In bytes. Batch results count towards it but are always stored. */
    storedBytesPerOrganization: integer('stored_bytes_per_organization', {
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      default: 10 * 1024 ** 3,
      doc: 'total file storage including batch results (which are never rejected); further uploads get 400',
    }),
    /** Unfinished ones. */
    batchesPerOrganization: integer('batches_per_organization', {
      min: 1,
      max: 100_000,
      default: 100,
      doc: 'unfinished batches; further batches get 429',
    }),
  }),
] as const;
