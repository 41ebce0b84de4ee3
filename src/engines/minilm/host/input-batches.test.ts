import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { embedRequest } from '../../../../test/contract/embed-engine.cases.ts';
import { RecordingTracer } from '../../../../test/doubles/recording-tracer.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import type { Traceparent, Tracer } from '../../../contract/core/tracer.ts';
import { withSpan } from '../../../kit/logging/spans.ts';
import { batchByLength } from '../worker/batch-by-length.ts';
import { InputBatches, InputTooLongError, type RunBatch } from './input-batches.ts';

const never = new AbortController().signal;

/** Batches that finish when the test calls `end`. Each vector contains the length of its text. */
function batches(concurrency = 1) {
  const started: {
    inputs: readonly unknown[];
    fairnessKey: string;
    end: (error?: unknown) => void;
    signal: AbortSignal;
    /** The trace context in which the batch runs. */
    traceparent: (tracer: Tracer) => Traceparent | undefined;
  }[] = [];
  const run: RunBatch = async function* (inputs, { fairnessKey }, signal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (error?: unknown) => (error === undefined ? resolve() : reject(error));
    const inContext = AsyncLocalStorage.snapshot();
    started.push({
      inputs,
      fairnessKey,
      end,
      signal,
      traceparent: (tracer) => inContext(() => tracer.currentTraceparent()),
    });
    await promise;
    const indexes = inputs.map((_, index) => index).reverse();
    const texts = indexes.map((index) => String(inputs[index]));
    const tokens = texts.map((text) => (text === 'too long' ? undefined : text.length));
    yield { indexes, tokens, vectors: Float32Array.from(tokens.filter((count) => count !== undefined)) };
  };
  const subject = new InputBatches(concurrency, 8, run);
  const embed = (inputs: string[], fields = {}, signal = never) =>
    subject.embed(embedRequest({ inputs, ...fields }), signal);
  /** Waits for the batch with this index to start. */
  const batch = async (at: number) => {
    await expect.poll(() => started.length).toBeGreaterThan(at);
    const found = started[at];
    if (found === undefined) throw new Error('no such batch');
    return found;
  };
  return { subject, started, embed, batch };
}

describe('a batch', () => {
  it('contains all pending inputs when it starts, and each request gets its own results', async () => {
    const { embed, batch, started } = batches();
    const first = embed(['a', 'bb']);
    const second = embed(['ccc']);
    const one = await batch(0);
    expect(one.inputs).toEqual(['a', 'bb', 'ccc']);
    const third = embed(['dddd']);
    const fourth = embed(['eeeee']);
    one.end();
    expect(await first).toEqual([
      { vector: Float32Array.of(1), tokens: 1 },
      { vector: Float32Array.of(2), tokens: 2 },
    ]);
    expect(await second).toEqual([{ vector: Float32Array.of(3), tokens: 3 }]);
    const two = await batch(1);
    expect(two.inputs).toEqual(['dddd', 'eeeee']);
    two.end();
    await Promise.all([third, fourth]);
    expect(started).toHaveLength(2);
  });

  it('belongs to the trace of its first request', async () => {
    const tracer = new RecordingTracer();
    const { subject, started, batch } = batches();
    const embedInSpan = (name: string) =>
      withSpan(tracer, name, {}, () => subject.embed(embedRequest({ inputs: [name] }), never));
    const first = embedInSpan('first');
    (await batch(0)).end();
    const [second, third] = [embedInSpan('second'), embedInSpan('third')];
    (await batch(1)).end();
    await Promise.all([first, second, third]);
    const traceparentOf = (name: string) => tracer.spans.find((span) => span.name === name)?.place;
    expect(started.map(({ inputs }) => inputs)).toEqual([['first'], ['second', 'third']]);
    expect(started.map(({ traceparent }) => traceparent(tracer))).toEqual([
      traceparentOf('first'),
      traceparentOf('second'),
    ]);
  });

  it('contains only inputs of the highest pending priority', async () => {
    const { embed, batch } = batches();
    const low = embed(['low'], { priority: 'batch' });
    const high = embed(['high']);
    (await batch(0)).end();
    await high;
    const second = await batch(1);
    expect(second.inputs).toEqual(['low']);
    second.end();
    await low;
  });

  it('does not wait for a batch of a lower priority', async () => {
    const { embed, batch, started } = batches();
    const low = embed(['low'], { priority: 'batch' });
    await batch(0);
    const later = embed(['later'], { priority: 'batch' });
    const high = embed(['high'], { priority: 'realtime' });
    const second = await batch(1);
    expect(second.inputs).toEqual(['high']);
    second.end();
    await high;
    expect(started).toHaveLength(2);
    (await batch(0)).end();
    (await batch(2)).end();
    await Promise.all([low, later]);
  });

  it('is limited in inputs and characters', async () => {
    const { embed, batch } = batches();
    const many = embed(new Array(100).fill('x'));
    const first = await batch(0);
    expect(first.inputs).toHaveLength(64);
    first.end();
    const second = await batch(1);
    expect(second.inputs).toHaveLength(36);
    second.end();
    expect(await many).toHaveLength(100);
    const long = embed(new Array(3).fill('x'.repeat(9_000)));
    expect((await batch(2)).inputs).toHaveLength(1);
    (await batch(2)).end();
    (await batch(3)).end();
    (await batch(4)).end();
    expect(await long).toHaveLength(3);
  });

  it('serves keys round-robin, so that a large request does not delay others', async () => {
    const { embed, batch } = batches();
    const much = embed(new Array(500).fill('much'), { fairnessKey: 'a' });
    (await batch(0)).end();
    const little = embed(['little'], { fairnessKey: 'b' });
    const second = await batch(1);
    // It was pending when the first batch ended, or arrived just after.
    second.end();
    const third = await batch(2);
    expect([...second.inputs, ...third.inputs]).toContain('little');
    third.end();
    await little;
    for (let at = 3; at < 8; at += 1) (await batch(at)).end();
    expect(await much).toHaveLength(500);
  });

  it('serves requests of the same key in turn, and none for a request without inputs', async () => {
    const { embed, batch } = batches();
    const much = embed(new Array(150).fill('much'));
    await batch(0);
    const little = embed(['little']);
    expect(await embed([])).toEqual([]);
    (await batch(0)).end();
    (await batch(1)).end();
    const last = await batch(2);
    expect(last.inputs).toEqual(['little', ...new Array(22).fill('much')]);
    last.end();
    await little;
    expect(await much).toHaveLength(150);
  });

  it('runs concurrently with others, up to the limit', async () => {
    const { embed, batch, started } = batches(2);
    const first = embed(new Array(200).fill('x'));
    await batch(1);
    expect(started).toHaveLength(2);
    for (let at = 0; at < 4; at += 1) (await batch(at)).end();
    expect(await first).toHaveLength(200);
  });
});

describe('failures', () => {
  it('an input that is too long fails only its request', async () => {
    const { embed, batch } = batches();
    const bad = embed(['ok', 'too long']);
    const good = embed(['fine']);
    const outcome = expect(bad).rejects.toEqual(new InputTooLongError(1));
    (await batch(0)).end();
    await outcome;
    expect(await good).toEqual([{ vector: Float32Array.of(4), tokens: 4 }]);
  });

  it('a failed batch fails all its requests', async () => {
    const { embed, batch } = batches();
    const both = [embed(['a']), embed(['b'])];
    const outcomes = both.map((each) => expect(each).rejects.toThrow('crashed'));
    (await batch(0)).end(new Error('crashed'));
    await Promise.all(outcomes);
    const next = embed(['c']);
    (await batch(1)).end();
    expect(await next).toHaveLength(1);
  });

  it('a rate limit fails only the requests of its key', async () => {
    const { embed, batch } = batches();
    const rejected = [embed(['a'], { fairnessKey: 'a' }), embed(['aa'], { fairnessKey: 'a' })];
    const others = [embed(['bbb'], { fairnessKey: 'b' }), embed(['cccc'], { fairnessKey: 'c' })];
    const outcomes = rejected.map((each) => expect(each).rejects.toMatchObject({ kind: 'rate_limited' }));
    (await batch(0)).end(new ServiceError('rate_limited', 'Your share is used.'));
    await Promise.all(outcomes);
    const again = await batch(1);
    expect(again).toMatchObject({ inputs: ['bbb', 'cccc'], fairnessKey: 'b' });
    again.end();
    expect(await Promise.all(others)).toMatchObject([[{ tokens: 3 }], [{ tokens: 4 }]]);
  });

  it('inputs of an aborted request are not started', async () => {
    const { embed, batch } = batches();
    const controller = new AbortController();
    const left = embed(new Array(100).fill('x'), {}, controller.signal);
    const outcome = expect(left).rejects.toBe('gone');
    const first = await batch(0);
    controller.abort('gone');
    await outcome;
    const other = embed(['y']);
    first.end();
    const second = await batch(1);
    expect(second.inputs).toEqual(['y']);
    second.end();
    expect(await other).toHaveLength(1);
  });

  it('requests beyond the limits are rejected', async () => {
    const { embed, batch, subject } = batches();
    const some = (owner: string) =>
      Array.from({ length: 4 }, () => embed(['x'], { fairnessKey: owner }).catch((error: unknown) => error));
    const open = some('a');
    // One key may use half of the slots.
    await expect(embed(['x'], { fairnessKey: 'a' })).rejects.toMatchObject({
      kind: 'rate_limited',
      retryAfterS: 2,
    });
    open.push(...some('b'));
    await expect(embed(['x'], { fairnessKey: 'c' })).rejects.toMatchObject({
      kind: 'overloaded',
      retryAfterS: 2,
    });
    const lower = embed(['x'], { priority: 'batch' }).catch((error: unknown) => error);
    await batch(0);
    subject.close();
    for (const each of [...open, lower]) expect(await each).toMatchObject({ kind: 'overloaded' });
  });
});

describe('batchByLength', () => {
  it('groups each input once, by similar length and within the token limit', () => {
    const lengths = [512, 3, 400, 4, 300, 5, 500, 6, 512, 3];
    const groups = batchByLength(lengths);
    expect(groups.flat().sort((a, b) => a - b)).toEqual(lengths.map((_, index) => index));
    for (const group of groups) {
      const longest = Math.max(...group.map((index) => lengths[index] ?? 0));
      if (group.length > 1) expect(longest * group.length).toBeLessThanOrEqual(1024);
    }
    expect(groups[0]).toEqual([1, 9, 3, 5, 7]);
    // A common batch would consist mostly of padding.
    expect(batchByLength([3, 300])).toEqual([[0], [1]]);
    expect(batchByLength([])).toEqual([]);
  });
});
