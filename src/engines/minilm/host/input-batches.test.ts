import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { embedRequest } from '../../../../test/contract/embed-engine.cases.ts';
import { RecordingTracer } from '../../../../test/doubles/recording-tracer.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import type { Traceparent, Tracer } from '../../../contract/core/tracer.ts';
import { withSpan } from '../../../kit/logging/spans.ts';
import { lengthBuckets } from '../worker/length-buckets.ts';
import { InputBatches, InputTooLong, type RunBatch } from './input-batches.ts';

const never = new AbortController().signal;

/** Batches that end when the test lets them; each vector holds the length of its text. */
function batches(atOnce = 1) {
  const begun: {
    inputs: readonly unknown[];
    fairnessKey: string;
    end: (error?: unknown) => void;
    signal: AbortSignal;
    /** Where it is run. */
    place: (tracer: Tracer) => Traceparent | undefined;
  }[] = [];
  const run: RunBatch = async function* (inputs, { fairnessKey }, signal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (error?: unknown) => (error === undefined ? resolve() : reject(error));
    const inContext = AsyncLocalStorage.snapshot();
    begun.push({ inputs, fairnessKey, end, signal, place: (tracer) => inContext(() => tracer.currentTraceparent()) });
    await promise;
    const places = inputs.map((_, place) => place).reverse();
    const texts = places.map((place) => String(inputs[place]));
    const tokens = texts.map((text) => (text === 'too long' ? undefined : text.length));
    yield { places, tokens, vectors: Float32Array.from(tokens.filter((count) => count !== undefined)) };
  };
  const subject = new InputBatches(atOnce, 8, run);
  const embed = (inputs: string[], fields = {}, signal = never) =>
    subject.embed(embedRequest({ inputs, ...fields }), signal);
  /** The batch at this place, once it has begun. */
  const batch = async (at: number) => {
    await expect.poll(() => begun.length).toBeGreaterThan(at);
    const found = begun[at];
    if (found === undefined) throw new Error('no such batch');
    return found;
  };
  return { subject, begun, embed, batch };
}

describe('a batch', () => {
  it('has all inputs that wait when it begins, and each request gets its own', async () => {
    const { embed, batch, begun } = batches();
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
    expect(begun).toHaveLength(2);
  });

  it('is a part of its first request, whoever made room for it', async () => {
    const tracer = new RecordingTracer();
    const { subject, begun, batch } = batches();
    const asked = (name: string) =>
      withSpan(tracer, name, {}, () => subject.embed(embedRequest({ inputs: [name] }), never));
    const first = asked('first');
    (await batch(0)).end();
    const [second, third] = [asked('second'), asked('third')];
    (await batch(1)).end();
    await Promise.all([first, second, third]);
    const placeOf = (name: string) => tracer.spans.find((span) => span.name === name)?.place;
    expect(begun.map(({ inputs }) => inputs)).toEqual([['first'], ['second', 'third']]);
    expect(begun.map(({ place }) => place(tracer))).toEqual([placeOf('first'), placeOf('second')]);
  });

  it('is of one class, the highest that waits', async () => {
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

  it('does not wait for one of a lower class', async () => {
    const { embed, batch, begun } = batches();
    const low = embed(['low'], { priority: 'batch' });
    await batch(0);
    const later = embed(['later'], { priority: 'batch' });
    const high = embed(['high'], { priority: 'realtime' });
    const second = await batch(1);
    expect(second.inputs).toEqual(['high']);
    second.end();
    await high;
    expect(begun).toHaveLength(2);
    (await batch(0)).end();
    (await batch(2)).end();
    await Promise.all([low, later]);
  });

  it('is bounded in inputs and in characters', async () => {
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

  it('serves owners in turn, so that who asks for much does not delay the others', async () => {
    const { embed, batch } = batches();
    const much = embed(new Array(500).fill('much'), { fairnessKey: 'a' });
    (await batch(0)).end();
    const little = embed(['little'], { fairnessKey: 'b' });
    const second = await batch(1);
    // It was waiting when the first batch ended, or arrived just after.
    second.end();
    const third = await batch(2);
    expect([...second.inputs, ...third.inputs]).toContain('little');
    third.end();
    await little;
    for (let at = 3; at < 8; at += 1) (await batch(at)).end();
    expect(await much).toHaveLength(500);
  });

  it('runs beside others, as many as may', async () => {
    const { embed, batch, begun } = batches(2);
    const first = embed(new Array(200).fill('x'));
    await batch(1);
    expect(begun).toHaveLength(2);
    for (let at = 0; at < 4; at += 1) (await batch(at)).end();
    expect(await first).toHaveLength(200);
  });
});

describe('what fails', () => {
  it('is an input that is too long, and only its request', async () => {
    const { embed, batch } = batches();
    const bad = embed(['ok', 'too long']);
    const good = embed(['fine']);
    const outcome = expect(bad).rejects.toEqual(new InputTooLong(1));
    (await batch(0)).end();
    await outcome;
    expect(await good).toEqual([{ vector: Float32Array.of(4), tokens: 4 }]);
  });

  it('is a batch, with every request in it', async () => {
    const { embed, batch } = batches();
    const both = [embed(['a']), embed(['b'])];
    const outcomes = both.map((each) => expect(each).rejects.toThrow('crashed'));
    (await batch(0)).end(new Error('crashed'));
    await Promise.all(outcomes);
    const next = embed(['c']);
    (await batch(1)).end();
    expect(await next).toHaveLength(1);
  });

  it('is an owner who gets no place, and not those who share the batch', async () => {
    const { embed, batch } = batches();
    const refused = [embed(['a'], { fairnessKey: 'a' }), embed(['aa'], { fairnessKey: 'a' })];
    const others = [embed(['bbb'], { fairnessKey: 'b' }), embed(['cccc'], { fairnessKey: 'c' })];
    const outcomes = refused.map((each) => expect(each).rejects.toMatchObject({ kind: 'rate_limited' }));
    (await batch(0)).end(new ServiceError('rate_limited', 'Your share is used.'));
    await Promise.all(outcomes);
    const again = await batch(1);
    expect(again).toMatchObject({ inputs: ['bbb', 'cccc'], fairnessKey: 'b' });
    again.end();
    expect(await Promise.all(others)).toMatchObject([[{ tokens: 3 }], [{ tokens: 4 }]]);
  });

  it('is a caller that leaves, whose inputs nobody takes any more', async () => {
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

  it('is one request too many', async () => {
    const { embed, batch, subject } = batches();
    const some = (owner: string) =>
      Array.from({ length: 4 }, () => embed(['x'], { fairnessKey: owner }).catch((error: unknown) => error));
    const open = some('a');
    // Half of the places are the most of one owner.
    await expect(embed(['x'], { fairnessKey: 'a' })).rejects.toMatchObject({
      kind: 'rate_limited',
      retryAfterS: 2,
    });
    open.push(...some('b'));
    await expect(embed(['x'], { fairnessKey: 'c' })).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 2 });
    const lower = embed(['x'], { priority: 'batch' }).catch((error: unknown) => error);
    await batch(0);
    subject.close();
    for (const each of [...open, lower]) expect(await each).toMatchObject({ kind: 'overloaded' });
  });
});

describe('passes', () => {
  it('hold inputs of like length, every one of them once, and no more tokens than they may', () => {
    const lengths = [512, 3, 400, 4, 300, 5, 500, 6, 512, 3];
    const buckets = lengthBuckets(lengths);
    expect(buckets.flat().sort((a, b) => a - b)).toEqual(lengths.map((_, place) => place));
    for (const bucket of buckets) {
      const longest = Math.max(...bucket.map((place) => lengths[place] ?? 0));
      if (bucket.length > 1) expect(longest * bucket.length).toBeLessThanOrEqual(1024);
    }
    expect(buckets[0]).toEqual([1, 9, 3, 5, 7]);
    // Little would be done in a pass of both but padding.
    expect(lengthBuckets([3, 300])).toEqual([[0], [1]]);
    expect(lengthBuckets([])).toEqual([]);
  });
});
