import { afterEach, describe, expect, test, vi } from 'vitest';
import { ClauseQueue, MIN_AHEAD_MS } from './clause-queue.ts';

let aheadMs: number | undefined;
let queue: ClauseQueue;

function open(): ClauseQueue {
  aheadMs = undefined;
  queue = new ClauseQueue({ aheadMs: () => aheadMs });
  return queue;
}

afterEach(() => {
  queue.close();
  vi.useRealTimers();
});

describe('clauses', () => {
  test('are delivered in order, and end with the text', async () => {
    open().push('We **do**. ');
    queue.push('The kitchen closes at ten. Anything');
    queue.push(' else?');
    queue.end();
    expect(await Array.fromAsync(queue)).toEqual([
      'We do. ',
      'The kitchen closes at ten. ',
      'Anything else?',
    ]);
  });

  test('are delivered while the text arrives', async () => {
    const reader = open()[Symbol.asyncIterator]();
    const first = reader.next();
    queue.push('Hello there. How');
    expect(await first).toEqual({ done: false, value: 'Hello there. ' });
    const second = reader.next();
    queue.end();
    expect(await second).toEqual({ done: false, value: 'How' });
  });

  test('are taken early when the listener runs out of audio', async () => {
    vi.useFakeTimers();
    const reader = open()[Symbol.asyncIterator]();
    queue.push('Hello there. We have a table at seven in the evening');
    expect((await reader.next()).value).toBe('Hello there. ');
    aheadMs = MIN_AHEAD_MS + 500;
    const second = reader.next();
    await vi.advanceTimersByTimeAsync(499);
    aheadMs = MIN_AHEAD_MS;
    await vi.advanceTimersByTimeAsync(1);
    expect((await second).value).toBe('We have a table at seven in the ');
  });
});

test('push returns whether there is something to speak', () => {
  expect(open().push(' **')).toBe(false);
  expect(queue.push('Hi')).toBe(true);
});

test('a failure reaches a waiting reader', async () => {
  const reader = open()[Symbol.asyncIterator]();
  const next = reader.next();
  queue.fail(new Error('broken'));
  await expect(next).rejects.toThrow('broken');
});
