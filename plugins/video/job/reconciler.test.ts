import { expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../../../src/metrics/registry.ts';
import { openSqlite } from '../../../src/records/dialects/sqlite-records.ts';
import { videoStore } from '../../../src/records/stores/video-store.ts';
import { videoRecord } from '../../../test/contract/video-store.cases.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { startVideoReconciler } from './reconciler.ts';

/** A reconciler over stored videos with a short interval. `add` replaces the job queue. */
async function watching(count: number, add: (id: string) => Promise<void>) {
  const records = openSqlite(':memory:');
  onTestFinished(() => records.close());
  const videos = videoStore(records);
  const ids = Array.from({ length: count }, () => videoRecord().id);
  for (const id of ids) await videos.create(videoRecord({ id }), 0, { maxOpen: 1000, maxBytes: 1e12 });
  const metrics = createMetrics(new ManualClock());
  onTestFinished(() => metrics.close());
  const log = new RecordingLogger();
  const watch = startVideoReconciler({
    videos,
    log,
    metrics,
    intervalMs: 1,
    jobs: { enqueue: (_, id) => add(id) },
  });
  onTestFinished(() => watch.close());
  return { ids, watch, log, gauge: async () => /^videos_open (\d+)/m.exec(await metrics.render())?.[1] };
}

it.each([0, 1, 100, 230])(
  'queues each of %d unfinished videos page by page and counts them',
  async (count) => {
    const queued: string[] = [];
    const { ids, gauge } = await watching(count, async (id) => {
      queued.push(id);
    });
    await expect.poll(gauge).toBe(String(count));
    expect(new Set(queued)).toEqual(new Set(ids));
  },
);

it('retries after the queue was unavailable', async () => {
  let isUnavailable = true;
  const queued = new Set<string>();
  const { ids, log } = await watching(2, async (id) => {
    if (isUnavailable) throw new Error('away');
    queued.add(id);
  });
  await expect.poll(() => log.lines.length).toBeGreaterThan(1);
  expect(queued.size).toBe(0);
  isUnavailable = false;
  await expect.poll(() => queued).toEqual(new Set(ids));
});
