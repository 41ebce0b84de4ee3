import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { voiceSound } from '../../../../test/media/voice-sound.ts';
import { loadConfig } from '../../../config/config.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
// Resemblyzer 0.1.4 with librosa 0.11.0 and torch 2.15.0 on the same samples, without its own cutting of silence.
import reference from '../fixtures/reference.json' with { type: 'json' };
import { likeness, meanDirection } from '../host/voice-print.ts';
import { EMBEDDING_SIZE } from '../import/graph.ts';
import { loadSpeakers, type SpeakerModel } from './model.ts';

let model: SpeakerModel;
beforeAll(async () => {
  const { modelsDir } = loadConfig(process.env);
  model = await loadSpeakers({ modelsDir, runtime: { provider: 'cpu', threads: 1 } });
}, 60_000);
afterAll(() => model?.close());

async function heard(samples: Float32Array<ArrayBuffer>, rateHz = LISTEN_RATE_HZ) {
  const runs: Float32Array[] = [];
  const passes: number[] = [];
  let pitchHz: number | undefined;
  for await (const result of model.open({ samples, rateHz })) {
    if (result?.kind === 'pitch') pitchHz = result.hz;
    else if (result) {
      passes.push(result.embeddings.length / EMBEDDING_SIZE);
      for (let at = 0; at < result.embeddings.length; at += EMBEDDING_SIZE) {
        runs.push(result.embeddings.subarray(at, at + EMBEDDING_SIZE));
      }
    }
  }
  return { runs, passes, pitchHz, embedding: meanDirection(runs) };
}

describe('embeddings are those of Resemblyzer', () => {
  const sounds = {
    low: voiceSound(110, 4),
    high: voiceSound(220, 2.5, 1.2),
    quiet: voiceSound(150, 6, 1.1).map((sample) => sample * 0.01),
    short: voiceSound(180, 0.6, 1.15),
  };
  test.each(Object.entries(sounds))('of a voice that is %s', async (name, samples) => {
    const { runs, embedding } = reference[name as keyof typeof reference];
    const ours = await heard(samples);
    expect(ours.runs.length).toBe(runs);
    expect(likeness(ours.embedding, Float32Array.from(embedding))).toBeGreaterThan(0.9999);
  });
});

test('all are of length 1, and long audio is worked on in several passes', async () => {
  const { runs, passes } = await heard(voiceSound(120, 15));
  expect(passes.length).toBeGreaterThan(1);
  expect(Math.max(...passes)).toBeLessThanOrEqual(8);
  for (const run of runs) expect(likeness(run, run)).toBeCloseTo(1, 5);
});

test('the rate of the samples makes no difference', async () => {
  const samples = voiceSound(120, 3);
  // The same sound at three times the rate, held: what that adds lies above what is heard.
  const finer = Float32Array.from({ length: 3 * samples.length }, (_, i) => {
    const [before = 0, after = 0] = [samples[Math.floor(i / 3)], samples[Math.floor(i / 3) + 1]];
    return before + ((after - before) * (i % 3)) / 3;
  });
  const [here, there] = [await heard(samples), await heard(finer, 3 * LISTEN_RATE_HZ)];
  expect(likeness(here.embedding, there.embedding)).toBeGreaterThan(0.97);
  expect(there.pitchHz).toBeCloseTo(here.pitchHz ?? 0, 0);
});

test('silence and a single sample have an embedding without a direction that is not a number', async () => {
  for (const samples of [new Float32Array(LISTEN_RATE_HZ), new Float32Array(1)]) {
    const { runs, pitchHz } = await heard(samples);
    expect(runs.length).toBe(1);
    expect(runs[0]?.every(Number.isFinite)).toBe(true);
    expect(pitchHz).toBeUndefined();
  }
});
