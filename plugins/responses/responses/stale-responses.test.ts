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

it('ends what lost its process, at the start and later, and nothing else', async () => {
  const responses = await memoryStore();
  const log = new RecordingLogger();
  await responses.put('a', response('old', nowS - STALE_AFTER_S - 1), []);
  await responses.put('a', response('young', nowS), []);
  const watch = staleResponseReaper({ responses, open: () => [], clock, log });
  await watch.close();
  expect(await responses.get('a', 'resp_old')).toMatchObject({
    status: 'failed',
    error: { code: 'server_error' },
  });
  expect(await responses.get('a', 'resp_young')).toMatchObject({ status: 'in_progress' });
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { responses: 1 } }]);
});

it('leaves alone what is worked on, here or in another process, however long it takes', async () => {
  const responses = await memoryStore();
  const begun = nowS - 10 * STALE_AFTER_S;
  for (const name of ['here', 'there', 'lost']) await responses.put('a', response(name, begun), []);
  await responses.recordHeartbeat(['resp_there'], nowS - STALE_AFTER_S);
  const log = new RecordingLogger();
  await staleResponseReaper({ responses, open: () => ['resp_here'], clock, log }).close();
  const states = ['here', 'there', 'lost'].map(
    async (name) => (await responses.get('a', `resp_${name}`))?.status,
  );
  expect(await Promise.all(states)).toEqual(['in_progress', 'in_progress', 'failed']);
});

it('looks again from time to time, until it is closed', async () => {
  const looks = vi.fn(async () => []);
  const responses = { ...(await memoryStore()), listStale: looks };
  const watch = staleResponseReaper({ responses, open: () => [], clock, log: new RecordingLogger() });
  for (let minute = 1; minute <= 3; minute++) {
    await expect.poll(() => looks.mock.calls.length).toBe(minute);
    await vi.advanceTimersByTimeAsync(60_000);
  }
  await watch.close();
  expect(looks).toHaveBeenCalledTimes(4);
  vi.advanceTimersByTime(180_000);
  expect(looks).toHaveBeenCalledTimes(4);
});

it('does not look again while a slow store has not answered', async () => {
  const answer = Promise.withResolvers<void>();
  const recordHeartbeat = vi.fn(() => answer.promise);
  const responses = { ...(await memoryStore()), recordHeartbeat };
  const watch = staleResponseReaper({ responses, open: () => [], clock, log: new RecordingLogger() });
  vi.advanceTimersByTime(180_000);
  answer.resolve();
  await watch.close();
  expect(recordHeartbeat).toHaveBeenCalledTimes(1);
});

it('leaves alone what has ended meanwhile', async () => {
  const responses = await memoryStore();
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

it('survives a store that fails', async () => {
  const log = new RecordingLogger();
  const responses = { ...(await memoryStore()), listStale: () => Promise.reject(new Error('disk')) };
  await staleResponseReaper({ responses, open: () => [], clock, log }).close();
  expect(log.lines).toMatchObject([{ level: 'error' }]);
});
