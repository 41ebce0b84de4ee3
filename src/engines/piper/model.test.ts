import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveModelFiles } from '../../../models/model-files.ts';
import { clickRatio, loudnessDb, maxGapMs, silentEdges } from '../../../test/media/audio-checks.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { splitSentences } from '../../audio/sentences.ts';
import { loadConfig } from '../../config/config.ts';
import type { SpeechModel, SpeechRequest } from '../pool/model.ts';
import { cutPiperGraph } from './piper-graph.ts';
import { loadPiper } from './piper-model.ts';
import { parsePiperVoice } from './piper-voice.ts';

const SENTENCE =
  'The harbour was quiet that morning, and two boats lay at the pier while a gull walked between them.';

let piper: SpeechModel;
beforeAll(async () => {
  const files = resolveModelFiles(loadConfig(process.env).modelsDir, 'piper-en-us-joe');
  piper = await loadPiper({
    model: files['en_US-joe-medium.onnx'] ?? '',
    settings: files['en_US-joe-medium.onnx.json'] ?? '',
    runtime: { provider: 'cpu', threads: 2 },
  });
});
afterAll(() => piper?.close());

async function runsOf(fields: Partial<SpeechRequest> = {}): Promise<Float32Array[]> {
  const runs: Float32Array[] = [];
  for await (const run of piper.open({ text: SENTENCE, speed: 1, delivery: 'stream', ...fields })) {
    if (run) runs.push(run);
  }
  return runs;
}

describe('windows', () => {
  it('give the samples of the whole, wherever they are cut', async () => {
    const [stream, whole] = [await runsOf(), await runsOf({ delivery: 'whole' })];
    expect(stream.length).toBeGreaterThan(whole.length);
    const [a, b] = [joined(stream), joined(whole)];
    expect(a.length).toBe(b.length);
    expect(Math.max(...a.map((sample, at) => Math.abs(sample - (b[at] ?? 0))))).toBeLessThan(1e-5);
  });

  it('leave no click at their seams', async () => {
    const runs = await runsOf();
    const samples = joined(runs);
    let at = 0;
    for (const run of runs.slice(0, -1)) {
      at += run.length;
      expect(clickRatio(samples, at, piper.description.rateHz)).toBeLessThan(1.5);
    }
  });
});

const SPOKEN_TEXTS = readFileSync(
  join(import.meta.dirname, '../../../test/fixtures/spoken-texts.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { id: string; text: string; spoken: string });

it.each(SPOKEN_TEXTS)('the sound of "$id" is that of speech', async ({ text, spoken }) => {
  const sentences = splitSentences(text).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  let seconds = 0;
  for (const sentence of sentences) {
    const runs = await runsOf({ text: sentence });
    const samples = joined(runs);
    seconds += samples.length / piper.description.rateHz;
    expect(samples.every(Number.isFinite)).toBe(true);
    expect(loudnessDb(samples)).toBeGreaterThan(-35);
    expect(loudnessDb(samples)).toBeLessThan(-12);
    const { leadMs, trailMs } = silentEdges(samples, piper.description.rateHz);
    // Before some sentences this voice takes a breath of half a second.
    expect(leadMs).toBeLessThan(550);
    expect(trailMs).toBeLessThan(700);
    expect(maxGapMs(samples, piper.description.rateHz)).toBeLessThan(800);
    let seam = 0;
    for (const run of runs.slice(0, -1)) {
      seam += run.length;
      expect(clickRatio(samples, seam, piper.description.rateHz)).toBeLessThan(1.5);
    }
  }
  // Nobody reads slower or faster aloud than this, so no word was lost or said twice by the dozen.
  const wordsASecond = spoken.split(' ').length / seconds;
  expect(wordsASecond).toBeGreaterThan(1.2);
  expect(wordsASecond).toBeLessThan(4.5);
});

it('says the same text in the same way', async () => {
  expect(joined(await runsOf())).toEqual(joined(await runsOf()));
});

it('speaks faster and slower when asked to', async () => {
  const lengthAt = async (speed: number) => joined(await runsOf({ speed })).length;
  const natural = await lengthAt(1);
  // A phoneme has one frame at least, so half the length cannot be reached.
  expect((await lengthAt(2)) / natural).toBeLessThan(0.75);
  expect((await lengthAt(0.5)) / natural).toBeGreaterThan(1.6);
});

describe('files that are no voice', () => {
  it.each(['{}', '[]', '{"audio":{"sample_rate":"fast"}}', 'no JSON'])('settings %j', (json) => {
    expect(() => parsePiperVoice(json)).toThrow();
  });

  it('a graph', () => {
    expect(() => cutPiperGraph(new Uint8Array(0))).toThrow();
    expect(() => cutPiperGraph(Uint8Array.of(1, 2, 3, 255, 255))).toThrow();
  });
});
