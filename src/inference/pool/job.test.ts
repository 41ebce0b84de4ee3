import { describe, expect, it } from 'vitest';
import { JobResults, StepJob } from './job.ts';

/** The results of a job whose steps the test runs. */
function pulled() {
  const job = new StepJob<string, number>(
    1,
    'model',
    { request: 'text', priority: 'interactive', fairnessKey: 'a', delivery: 'stream' },
    0,
    undefined,
  );
  const stop = new AbortController();
  const calls: string[] = [];
  const results = new JobResults<string, number>(
    {
      start() {
        calls.push('start');
        return job;
      },
      pulled: () => calls.push('pulled'),
      ended: () => calls.push('ended'),
    },
    stop.signal,
  );
  return { job, stop, calls, results };
}

const DONE = { done: true, value: undefined };

describe('the results of a job', () => {
  it('start with the first pull, and end the job with the last one', async () => {
    const { job, calls, results } = pulled();
    expect(calls).toEqual([]);
    const first = results.next();
    expect(calls).toEqual(['start']);
    job.push(7, 0);
    job.finish();
    expect(await first).toEqual({ done: false, value: 7 });
    expect(await results.next()).toEqual(DONE);
    expect(await results.next()).toEqual(DONE);
    expect(calls).toEqual(['start', 'pulled', 'ended']);
  });

  it('that are returned during a pull end it without a result', async () => {
    const { job, calls, results } = pulled();
    const waiting = results.next();
    expect(await results.return()).toEqual(DONE);
    expect(await waiting).toEqual(DONE);
    expect([job.open, calls]).toEqual([false, ['start', 'ended']]);
  });

  it('that are returned before the first pull start nothing', async () => {
    const { calls, results } = pulled();
    await results.return();
    expect([await results.next(), calls]).toEqual([DONE, []]);
  });

  it.each(['before the first pull', 'during a pull', 'between pulls'])(
    'throw the reason of an abort %s, once',
    async (when) => {
      const { job, stop, calls, results } = pulled();
      const reason = new Error('gone');
      if (when === 'between pulls') {
        job.push(7, 0);
        await results.next();
      }
      const waiting = when === 'during a pull' ? results.next() : undefined;
      stop.abort(reason);
      await expect(waiting ?? results.next()).rejects.toBe(reason);
      expect(await results.next()).toEqual(DONE);
      expect(calls.includes('ended')).toBe(when !== 'before the first pull');
      expect(job.open).toBe(when === 'before the first pull');
    },
  );

  it('throw the error of the job', async () => {
    const { job, calls, results } = pulled();
    const waiting = results.next();
    job.fail(new Error('crashed'));
    await expect(waiting).rejects.toThrow('crashed');
    expect([await results.next(), calls]).toEqual([DONE, ['start', 'ended']]);
  });
});
