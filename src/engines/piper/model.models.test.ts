import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/harness/tier.ts';
import { clickRatio, loudnessDb, maxGapMs, silentEdges } from '../../../test/media/audio-checks.ts';
import { maxPauseInWord, timedSpeech } from '../../../test/media/word-checks.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { splitSentences } from '../../audio/sentences.ts';
import { loadConfig } from '../../config/config.ts';
import { resultsOf, type SpeechModel, type SpeechRequest } from '../../inference/pool/model.ts';
import { resolveModelFiles } from '../../models/model-files.ts';
import { loadPiper } from './model.ts';
import { splitPiperGraph } from './split-graph.ts';
import { parsePiperSettings } from './voice-settings.ts';

const SENTENCE =
  'The harbour was quiet that morning, and two boats lay at the pier while a gull walked between them.';

let piper: SpeechModel;
beforeAll(async () => {
  const files = resolveModelFiles(loadConfig(process.env).modelsDir, 'piper-en-us-joe');
  piper = await loadPiper({
    model: files['en_US-joe-medium.onnx'] ?? '',
    settings: files['en_US-joe-medium.onnx.json'] ?? '',
    runtime: { provider: 'cpu', threads: 1 },
  });
});
afterAll(() => piper?.close());

async function chunksOf(fields: Partial<SpeechRequest> = {}): Promise<Float32Array[]> {
  const chunks: Float32Array[] = [];
  for await (const chunk of resultsOf(
    piper.open({ text: SENTENCE, speed: 1, delivery: 'stream', ...fields }),
  )) {
    if (chunk instanceof Float32Array) chunks.push(chunk);
  }
  return chunks;
}

/** Chunks of requests that several tests examine. */
const synthesized = new Map<string, Promise<Float32Array[]>>();

/** The chunks of a request, synthesized once. */
function chunksOnce(fields: Partial<SpeechRequest> = {}): Promise<Float32Array[]> {
  const key = JSON.stringify(fields);
  const chunks = synthesized.get(key) ?? chunksOf(fields);
  synthesized.set(key, chunks);
  return chunks;
}

describe('decoding in windows', () => {
  it('gives the same samples as decoding the whole', async () => {
    const [stream, whole] = [await chunksOnce(), await chunksOnce({ delivery: 'whole' })];
    expect(stream.length).toBeGreaterThan(whole.length);
    const [a, b] = [joined(stream), joined(whole)];
    expect(a.length).toBe(b.length);
    expect(Math.max(...a.map((sample, at) => Math.abs(sample - (b[at] ?? 0))))).toBeLessThan(1e-5);
  });

  it('ends with its last window', async () => {
    const steps = piper.open({ text: SENTENCE, speed: 1, delivery: 'stream', words: true });
    let step = await steps.next();
    while (!step.done) step = await steps.next();
    expect(step.value).toBeInstanceOf(Float32Array);
  });

  it('has no clicks at window boundaries', async () => {
    const chunks = await chunksOnce();
    const samples = joined(chunks);
    let at = 0;
    for (const chunk of chunks.slice(0, -1)) {
      at += chunk.length;
      expect(clickRatio(samples, at, piper.description.rateHz)).toBeLessThan(1.5);
    }
  });
});

const SPOKEN_TEXTS = readFileSync(
  join(import.meta.dirname, '../../../tools/harness/media/spoken-texts.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { id: string; text: string; spoken: string });

it.each(SPOKEN_TEXTS.slice(0, repetitions(4, SPOKEN_TEXTS.length)))(
  'the audio of "$id" has the properties of speech',
  async ({ text, spoken }) => {
    const sentences = splitSentences(text).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
    let seconds = 0;
    for (const sentence of sentences) {
      const chunks = await chunksOf({ text: sentence });
      const samples = joined(chunks);
      seconds += samples.length / piper.description.rateHz;
      expect(samples.every(Number.isFinite)).toBe(true);
      expect(loudnessDb(samples)).toBeGreaterThan(-35);
      expect(loudnessDb(samples)).toBeLessThan(-12);
      const { leadMs, trailMs } = silentEdges(samples, piper.description.rateHz);
      // This voice breathes for half a second before some sentences.
      expect(leadMs).toBeLessThan(550);
      expect(trailMs).toBeLessThan(700);
      expect(maxGapMs(samples, piper.description.rateHz)).toBeLessThan(800);
      let seam = 0;
      for (const chunk of chunks.slice(0, -1)) {
        seam += chunk.length;
        expect(clickRatio(samples, seam, piper.description.rateHz)).toBeLessThan(1.5);
      }
    }
    // Outside these speaking rates, words would be missing or repeated.
    const wordsPerSecond = spoken.split(' ').length / seconds;
    expect(wordsPerSecond).toBeGreaterThan(1.2);
    expect(wordsPerSecond).toBeLessThan(4.5);
  },
);

it.each([
  ['Stop! Then go, quietly, home: it costs $5.', 1],
  ['Hello there. How are you?', 0.7],
])('the times of the words of "%s" at speed %d match the pauses of the audio', async (text, speed) => {
  const speech = await timedSpeech(piper, text, 22_050, speed);
  expect(speech.words.map((word) => word.text).join('')).toBe(text);
  expect(speech.words).toHaveLength(text.split(' ').length);
  expect(speech.isAhead).toBe(true);
  expect(maxPauseInWord(speech, 22_050)).toBeLessThan(100);
});

it('is deterministic for the same text', async () => {
  expect(joined(await chunksOf())).toEqual(joined(await chunksOnce()));
});

it('has a duration that follows the speed', async () => {
  const lengthAt = async (speed: number) => joined(await chunksOnce(speed === 1 ? {} : { speed })).length;
  const natural = await lengthAt(1);
  // A phoneme has at least one frame, so half the length cannot be reached.
  expect((await lengthAt(2)) / natural).toBeLessThan(0.75);
  expect((await lengthAt(0.5)) / natural).toBeGreaterThan(1.6);
});

describe('invalid voice files', () => {
  it.each(['{}', '[]', '{"audio":{"sample_rate":"fast"}}', 'not JSON'])(
    'settings %j are rejected',
    (json) => {
      expect(() => parsePiperSettings(json)).toThrow();
    },
  );

  it('graphs are rejected', () => {
    expect(() => splitPiperGraph(new Uint8Array(0))).toThrow();
    expect(() => splitPiperGraph(Uint8Array.of(1, 2, 3, 255, 255))).toThrow();
  });
});

it('speaks the sounds that a request gives, and reads other words as written', async () => {
  const text = 'The red boat.';
  const sounds = (ipa: string) => chunksOf({ text, givenSounds: [{ start: 4, end: 7, ipa }] }).then(joined);
  const written = joined(await chunksOf({ text }));
  // The sounds that the voice has for the word as written.
  expect(await sounds('ɹˈɛd')).toEqual(written);
  expect(await sounds("r'ɛd")).toEqual(written);
  expect(await sounds('bɹaʊnɪʃ')).not.toEqual(written);
  expect(await sounds('字')).toEqual(written);
});
