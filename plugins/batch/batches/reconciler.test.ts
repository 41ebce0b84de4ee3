import { expect, it, onTestFinished } from 'vitest';
import type { Id } from '../../../src/contract/core/id.ts';
import { createMetrics } from '../../../src/metrics/registry.ts';
import { openSqlite } from '../../../src/records/dialects/sqlite-records.ts';
import { batchStore } from '../../../src/records/stores/batch-store.ts';
import { fileStore } from '../../../src/records/stores/file-store.ts';
import { batchRecord } from '../../../test/contract/batch-store.cases.ts';
import { fileRecord, ROOM } from '../../../test/contract/file-store.cases.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { BatchReconciler } from './reconciler.ts';

/** A reconciler over stored batches with a short interval. `add` replaces the job queue. */
async function startReconciler(count: number, add: (id: string) => Promise<void>) {
  const records = openSqlite(':memory:');
  onTestFinished(() => records.close());
  const [batches, files] = [batchStore(records), fileStore(records)];
  const file = fileRecord();
  await files.put(file, ROOM);
  const ids: Id<'batch'>[] = [];
  for (let created = 0; created < count; created += 1) {
    ids.push((await batches.create(batchRecord({ inputFile: file.id }), 1000)).id);
  }
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const log = new RecordingLogger();
  const reconciler = new BatchReconciler({
    ...{ batches, log, metrics, intervalMs: 1 },
    jobs: { enqueue: (_, id) => add(id) },
  });
  onTestFinished(() => reconciler.close());
  return {
    ids,
    batches,
    reconciler,
    log,
    gauge: async () => /^batches_open (\d+)/m.exec(await metrics.render())?.[1],
  };
}

it('queues all unfinished batches page by page and counts them', async () => {
  const queued = new Set<string>();
  const { ids, batches, gauge } = await startReconciler(230, async (id) => {
    queued.add(id);
  });
  await expect.poll(() => queued).toEqual(new Set(ids));
  await expect.poll(gauge).toBe('230');

  for (const first of ids.slice(0, 1)) {
    await batches.claim(first, 'r');
    await batches.fail(first, 'r', [], 1);
  }
  await expect.poll(gauge).toBe('229');
  queued.clear();
  await expect.poll(() => queued).toEqual(new Set(ids.slice(1)));
});

it('retries after the queue was unavailable', async () => {
  let isUnavailable = true;
  let rejections = 0;
  const queued = new Set<string>();
  const { ids, log } = await startReconciler(2, async (id) => {
    if (isUnavailable) {
      rejections += 1;
      throw new Error('queue unavailable');
    }
    queued.add(id);
  });
  await expect.poll(() => rejections).toBeGreaterThan(2);
  expect(log.lines).toMatchObject([{ level: 'error', message: 'open batches could not be queued' }]);
  isUnavailable = false;
  await expect.poll(() => queued).toEqual(new Set(ids));
  await expect
    .poll(() => log.lines.slice(1))
    .toMatchObject([{ level: 'info', fields: { times: rejections } }]);
});

it('stops in the middle of a check when it is closed', async () => {
  const response = Promise.withResolvers<void>();
  let calls = 0;
  const { reconciler } = await startReconciler(5, () => {
    calls += 1;
    return response.promise;
  });
  await expect.poll(() => calls).toBe(1);
  const closed = reconciler.close();
  response.resolve();
  await closed;
  expect(calls).toBe(1);
});
