import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { MAX_INPUT_FILE_BYTES } from '../../src/contract/stores/file-store.ts';
import { JobReconciler } from '../../src/kit/jobs/job-reconciler.ts';
import { BatchService } from './batches/batch-service.ts';
import { BATCH_ROUTES, type BatchServices } from './batches/routes.ts';
import { scheduleFileCleanup } from './files/cleanup.ts';
import { FileService } from './files/file-service.ts';
import { type FileServices, fileRoutes } from './files/routes.ts';
import { batchMetrics } from './results/metrics.ts';
import { batchJob } from './runner/batch-job.ts';

export interface BatchOptions {
  /** Maximum number of concurrent uploads per organization. */
  readonly uploadsPerOrganization: number;
  /** Storage quota per organization, in bytes. Batch results count towards it but are always stored. */
  readonly storedBytesPerOrganization: number;
  /** Maximum number of unfinished batches per organization. */
  readonly batchesPerOrganization: number;
  /** Maximum number of lines that run concurrently in this process, over all batches. */
  readonly maxConcurrentLines: number;
  /** Maximum number of batches that run concurrently in this process. */
  readonly maxConcurrentBatches: number;
  /** Maximum length of an input line, in bytes: the maximum length of a request body. */
  readonly lineBytes: number;
}

const NEEDS = [
  'operations',
  'lineCalls',
  'blobs',
  'files',
  'batches',
  'jobs',
  'storage',
  'clock',
  'log',
  'metrics',
] as const;

/** Files and batches: /v1/files, /v1/batches and the job that runs the lines. */
export function batchPlugin(
  options: BatchOptions,
): FeaturePlugin<(typeof NEEDS)[number], never, FileServices & BatchServices> {
  return {
    name: 'batch',
    needs: NEEDS,
    offers: [],
    routes: [...fileRoutes(MAX_INPUT_FILE_BYTES), ...BATCH_ROUTES],
    async setup(slots) {
      const { uploadsPerOrganization, storedBytesPerOrganization } = options;
      const { batchesPerOrganization: openPerOrganization } = options;
      const files = new FileService({ ...slots, uploadsPerOrganization, storedBytesPerOrganization });
      const batches = new BatchService({ ...slots, openPerOrganization });
      const metrics = batchMetrics(slots.metrics);
      const { maxConcurrentLines, maxConcurrentBatches, lineBytes: maxLineBytes } = options;
      const job = batchJob({ ...slots, metrics, maxConcurrentLines, maxConcurrentBatches, maxLineBytes });
      const runner = slots.jobs.startRunner(job);
      const reconciler = new JobReconciler({
        ...slots,
        kind: 'batch',
        what: 'open batches',
        listOpen: slots.batches.listOpen,
      });
      slots.metrics.gauge(
        'batches_open',
        'Unfinished batches of all machines, as of the last check.',
        () => reconciler.open,
      );
      const cleanup = scheduleFileCleanup(slots);
      return {
        provides: {},
        services: { files, batches, store: slots.batches, storage: slots.storage },
        // The plugin is ready without models: jobs wait for unavailable models.
        ready: () => ({ ready: true }),
        async drain(until) {
          await Promise.all([runner.stop(), files.drain(until)]);
        },
        async close() {
          files.stop();
          // Work that did not finish within the grace period is repeated by the next runner.
          job.abandon();
          await Promise.all([runner.stop(), reconciler.close(), cleanup.close()]);
        },
      };
    },
  };
}
