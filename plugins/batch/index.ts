import { MAX_INPUT_FILE_BYTES } from '../../src/contract/stores/file-store.ts';
import { JobReconciler } from '../../src/kit/jobs/job-reconciler.ts';
import { definePlugin } from '../../src/plugin-host/define-plugin.ts';
import { BatchService } from './batches/batch-service.ts';
import { BATCH_ROUTES } from './batches/routes.ts';
import { scheduleFileCleanup } from './files/cleanup.ts';
import { FileService } from './files/file-service.ts';
import { fileRoutes } from './files/routes.ts';
import { batchMetrics, openBatchesGauge } from './results/metrics.ts';
import { batchJob } from './runner/batch-job.ts';
import { batchSettings } from './settings.ts';

/** Files and batches: /v1/files, /v1/batches and the job that runs the lines. Jobs wait for unavailable models. */
export const batch = definePlugin({
  name: 'batch',
  needs: [
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
  ],
  routes: [...fileRoutes(MAX_INPUT_FILE_BYTES), ...BATCH_ROUTES],
  settings: batchSettings,
  tags: [
    { name: 'files', description: 'Input and results of batches' },
    { name: 'batch', description: 'Many requests in one file, processed within 24 hours' },
  ],
  setup({ services, settings: { limits, batch: concurrency }, lifecycle }) {
    const { jobs, batches, log } = services;
    const files = new FileService({ ...services, ...limits });
    lifecycle.drains(files.uploads);
    const { batchesPerOrganization: openPerOrganization, requestBytes: maxLineBytes } = limits;
    const service = new BatchService({ ...services, openPerOrganization });
    const metrics = batchMetrics(services.metrics);
    lifecycle.runs(jobs, batchJob({ ...services, ...concurrency, metrics, maxLineBytes }));
    const listOpen = batches.listOpen;
    const reconciler = new JobReconciler({ kind: 'batch', what: 'open batches', listOpen, jobs, log });
    openBatchesGauge(services.metrics, lifecycle.closes(reconciler));
    lifecycle.closes(scheduleFileCleanup(services));
    return { services: { files, batches: service, store: batches, storage: services.storage } };
  },
});
