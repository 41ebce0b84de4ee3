import { expect, test } from 'vitest';
import { ServiceError } from '../contract/core/error.ts';
import { onceLoaded } from './prepare.ts';

const NEVER = new AbortController().signal;
const loading = (retryAfterS: number) =>
  new ServiceError('overloaded', 'The model is loading.', { code: 'model_loading', retryAfterS });

/** A preparation that fails with the errors in order, and then succeeds. */
function failing(...errors: readonly Error[]) {
  const left = [...errors];
  const counts = { attempts: 0 };
  const prepare = async () => {
    counts.attempts++;
    const error = left.shift();
    if (error !== undefined) throw error;
  };
  return { prepare, counts };
}

test('a preparation is repeated until the models are loaded', async () => {
  const { prepare, counts } = failing(loading(0), loading(0));
  await onceLoaded(prepare, NEVER);
  expect(counts.attempts).toBe(3);
});

test.each([
  new Error('no memory'),
  new ServiceError('overloaded', 'The queue is full.', { code: 'server_overloaded' }),
])('another error ends it: %s', async (error) => {
  const { prepare, counts } = failing(loading(0), error);
  await expect(onceLoaded(prepare, NEVER)).rejects.toBe(error);
  expect(counts.attempts).toBe(2);
});

test('an abort ends the pause', async () => {
  const ending = new AbortController();
  const { prepare } = failing(loading(3600));
  const prepared = onceLoaded(prepare, ending.signal);
  ending.abort();
  await expect(prepared).rejects.toThrow('aborted');
});
