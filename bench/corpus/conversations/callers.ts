/**
 * Callers of conversations: sentences of several synthetic voices at 16 kHz, with the times of their words. Generated once and
 * cached.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../server/config.ts';
import { Resampler } from '../../../src/audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { SpokenWord } from '../../../src/contract/engines/engine.ts';
import { loadKokoro } from '../../../src/engines/kokoro/worker/model.ts';
import { loadPiper } from '../../../src/engines/piper/model.ts';
import { resultsOf, type SpeechModel } from '../../../src/inference/pool/model.ts';
import { resolveModelFiles } from '../../../src/models/model-files.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { rms, scaled } from '../noise.ts';
import { readWav, writeWav } from '../wav-file.ts';

const FOLDER = join(import.meta.dirname, '../../../.cache/bench-callers');
const LINES = join(import.meta.dirname, 'caller-lines.txt');
const DICTATED = join(import.meta.dirname, 'dictated-values.txt');
const TEXTS = join(import.meta.dirname, '../texts.txt');
const KOKORO_VOICES = ['am_michael', 'af_bella', 'bm_george', 'af_nicole', 'am_puck', 'bf_emma'];
/** Every third sentence is spoken by Piper, so that not all callers have the voice model of the service. */
const PIPER_PERIOD = 3;
const PIPER_RATE_HZ = 22_050;
const LEVEL = 0.07;

export interface SpokenLine {
  readonly id: string;
  readonly text: string;
  readonly samples: Float32Samples;
  /** Words with times in ms. */
  readonly words: readonly SpokenWord[];
  /** Path of the samples as a WAV file. */
  readonly path: string;
}

export interface CallerLine extends SpokenLine {
  readonly conversation: number;
}

/** The lines of 15 conversations with four turns each, in order. */
export async function callerLines(): Promise<CallerLine[]> {
  const lines = readFileSync(LINES, 'utf8').trim().split('\n');
  const parsed = lines.map((line) => {
    const [conversation, text = ''] = line.split('|');
    return { conversation: Number(conversation), text };
  });
  // A caller has one voice.
  const spoken = await spokenLines(parsed.map(({ conversation, text }) => ({ text, voice: conversation })));
  return spoken.map((line, i) => ({ ...line, conversation: parsed[i]?.conversation ?? 0 }));
}

/** Complete sentences of several voices. @param voices number of voices that speak each text. */
export async function completeSentences(voices: number): Promise<SpokenLine[]> {
  const texts = readFileSync(TEXTS, 'utf8').trim().split('\n');
  const lines = readFileSync(LINES, 'utf8').trim().split('\n');
  const all = [...texts, ...lines.map((line) => line.split('|')[1] ?? '')];
  const requests = Array.from({ length: voices }, (_, round) =>
    all.map((text, i) => ({ text, voice: i + 2 * round })),
  );
  return await spokenLines(requests.flat());
}

/** Marks a pause of the speaker in the lines of dictated values. */
const PAUSE_MARK = ' | ';

/** A number or an address that is dictated in parts. */
export interface DictatedLine extends SpokenLine {
  /** Positions of the words after which the speaker pauses. */
  readonly pausesAfter: readonly number[];
}

export async function dictatedLines(): Promise<DictatedLine[]> {
  const lines = readFileSync(DICTATED, 'utf8').trim().split('\n');
  const parts = lines.map((line) => line.split(PAUSE_MARK));
  const spoken = await spokenLines(parts.map((of, voice) => ({ text: of.join(' '), voice })));
  return spoken.map((line, at) => {
    const counts = (parts[at] ?? []).slice(0, -1).map((part) => part.split(' ').length);
    const pausesAfter = counts.map((_, i) => counts.slice(0, i + 1).reduce((sum, count) => sum + count, -1));
    return { ...line, pausesAfter };
  });
}

interface SpeechRequest {
  readonly text: string;
  /** Number of the voice. */
  readonly voice: number;
}

/** Speaks the texts, or reads them from the cache. */
export async function spokenLines(requests: readonly SpeechRequest[]): Promise<SpokenLine[]> {
  mkdirSync(FOLDER, { recursive: true });
  const open = new Map<string, SpeechModel>();
  const lines: SpokenLine[] = [];
  try {
    for (const request of requests) lines.push(await spokenLine(request, open));
  } finally {
    for (const model of open.values()) await model.close();
  }
  return lines;
}

async function spokenLine(
  { text, voice }: SpeechRequest,
  open: Map<string, SpeechModel>,
): Promise<SpokenLine> {
  const name =
    voice % PIPER_PERIOD === 0
      ? 'piper'
      : (KOKORO_VOICES[Math.floor(voice / PIPER_PERIOD) % KOKORO_VOICES.length] ?? '');
  const id = createHash('sha256').update(`${name}|${text}`).digest('hex').slice(0, 12);
  const [path, times] = [join(FOLDER, `${id}.wav`), join(FOLDER, `${id}.json`)];
  if (!existsSync(times)) {
    const model = open.get(name) ?? (await openModel(name));
    open.set(name, model);
    const rateHz = name === 'piper' ? PIPER_RATE_HZ : SPEECH_RATE_HZ;
    const { samples, words } = await synthesize(model, text, rateHz);
    await writeWav(path, scaled(samples, LEVEL / rms(samples)));
    await Bun.write(times, JSON.stringify(words));
  }
  return { id, text, path, samples: await readWav(path), words: await Bun.file(times).json() };
}

async function openModel(name: string): Promise<SpeechModel> {
  const { modelsDir } = loadConfig(process.env);
  const runtime = { provider: 'cpu', threads: 2 } as const;
  if (name !== 'piper') return await loadKokoro({ modelsDir, voices: [name], runtime });
  const files = resolveModelFiles(modelsDir, 'piper-en-us-joe');
  return await loadPiper({
    model: files['en_US-joe-medium.onnx'] ?? '',
    settings: files['en_US-joe-medium.onnx.json'] ?? '',
    runtime,
  });
}

async function synthesize(model: SpeechModel, text: string, rateHz: number) {
  const resampler = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  const [runs, words]: [Float32Samples[], SpokenWord[]] = [[], []];
  for await (const result of resultsOf(model.open({ text, speed: 1, delivery: 'whole', words: true }))) {
    if (result instanceof Float32Array) runs.push(resampler.push(result));
    else words.push(...result);
  }
  runs.push(resampler.flush());
  resampler.close();
  return { samples: joined(runs), words };
}
