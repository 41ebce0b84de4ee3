import { describe, expect, test } from 'vitest';
import type { JobHandler } from '../contract/core/jobs.ts';
import { PluginLifecycle } from './lifecycle.ts';

const never = new AbortController().signal;

/** A lifecycle with one of each, which record what happens to them. */
function registered() {
  const events: string[] = [];
  const lifecycle = new PluginLifecycle();
  const record = (event: string) => async () => void events.push(event);
  const requests = lifecycle.drains({
    drain: record('drain requests'),
    stop: () => void events.push('stop requests'),
  });
  lifecycle.drains({ drain: record('drain connections'), close: record('close connections') });
  lifecycle.closes({ close: record('close interval') });
  const handler: JobHandler & { abandon(): void } = {
    kind: 'batch',
    concurrency: 1,
    runJob: async () => ({ kind: 'done' }),
    abandon: () => void events.push('abandon job'),
  };
  lifecycle.runs(
    {
      startRunner(started) {
        expect(started).toBe(handler);
        return { stop: record('stop runner') };
      },
    },
    handler,
  );
  return { lifecycle, events, requests };
}

describe('the lifecycle of a plugin', () => {
  test('drains requests, connections and jobs', async () => {
    const { lifecycle, events } = registered();
    await lifecycle.drain(never);
    expect(events).toEqual(['drain requests', 'drain connections', 'stop runner']);
  });

  test('passes the deadline, and waits for all', async () => {
    const lifecycle = new PluginLifecycle();
    const deadline = new AbortController();
    const draining = Promise.withResolvers<void>();
    let seen: AbortSignal | undefined;
    lifecycle.drains({
      drain(until) {
        seen = until;
        return draining.promise;
      },
    });
    let isDrained = false;
    const drained = lifecycle.drain(deadline.signal).then(() => {
      isDrained = true;
    });
    await Promise.resolve();
    expect(seen).toBe(deadline.signal);
    expect(isDrained).toBe(false);
    draining.resolve();
    await drained;
  });

  test('stops the work before it waits for anything, and closes everything', async () => {
    const { lifecycle, events } = registered();
    await lifecycle.close();
    expect(events.slice(0, 2)).toEqual(['stop requests', 'abandon job']);
    expect(new Set(events.slice(2))).toEqual(new Set(['close connections', 'close interval', 'stop runner']));
  });

  test('closes the others if one fails, and throws its error', async () => {
    const { lifecycle, events } = registered();
    lifecycle.closes({ close: () => Promise.reject(new Error('cannot close')) });
    lifecycle.closes({ close: async () => void events.push('close last') });
    await expect(lifecycle.close()).rejects.toThrow('cannot close');
    expect(events).toContain('close last');
  });
});
