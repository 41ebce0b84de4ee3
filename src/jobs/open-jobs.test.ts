import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../tools/harness/doubles/doubles.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { systemClock } from '../kit/clock.ts';
import { jobStore } from '../records/stores/job-store.ts';
import { openJobs } from './open-jobs.ts';

test('a machine with runners disabled enqueues jobs, and another one runs them', async () => {
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const settings = { redisUrl: undefined, store: jobStore(records), clock: systemClock, log: silentLog };
  const serving = await openJobs({ ...settings, runs: false });
  const working = await openJobs({ ...settings, runs: true });
  onTestFinished(async () => {
    await serving.close();
    await working.close();
  });
  const ran: string[] = [];
  const done = Promise.withResolvers<void>();
  const handler = (name: string) => ({
    kind: 'batch' as const,
    concurrency: 1,
    async runJob(id: string) {
      ran.push(`${name} ${id}`);
      done.resolve();
      return { kind: 'done' as const };
    },
  });
  const idle = serving.startRunner(handler('serving'));
  await serving.enqueue('batch', 'batch_1');
  working.startRunner(handler('working'));
  await done.promise;
  expect(ran).toEqual(['working batch_1']);
  await idle.stop();
});
