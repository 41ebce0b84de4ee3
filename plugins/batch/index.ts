import { Elysia } from 'elysia';
import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { INPUT_FILE_BYTES } from '../../src/contract/stores/file-store.ts';
import { Batches } from './batches/batch-service.ts';
import { QueueWatch } from './batches/reconciler.ts';
import { batchRoutes } from './batches/routes.ts';
import { fileSweep } from './files/cleanup.ts';
import { Files } from './files/file-service.ts';
import { fileRoutes } from './files/routes.ts';
import { batchMetrics } from './results/metrics.ts';
import { batchJob } from './runner/batch-job.ts';

export interface BatchOptions {
  /** Uploads of one organization that may be open at once. */
  readonly uploadsPerOrganization: number;
  /** Bytes of one organization's files together; results of batches count, and are stored even so. */
  readonly storedBytesPerOrganization: number;
  /** Batches of one organization that may not have ended. */
  readonly batchesPerOrganization: number;
  /** Lines of all batches that may run at once in this process. */
  readonly linesAtOnce: number;
  /** Batches that run at once in this process. */
  readonly batchesAtOnce: number;
  /** Longest line of an input file, in bytes: as long as the body of a request may be. */
  readonly lineBytes: number;
}

const NEEDS = [
  ...(['operations', 'lineCalls', 'blobs', 'files', 'batches', 'jobs'] as const),
  ...(['clock', 'log', 'metrics'] as const),
] as const;

/** Files and batches: /v1/files and /v1/batches, and the work on the lines. */
export function batchPlugin(options: BatchOptions): FeaturePlugin<(typeof NEEDS)[number]> {
  return {
    name: 'batch',
    needs: NEEDS,
    offers: [],
    paths: [
      '/v1/files',
      '/v1/files/:id',
      '/v1/files/:id/content',
      '/v1/batches',
      '/v1/batches/:id',
      '/v1/batches/:id/cancel',
    ],
    async setup(slots) {
      const { uploadsPerOrganization, storedBytesPerOrganization } = options;
      const { batchesPerOrganization: openPerOrganization } = options;
      const files = new Files({ ...slots, uploadsPerOrganization, storedBytesPerOrganization });
      const batches = new Batches({ ...slots, openPerOrganization });
      const metrics = batchMetrics(slots.metrics);
      const { linesAtOnce, batchesAtOnce, lineBytes: maxLineBytes } = options;
      const job = batchJob({ ...slots, metrics, linesAtOnce, batchesAtOnce, maxLineBytes });
      const runner = slots.jobs.work(job);
      const watch = new QueueWatch(slots);
      const sweep = fileSweep(slots);
      return {
        provides: {},
        routes: new Elysia({ name: 'batch-plugin' })
          .use(fileRoutes(files, INPUT_FILE_BYTES))
          .use(batchRoutes(batches, slots.batches)),
        // Jobs wait for unavailable models; requests to this plugin need none.
        ready: () => ({ ready: true }),
        async drain(until) {
          await Promise.all([runner.stop(), files.drain(until)]);
        },
        async close() {
          files.stop();
          // What the grace time was not enough for is done again.
          job.leave();
          await Promise.all([runner.stop(), watch.close(), sweep.close()]);
        },
      };
    },
  };
}
