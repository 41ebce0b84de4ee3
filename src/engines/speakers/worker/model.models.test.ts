import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { voiceSound } from '../../../../test/media/voice-sound.ts';
import { loadConfig } from '../../../config/config.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
// Computed by Resemblyzer 0.1.4 with librosa 0.11.0 and torch 2.15.0 from the same samples, without trimming of silence.
import reference from '../fixtures/reference.json' with { type: 'json' };
import { cosineSimilarity, meanDirection } from '../host/voice-print.ts';
import { EMBEDDING_SIZE } from '../import/graph.ts';
import { loadSpeakers, type SpeakerModel } from './model.ts';

let model: SpeakerModel;
beforeAll(async () => {
  const { modelsDir } = loadConfig(process.env);
  model = await loadSpeakers({ modelsDir, runtime: { provider: 'cpu', threads: 1 } });
});
afterAll(() => model?.close());

async function encode(samples: Float32Array<ArrayBuffer>, rateHz = LISTEN_RATE_HZ) {
  const partials: Float32Array[] = [];
  const steps: number[] = [];
  let pitchHz: number | undefined;
  for await (const result of model.open({ samples, rateHz })) {
    if (result?.kind === 'pitch') pitchHz = result.hz;
    else if (result) {
      steps.push(result.embeddings.length / EMBEDDING_SIZE);
      for (let start = 0; start < result.embeddings.length; start += EMBEDDING_SIZE) {
        partials.push(result.embeddings.subarray(start, start + EMBEDDING_SIZE));
      }
    }
  }
  return { partials, steps, pitchHz, embedding: meanDirection(partials) };
}

describe('embeddings equal those of Resemblyzer', () => {
  const sounds = {
    low: voiceSound(110, 4),
    high: voiceSound(220, 2.5, 1.2),
    quiet: voiceSound(150, 6, 1.1).map((sample) => sample * 0.01),
    short: voiceSound(180, 0.6, 1.15),
  };
  test.each(Object.entries(sounds))('for a voice that is %s', async (name, samples) => {
    const { runs, embedding } = reference[name as keyof typeof reference];
    const actual = await encode(samples);
    expect(actual.partials.length).toBe(runs);
    expect(cosineSimilarity(actual.embedding, Float32Array.from(embedding))).toBeGreaterThan(0.9999);
  });
});

test('embeddings have length 1, and long audio takes several steps', async () => {
  const { partials, steps } = await encode(voiceSound(120, 15));
  expect(steps.length).toBeGreaterThan(1);
  expect(Math.max(...steps)).toBeLessThanOrEqual(8);
  for (const partial of partials) expect(cosineSimilarity(partial, partial)).toBeCloseTo(1, 5);
});

test('the sample rate does not affect the embedding', async () => {
  const samples = voiceSound(120, 3);
  // The same sound, linearly interpolated to three times the rate. The images of the interpolation are filtered out.
  const finer = Float32Array.from({ length: 3 * samples.length }, (_, i) => {
    const [before = 0, after = 0] = [samples[Math.floor(i / 3)], samples[Math.floor(i / 3) + 1]];
    return before + ((after - before) * (i % 3)) / 3;
  });
  const [original, upsampled] = [await encode(samples), await encode(finer, 3 * LISTEN_RATE_HZ)];
  expect(cosineSimilarity(original.embedding, upsampled.embedding)).toBeGreaterThan(0.97);
  expect(upsampled.pitchHz).toBeCloseTo(original.pitchHz ?? 0, 0);
});

test('silence and a single sample have a finite embedding', async () => {
  for (const samples of [new Float32Array(LISTEN_RATE_HZ), new Float32Array(1)]) {
    const { partials, pitchHz } = await encode(samples);
    expect(partials.length).toBe(1);
    expect(partials[0]?.every(Number.isFinite)).toBe(true);
    expect(pitchHz).toBeUndefined();
  }
});
