import { describe, expect, it } from 'vitest';
import { TaskGroup } from './task-group.ts';

/** Task that runs until it is stopped, with a record of its state. */
function worker() {
  const ended: string[] = [];
  const until = (name: string) => (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        ended.push(name);
        resolve();
      });
    });
  return { ended, until };
}

describe('a task group', () => {
  it('stops a single task', async () => {
    const runs = new TaskGroup<string>();
    const { ended, until } = worker();
    runs.start('a', until('a'));
    runs.start('b', until('b'));
    runs.stop('b');
    runs.stop('unknown');
    expect(ended).toEqual(['b']);
    await runs.close();
    expect(ended).toEqual(['b', 'a']);
  });

  it('ignores the stop of a finished task', async () => {
    const runs = new TaskGroup<string>();
    let signal: AbortSignal | undefined;
    runs.start('a', async (its) => {
      signal = its;
    });
    await new Promise((resolve) => setImmediate(resolve));
    runs.stop('a');
    await runs.close();
    expect(signal?.aborted).toBe(false);
  });

  it('waits for all tasks on close', async () => {
    const runs = new TaskGroup<string>();
    const { promise, resolve: end } = Promise.withResolvers<void>();
    runs.start('a', () => promise);
    let closed = false;
    const closing = runs.close().then(() => {
      closed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(false);
    end();
    await closing;
    expect(closed).toBe(true);
  });
});
