import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { StoredResponse } from '../../../src/contract/stores/response-store.ts';
import { memoryStore } from '../../../test/harness/response-app.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { STALE_AFTER_S, staleResponseReaper } from './stale-responses.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const clock = new ManualClock();
const nowS = Math.floor(clock.now() / 1000);
const response = (name: string, created_at: number): StoredResponse => ({
  id: `resp_${name}`,
  created_at,
  status: 'in_progress',
  previous_response_id: null,
  output: [],
});

it('marks only responses of crashed processes as failed, at the start and periodically', async () => {
  const responses = memoryStore();
  const log = new RecordingLogger();
  await responses.put('a', response('old', nowS - STALE_AFTER_S - 1), []);
  await responses.put('a', response('young', nowS), []);
  const reaper = staleResponseReaper({ responses, open: () => [], clock, log });
  await reaper.close();
  expect(await responses.get('a', 'resp_old')).toMatchObject({
    status: 'failed',
    error: { code: 'server_error' },
  });
  expect(await responses.get('a', 'resp_young')).toMatchObject({ status: 'in_progress' });
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { responses: 1 } }]);
});

it('ignores responses in progress in any process, however long they take', async () => {
  const responses = memoryStore();
  const createdAt = nowS - 10 * STALE_AFTER_S;
  for (const name of ['here', 'there', 'lost']) await responses.put('a', response(name, createdAt), []);
  await responses.recordHeartbeat(['resp_there'], nowS - STALE_AFTER_S);
  const log = new RecordingLogger();
  await staleResponseReaper({ responses, open: () => ['resp_here'], clock, log }).close();
  const states = ['here', 'there', 'lost'].map(
    async (name) => (await responses.get('a', `resp_${name}`))?.status,
  );
  expect(await Promise.all(states)).toEqual(['in_progress', 'in_progress', 'failed']);
});

it('checks periodically until it is closed', async () => {
  const listStale = vi.fn(async () => []);
  const responses = { ...memoryStore(), listStale };
  const reaper = staleResponseReaper({ responses, open: () => [], clock, log: new RecordingLogger() });
  for (let minute = 1; minute <= 3; minute++) {
    await expect.poll(() => listStale.mock.calls.length).toBe(minute);
    await vi.advanceTimersByTimeAsync(60_000);
  }
  await reaper.close();
  expect(listStale).toHaveBeenCalledTimes(4);
  vi.advanceTimersByTime(180_000);
  expect(listStale).toHaveBeenCalledTimes(4);
});

it('does not start a check while the previous one is running', async () => {
  const pending = Promise.withResolvers<void>();
  const recordHeartbeat = vi.fn(() => pending.promise);
  const responses = { ...memoryStore(), recordHeartbeat };
  const reaper = staleResponseReaper({ responses, open: () => [], clock, log: new RecordingLogger() });
  vi.advanceTimersByTime(180_000);
  pending.resolve();
  await reaper.close();
  expect(recordHeartbeat).toHaveBeenCalledTimes(1);
});

it('does not change a response that has finished in the meantime', async () => {
  const responses = memoryStore();
  const ended: StoredResponse = { ...response('old', nowS - STALE_AFTER_S - 1), status: 'completed' };
  await responses.put('a', ended, []);
  const late = async () => [{ organization: 'a', response: response('old', nowS - STALE_AFTER_S - 1) }];
  await staleResponseReaper({
    responses: { ...responses, listStale: late },
    open: () => [],
    clock,
    log: new RecordingLogger(),
  }).close();
  expect(await responses.get('a', 'resp_old')).toEqual(ended);
});

it('continues after a store failure', async () => {
  const log = new RecordingLogger();
  const responses = { ...memoryStore(), listStale: () => Promise.reject(new Error('disk')) };
  await staleResponseReaper({ responses, open: () => [], clock, log }).close();
  expect(log.lines).toMatchObject([{ level: 'error' }]);
});
