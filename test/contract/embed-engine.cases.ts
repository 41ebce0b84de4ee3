import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbedEngine, EmbedRequest } from '../../src/contract/engines/embed.ts';

/** An engine and its test data. */
export interface EmbedEngineUnderTest {
  /** Deterministic: returns the same vector for the same input. */
  readonly engine: EmbedEngine;
  /** Length of its vectors. */
  readonly dimensions: number;
  /** The same input as text and as token ids; undefined if the engine accepts no ids. */
  readonly tokenized?: { readonly text: string; readonly ids: readonly number[] } | undefined;
  close(): Promise<void>;
}

const never = new AbortController().signal;

/** A request of one short text. */
export function embedRequest(fields: Partial<EmbedRequest> = {}): EmbedRequest {
  return { inputs: ['The cat sat on the mat.'], priority: 'interactive', fairnessKey: 'org_a', ...fields };
}

/** Cosine similarity of two vectors of length 1. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  return Array.from(a).reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

/** The contract of `EmbedEngine`. */
export function embedEngineCases(name: string, open: () => Promise<EmbedEngineUnderTest>): void {
  describe(`${name} as an EmbedEngine`, () => {
    let subject: EmbedEngineUnderTest;
    let engine: EmbedEngine;
    beforeAll(async () => {
      subject = await open();
      engine = subject.engine;
    });
    afterAll(() => subject?.close());

    const vectorsOf = async (fields: Partial<EmbedRequest>, signal = never) =>
      (await engine.embed(embedRequest(fields), signal)).vectors;

    it('is ready', () => {
      expect(engine.ready().ready).toBe(true);
    });

    it('returns a vector of length 1 for each input, and the token count', async () => {
      const inputs = ['One.', 'Two birds sing.', 'x', '日本語', ' '];
      const { vectors, tokens } = await engine.embed(embedRequest({ inputs }), never);
      expect(vectors).toHaveLength(inputs.length);
      for (const vector of vectors) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector).toHaveLength(subject.dimensions);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
      }
      expect(Number.isSafeInteger(tokens)).toBe(true);
      expect(tokens).toBeGreaterThan(0);
    });

    it('returns vectors in the order of the inputs', async () => {
      const inputs = ['red', 'a much longer text about the harbour in the morning', 'blue', 'red'];
      const [red = [], long = [], blue = [], again = []] = await vectorsOf({ inputs });
      expect(cosine(red, again)).toBeCloseTo(1, 4);
      expect(cosine(red, blue)).toBeLessThan(0.9999);
      const [alone = []] = await vectorsOf({ inputs: inputs.slice(1, 2) });
      expect(cosine(long, alone)).toBeCloseTo(1, 4);
    });

    it('accepts token ids', async (context) => {
      const { tokenized } = subject;
      if (tokenized === undefined) return context.skip('the engine accepts no token ids');
      const [text = [], ids = []] = await vectorsOf({ inputs: [tokenized.text, tokenized.ids] });
      expect(cosine(text, ids)).toBeCloseTo(1, 4);
    });

    it('shortens vectors and normalizes them to length 1', async () => {
      const dimensions = Math.ceil(subject.dimensions / 2);
      const [whole = new Float32Array()] = await vectorsOf({});
      const [short = new Float32Array()] = await vectorsOf({ dimensions });
      expect(short).toHaveLength(dimensions);
      expect(Math.hypot(...short)).toBeCloseTo(1, 4);
      const length = Math.hypot(...whole.slice(0, dimensions));
      expect(
        cosine(
          short,
          whole.slice(0, dimensions).map((value) => value / length),
        ),
      ).toBeCloseTo(1, 4);
    });

    it('rejects more dimensions than the model has', async () => {
      await expect(vectorsOf({ dimensions: subject.dimensions + 1 })).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'dimensions',
      });
    });

    it('rejects an input beyond the known token limit and names it', async (context) => {
      const { maxTokens } = engine;
      if (maxTokens === undefined) return context.skip('the engine does not know its token limit');
      const inputs = ['short', 'word '.repeat(maxTokens + 1)];
      await expect(vectorsOf({ inputs })).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'input.1',
        code: 'context_length_exceeded',
      });
    });

    it('serves concurrent requests of several keys', async () => {
      const [expected = []] = await vectorsOf({ inputs: ['number 7'] });
      const all = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          vectorsOf({ inputs: [`number ${at}`], fairnessKey: `org_${at % 3}` }),
        ),
      );
      expect(cosine(all[7]?.[0] ?? [], expected)).toBeCloseTo(1, 4);
    });

    it('does nothing if the signal has already fired', async () => {
      const reason = new Error('gone');
      await expect(vectorsOf({}, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    it('throws the reason of an abort during a request, and keeps working', async () => {
      const controller = new AbortController();
      const reason = new Error('hung up');
      const inputs = Array.from({ length: 64 }, (_, at) => `${'many words '.repeat(40)}${at}`);
      const outcome = expect(vectorsOf({ inputs }, controller.signal)).rejects.toBe(reason);
      controller.abort(reason);
      await outcome;
      expect(await vectorsOf({})).toHaveLength(1);
    });
  });
}
