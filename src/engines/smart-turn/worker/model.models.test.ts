import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { repetitions } from '../../../../test/harness/tier.ts';
import { channelOf, recorded } from '../../../../test/media/heard-audio.ts';
import { turnSignals } from '../../../../test/media/turn-signals.ts';
import { joined, withNoise } from '../../../../tools/harness/media/sample-runs.ts';
import { edgesOf, SPOKEN_RATE_HZ, silence, speak } from '../../../../tools/harness/media/spoken.ts';
import { resample } from '../../../audio/resampler.ts';
import { loadConfig } from '../../../config/config.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { sileroFile } from '../../silero/shared/file.ts';
import reference from '../fixtures/reference.json' with { type: 'json' };
import { smartTurnFile } from '../shared/file.ts';
import { WINDOW_SAMPLES } from '../shared/protocol.ts';
import { loadSmartTurn, type SmartTurnModel } from './model.ts';

/** Complete sentences, and the same sentences broken off at a hesitation. */
const SENTENCES = [
  ['Can you tell me when the next train to Boston leaves?', 'Can you tell me when the next, uh,'],
  ['Yes, that works for me.', 'Yes, but,'],
  ['What is the difference between the two plans?', 'What is the difference between, um,'],
  ['Could you send me the invoice by email?', 'Could you send me the, uh,'],
  ['How much does it cost to ship a package to Germany?', 'How much does it cost to ship a, uh,'],
  ['I am looking for a gift for my mother.', 'I am looking for a gift for, um,'],
] as const;
const TAIL_MS = 500;
const NOISE_DB = -65;

const { modelsDir } = loadConfig(process.env);
let model: SmartTurnModel;
beforeAll(async () => {
  model = await loadSmartTurn(smartTurnFile(modelsDir), 1);
});
afterAll(() => model?.close());

const probability = (samples: Float32Samples) => model.probability(samples.slice(-WINDOW_SAMPLES));

/** The probability after each text, which is followed by a pause with soft noise. */
async function probabilitiesOf(texts: readonly string[]): Promise<number[]> {
  const probabilities: number[] = [];
  for (const samples of await speak(texts)) {
    const { end } = edgesOf(samples);
    const spoken = joined([samples.slice(0, end), silence(TAIL_MS)]);
    const heard = resample(spoken, SPOKEN_RATE_HZ, LISTEN_RATE_HZ);
    probabilities.push(await probability(withNoise(heard, NOISE_DB)));
  }
  return probabilities;
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Saturation of int8 products, which `exactInt8` prevents, changes the first one by 0.3.
it.each(Object.entries(turnSignals()))(
  'returns about the probability of the reference: %s',
  async (name, samples) => {
    const expected = reference[name as keyof typeof reference].probability;
    expect(Math.abs((await probability(samples)) - expected)).toBeLessThan(0.1);
  },
);

it('separates complete sentences from the same sentences broken off at a hesitation', async () => {
  const sentences = SENTENCES.slice(0, repetitions(3, SENTENCES.length));
  const complete = await probabilitiesOf(sentences.map(([sentence]) => sentence));
  const brokenOff = await probabilitiesOf(sentences.map(([, fragment]) => fragment));
  expect(meanOf(complete), complete.join()).toBeGreaterThan(0.75);
  expect(meanOf(brokenOff), brokenOff.join()).toBeLessThan(0.25);
});

describe('recordings of human speech', () => {
  it.each([
    ['the end of a speech', () => recorded('jfk.flac', 0, 10.7)],
    ['the end of a long sentence', () => channelOf('stereo_diarization.wav', 0)],
    [
      'the end of a short sentence',
      async () => (await channelOf('stereo_diarization.wav', 1)).slice(0, 44_800),
    ],
  ])('%s is complete', async (_, samples) => {
    expect(await probability(await samples())).toBeGreaterThan(0.7);
  });

  it.each([
    ['"ask not"', 4.6],
    ['"ask not", half a second later', 5.1],
    ['"what your country can do for you"', 7.9],
  ])('the pause after %s is not complete', async (_, toS) => {
    expect(await probability(await recorded('jfk.flac', 0, toS))).toBeLessThan(0.3);
  });
});

describe('invalid model files', () => {
  it('rejects another graph', async () => {
    await expect(loadSmartTurn(sileroFile(modelsDir), 1)).rejects.toThrow();
  });

  it('rejects a truncated file', async () => {
    const path = join(await tempDir(), 'cut.onnx');
    await Bun.write(path, (await Bun.file(smartTurnFile(modelsDir)).bytes()).slice(0, 100_000));
    await expect(loadSmartTurn(path, 1)).rejects.toThrow();
  });
});
