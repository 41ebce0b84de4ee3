import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../config/config.ts';
import { resolveModelFiles } from '../../../models/model-files.ts';
import reference from '../fixtures/reference.json' with { type: 'json' };
import { loadMinilm, type MinilmModel } from './model.ts';

let model: MinilmModel;
beforeAll(async () => {
  const { modelsDir } = loadConfig(process.env);
  model = await loadMinilm({
    model: resolveModelFiles(modelsDir, 'all-minilm-l6-v2-int8')['model.onnx'] ?? '',
    vocabulary: resolveModelFiles(modelsDir, 'bert-uncased-vocabulary')['vocab.json'] ?? '',
    runtime: { provider: 'cpu', threads: 2 },
  });
});
afterAll(() => model?.close());

/** Vectors by input; undefined for inputs that are too long. */
async function vectorsOf(inputs: readonly (string | readonly number[])[]) {
  const vectors: (Float32Array | undefined)[] = inputs.map(() => undefined);
  let steps = 0;
  const job = model.open({ inputs });
  for (let step = await job.next(); step.value; step = await job.next()) {
    const result = step.value;
    steps += 1;
    const { indexes, vectors: all } = result;
    for (const [at, index] of indexes.entries()) {
      if (result.tokens[at] !== undefined) vectors[index] = all.slice(at * 384, (at + 1) * 384);
    }
  }
  return { vectors, steps };
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

describe('matches onnxruntime in Python with Hugging Face tokenizers', () => {
  it.each(reference.map(({ text, vector }) => [text, vector] as const))('%j', async (text, vector) => {
    const { vectors } = await vectorsOf([text]);
    expect(vectors[0]).toHaveLength(384);
    expect(cosine(vectors[0] ?? [], vector)).toBeGreaterThan(0.9999);
    expect(Math.hypot(...(vectors[0] ?? []))).toBeCloseTo(1, 5);
  });
});

it('padding does not change vectors, and inputs of different length run in separate steps', async () => {
  const long = 'The harbour was quiet that morning. '.repeat(30);
  const inputs = ['short', long, 'a few more words than that', long, 'short'];
  const { vectors, steps } = await vectorsOf(inputs);
  expect(steps).toBeGreaterThan(1);
  for (const [at, input] of inputs.entries()) {
    const alone = await vectorsOf([input]);
    expect(cosine(vectors[at] ?? [], alone.vectors[0] ?? [])).toBeGreaterThan(0.99999);
  }
});

it('token ids give the vector of their text, with or without [CLS] and [SEP]', async () => {
  const { vectors } = await vectorsOf(['hello world', [7592, 2088], [101, 7592, 2088, 102]]);
  const [text = [], bare = [], enclosed = []] = vectors;
  expect(cosine(text, bare)).toBeCloseTo(1, 5);
  expect(cosine(text, enclosed)).toBeCloseTo(1, 5);
});

it('accepts inputs up to the maximum length', async () => {
  const words = (count: number) => new Array(count).fill('word').join(' ');
  const { vectors } = await vectorsOf([words(510), words(511), 'x'.repeat(60_000), 'ok']);
  expect(vectors.map((vector) => vector !== undefined)).toEqual([true, false, false, true]);
});

it('similar texts have more similar vectors', async () => {
  const { vectors } = await vectorsOf(['A cat sits on the mat.', 'A kitten rests on a rug.', 'Stocks fell.']);
  const [cat = [], kitten = [], stocks = []] = vectors;
  expect(cosine(cat, kitten)).toBeGreaterThan(cosine(cat, stocks) + 0.3);
});
