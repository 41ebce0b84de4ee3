import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SequenceCache } from './sequence-cache.ts';

const tokens = (...all: number[]) => Uint32Array.from(all);
const range = (from: number, to: number) => Uint32Array.from({ length: to - from }, (_, at) => from + at);
const conversation = (start: Uint32Array, ...more: number[]) => Uint32Array.of(...start, ...more);

/** Acquires a sequence, evaluates the rest of the prompt and releases the sequence. */
function use(cache: SequenceCache, scope: string, prompt: Uint32Array) {
  const assigned = cache.acquire(scope, prompt);
  if (assigned === undefined) throw new Error('all sequences are busy');
  cache.append(assigned.sequence, prompt.subarray(assigned.cachedTokens));
  cache.release(assigned.sequence);
  return assigned;
}

describe('SequenceCache', () => {
  it('continues a conversation in its sequence', () => {
    const cache = new SequenceCache(2);
    const first = use(cache, 'a', tokens(1, 2, 3));
    expect(first).toMatchObject({ cachedTokens: 0, copyFrom: undefined });
    expect(use(cache, 'a', tokens(1, 2, 3, 4, 5))).toEqual({ ...first, cachedTokens: 3 });
  });

  it('evaluates the last token of a prompt again', () => {
    const cache = new SequenceCache(1);
    use(cache, 'a', tokens(1, 2, 3));
    expect(use(cache, 'a', tokens(1, 2, 3)).cachedTokens).toBe(2);
    expect(use(cache, 'a', tokens(1)).cachedTokens).toBe(0);
  });

  it('shares no tokens between scopes', () => {
    const cache = new SequenceCache(2);
    const first = use(cache, 'a', range(0, 1000));
    expect(use(cache, 'b', range(0, 1000))).toEqual({
      sequence: 1 - first.sequence,
      cachedTokens: 0,
      copyFrom: undefined,
    });
    expect(use(cache, 'b', range(0, 1000)).cachedTokens).toBe(999);
  });

  it('copies a long common start and keeps the conversation that it belongs to', () => {
    const cache = new SequenceCache(2);
    const system = range(0, 100);
    const first = use(cache, 'a', conversation(system, ...range(1000, 1500)));
    const second = use(cache, 'a', conversation(system, 7));
    expect(second).toEqual({ sequence: 1 - first.sequence, cachedTokens: 100, copyFrom: first.sequence });
    expect(use(cache, 'a', conversation(system, ...range(1000, 1600))).cachedTokens).toBe(600);
  });

  it('copies the start of a sequence that is busy', () => {
    const cache = new SequenceCache(2);
    const busy = cache.acquire('a', range(0, 100));
    cache.append(busy?.sequence ?? -1, range(0, 100));
    expect(cache.acquire('a', range(0, 200))).toEqual({
      sequence: 1 - (busy?.sequence ?? -1),
      cachedTokens: 100,
      copyFrom: busy?.sequence,
    });
  });

  it('does not copy a short common start', () => {
    const cache = new SequenceCache(2);
    use(cache, 'a', conversation(range(0, 10), ...range(1000, 1500)));
    expect(use(cache, 'a', conversation(range(0, 10), 7))).toMatchObject({
      cachedTokens: 0,
      copyFrom: undefined,
    });
  });

  it('replaces the sequence that was used least recently', () => {
    const cache = new SequenceCache(3);
    const used = [range(0, 9), range(10, 19), range(20, 29)].map(
      (prompt) => use(cache, 'a', prompt).sequence,
    );
    use(cache, 'a', range(0, 9));
    expect(use(cache, 'a', range(30, 39)).sequence).toBe(used[1]);
  });

  it('assigns nothing while all sequences are busy', () => {
    const cache = new SequenceCache(1);
    const first = cache.acquire('a', tokens(1, 2));
    expect(cache.acquire('a', tokens(3))).toBeUndefined();
    cache.release(first?.sequence ?? -1);
    expect(cache.acquire('a', tokens(3))).toBeDefined();
  });

  it('forgets the tokens of an emptied sequence', () => {
    const cache = new SequenceCache(1);
    const { sequence } = use(cache, 'a', tokens(1, 2, 3));
    cache.clear(sequence);
    expect(use(cache, 'a', tokens(1, 2, 3)).cachedTokens).toBe(0);
  });

  it('never reports tokens as cached that its sequence or the copied one does not contain', () => {
    const prompt = fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 12 });
    const step = fc.record({
      scope: fc.constantFrom('a', 'b'),
      prompt,
      repeat: fc.integer({ min: 1, max: 80 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const cache = new SequenceCache(3);
        const contents = new Map<number, { scope: string; tokens: number[] }>();
        for (const { scope, prompt: part, repeat } of steps) {
          const all = Uint32Array.from(Array.from({ length: repeat }, () => part).flat());
          const { sequence, cachedTokens, copyFrom } = use(cache, scope, all);
          const source = contents.get(copyFrom ?? sequence);
          expect(cachedTokens).toBeLessThan(all.length);
          if (cachedTokens > 0) expect(source?.scope).toBe(scope);
          expect(source?.tokens.slice(0, cachedTokens) ?? []).toEqual([...all.subarray(0, cachedTokens)]);
          contents.set(sequence, { scope, tokens: [...all] });
        }
      }),
    );
  });
});
