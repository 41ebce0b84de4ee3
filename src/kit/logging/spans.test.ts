import { describe, expect, it } from 'vitest';
import { RecordingTracer } from '../../../test/doubles/recording-tracer.ts';
import { iterateInSpan, noopTracer, withSpan } from './spans.ts';

async function* counted(tracer: RecordingTracer, ended: () => void) {
  try {
    for (let n = 0; n < 3; n += 1) {
      tracer.startSpan(`step ${n}`).end();
      yield n;
    }
  } finally {
    ended();
  }
}

describe('withSpan', () => {
  it('parents the spans started inside, and ends with the work', async () => {
    const tracer = new RecordingTracer();
    const done = await withSpan(tracer, 'work', { attributes: { model: 'a' } }, async (span) => {
      await Promise.resolve();
      tracer.startSpan('part').end();
      expect(tracer.currentTraceparent()).toBe(span.traceparent);
      return 1;
    });
    expect(done).toBe(1);
    expect(tracer.tree()).toEqual(['work', '  part']);
    expect(tracer.spans.map(({ ended }) => ended)).toEqual([true, true]);
    expect(tracer.currentTraceparent()).toBeUndefined();
  });

  it('records the failure of the work', async () => {
    const tracer = new RecordingTracer();
    const failure = new Error('why');
    await expect(withSpan(tracer, 'work', {}, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(tracer.spans).toMatchObject([{ name: 'work', ended: true, failure }]);
  });
});

describe('iterateInSpan', () => {
  it('runs each step in the span, regardless of the consumer context', async () => {
    const tracer = new RecordingTracer();
    let ends = 0;
    const steps = iterateInSpan(tracer, 'work', {}, () =>
      counted(tracer, () => {
        ends += 1;
      }),
    );
    const got: number[] = [];
    await withSpan(tracer, 'caller', {}, async () => {
      const { value } = await steps.next();
      if (value !== undefined) got.push(value);
    });
    // The rest is pulled outside of any span.
    for await (const step of steps) got.push(step);
    expect(got).toEqual([0, 1, 2]);
    expect(tracer.tree()).toEqual(['caller', '  work', '    step 0', '    step 1', '    step 2']);
    expect(ends).toBe(1);
    expect(tracer.spans.every(({ ended }) => ended)).toBe(true);
  });

  it('ends the span when the consumer stops early', async () => {
    const tracer = new RecordingTracer();
    let ends = 0;
    const work = () =>
      counted(tracer, () => {
        ends += 1;
      });
    for await (const _ of iterateInSpan(tracer, 'work', {}, work)) break;
    expect(ends).toBe(1);
    expect(tracer.spans[0]).toMatchObject({ name: 'work', ended: true, failure: undefined });
  });

  it('ends the span even if closing the source fails', async () => {
    const tracer = new RecordingTracer();
    const fails = () => {
      throw new Error('not closed');
    };
    const steps = iterateInSpan(tracer, 'work', {}, () => counted(tracer, fails));
    await steps.next();
    await expect(steps.return()).rejects.toThrow('not closed');
    expect(tracer.spans[0]).toMatchObject({ name: 'work', ended: true });
  });

  it('records the failure of a step', async () => {
    const tracer = new RecordingTracer();
    const failure = new Error('why');
    const work = async function* () {
      yield 1;
      throw failure;
    };
    await expect(Array.fromAsync(iterateInSpan(tracer, 'work', {}, work))).rejects.toBe(failure);
    expect(tracer.spans).toMatchObject([{ ended: true, failure }]);
  });

  it.each([
    ['the failure of a step', 1, 3, 'why'],
    ['no failure when the work ends', 3, 3, undefined],
    ['no failure when the consumer stops early', 3, 1, undefined],
  ])('reports %s once, after the source is closed', async (_, made, taken, failure) => {
    const events: unknown[] = [];
    const work = async function* () {
      try {
        for (let n = 0; n < made; n += 1) yield n;
        if (made < 3) throw 'why';
      } finally {
        events.push('closed');
      }
    };
    const ended = (error: unknown) => events.push(error);
    const steps = iterateInSpan(noopTracer, 'work', {}, work, { ended });
    try {
      let seen = 0;
      for await (const _step of steps) {
        seen += 1;
        if (seen === taken) break;
      }
    } catch {}
    expect(events).toEqual(['closed', failure]);
  });

  it('reports each pull and each item before it is yielded, and the end of the work', async () => {
    const events: unknown[] = [];
    const observer = {
      pulled: () => void events.push('pull'),
      item: (item: number) => void events.push(item),
      completed: () => void events.push('completed'),
      ended: () => void events.push('ended'),
    };
    const work = async function* () {
      yield* [1, 2];
    };
    for await (const item of iterateInSpan(noopTracer, 'work', {}, work, observer))
      events.push(`yielded ${item}`);
    const expected = ['pull', 1, 'yielded 1', 'pull', 2, 'yielded 2', 'pull', 'completed', 'ended'];
    expect(events).toEqual(expected);
  });

  it('works without tracing', async () => {
    const steps = iterateInSpan(noopTracer, 'work', {}, async function* () {
      yield* [1, 2];
    });
    expect(await Array.fromAsync(steps)).toEqual([1, 2]);
    expect(noopTracer.currentTraceparent()).toBeUndefined();
  });
});
