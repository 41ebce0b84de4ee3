/**
 * Clips for transcription benchmarks: utterances of piper and eSpeak, clean and with noise, real recordings, clips of
 * exact lengths for latency, and sounds without speech. Generated once and cached; identical on every machine.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeToFloat32 } from '../../src/audio/codec.ts';
import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';
import { launchService, NO_RECOGNISER, NO_TEXT } from '../../tools/harness/services/launcher.ts';
import { runPeer } from '../python.ts';
import { speak } from '../service.ts';
import type { Clip, NoiseKind, TimedClip, TranscriptionCorpus, Utterance } from './clip.ts';
import { noise, rms, scaled, withNoise } from './noise.ts';
import { recordings } from './recordings.ts';
import { soundsWithoutSpeech } from './sounds.ts';
import { bestFits, filled } from './timed-clips.ts';
import { readWav, toListenRate, writeWav } from './wav-file.ts';

const FOLDER = join(import.meta.dirname, '../../.cache/bench-transcription');
const ESPEAK_SCRIPT = join(import.meta.dirname, '../peers/espeak_speech.py');
const NOISE_RATIO_DB = 10;
const SPEECH_LEVEL = 0.07;
const NOISES: readonly NoiseKind[] = ['white', 'pink', 'babble'];
const BABBLE_VOICES = 6;
const PIPER_RATE_HZ = 24_000;
const PIPER_ONLY = `
[models."svc-tts"]
kind = "piper"
${NO_RECOGNISER}${NO_TEXT}`;
/** `en` is British English. */
const ESPEAK_VOICES = ['en-us', 'en-us+f2', 'en-us+m3', 'en-us+f4', 'en', 'en+f3', 'en+m7', 'en-us+m1'];
/** Words per minute. The default of eSpeak is 175. */
const ESPEAK_RATES = [150, 165, 140];
const TIMED_S = { '3 s': 3, '8 s': 8, '25 s': 25 };
const CLIPS_OF_A_LENGTH = 3;
const LONG_S = 300;
/** Number of texts at the beginning that are shorter than 2 s. */
const COMMANDS = 12;

/** The corpus. The first call generates it in about a minute. */
export async function transcriptionCorpus(): Promise<TranscriptionCorpus> {
  const folder = join(FOLDER, recipeHash());
  const manifest = join(folder, 'corpus.json');
  if (!existsSync(manifest)) {
    mkdirSync(folder, { recursive: true });
    await Bun.write(manifest, JSON.stringify(await make(folder), null, 1));
  }
  // The manifest has relative paths, so that the cache can be moved.
  return JSON.parse(await Bun.file(manifest).text(), (key, value) =>
    key === 'audio' ? join(folder, value) : value,
  );
}

/** Hash of all sources of the corpus. */
function recipeHash(): string {
  const hash = createHash('sha256');
  const entries = readdirSync(import.meta.dirname, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  for (const name of files.sort()) hash.update(readFileSync(join(import.meta.dirname, name)));
  return hash.update(readFileSync(ESPEAK_SCRIPT)).digest('hex').slice(0, 12);
}

async function make(folder: string): Promise<TranscriptionCorpus> {
  const texts = (await Bun.file(join(import.meta.dirname, 'texts.txt')).text()).trim().split('\n');
  const piper = await spokenByPiper(texts);
  const espeak = await spokenByEspeak(texts, folder);
  const babble = (seed: number, length: number) => babbleOf([...piper, ...espeak], seed, length);

  const noisy = async (speech: Float32Samples, kind: NoiseKind, seed: number) => {
    const added = kind === 'babble' ? babble(seed, speech.length) : noise(kind, speech.length, seed);
    return withNoise(speech, added, NOISE_RATIO_DB);
  };
  const utterance = async (i: number, voice: string, clean: Float32Samples, withNoiseIn: boolean) => {
    const kind = NOISES[i % NOISES.length] ?? 'white';
    const noiseName = withNoiseIn ? kind : 'none';
    const samples = withNoiseIn ? await noisy(clean, kind, 100 + i) : clean;
    const id = `${voice.startsWith('piper') ? 'piper' : 'espeak'}-${String(i).padStart(2, '0')}-${noiseName}`;
    return { ...(await saved(folder, id, samples, texts[i] ?? '')), voice, noise: noiseName } as const;
  };
  const test: Utterance[] = [];
  const tuning: Utterance[] = [];
  for (const i of texts.keys()) {
    const [byPiper, byEspeak] = [piper[i] ?? new Float32Array(), espeak[i] ?? new Float32Array()];
    const noisyPiper = i % 2 === 0;
    test.push(await utterance(i, 'piper', byPiper, noisyPiper));
    test.push(await utterance(i, espeakVoice(i), byEspeak, !noisyPiper));
    tuning.push(await utterance(i, 'piper', byPiper, !noisyPiper));
    tuning.push(await utterance(i, espeakVoice(i), byEspeak, noisyPiper));
  }

  const timed: TimedClip[] = [];
  const [sentences, speech] = [texts.slice(COMMANDS), piper.slice(COMMANDS)];
  for (const [group, seconds] of Object.entries(TIMED_S)) {
    for (const [k, fit] of bestFits(sentences, speech, seconds, CLIPS_OF_A_LENGTH).entries()) {
      const clip = await saved(folder, `timed-${seconds}s-${k}`, fit.samples, fit.text);
      timed.push({ ...clip, group });
    }
  }
  const long = filled(sentences, speech, LONG_S);
  timed.push({ ...(await saved(folder, 'timed-5min', long.samples, long.text)), group: '5 min' });

  const sounds: Clip[] = [];
  for (const { name, samples } of soundsWithoutSpeech()) sounds.push(await saved(folder, name, samples, ''));
  return { test, tuning, recordings: await recordings(folder), timed, sounds };
}

async function saved(folder: string, id: string, samples: Float32Samples, text: string): Promise<Clip> {
  const audio = `${id}.wav`;
  await writeWav(join(folder, audio), samples);
  return { id, audio, seconds: samples.length / LISTEN_RATE_HZ, text, language: 'en' };
}

/** The texts, spoken by piper in the real service. */
async function spokenByPiper(texts: readonly string[]): Promise<Float32Samples[]> {
  const service = await launchService({ config: PIPER_ONLY });
  try {
    const clips: Float32Samples[] = [];
    for (const text of texts) {
      const { body } = await speak(service, text);
      clips.push(levelled(toListenRate(decodeToFloat32(body, 'pcm16'), PIPER_RATE_HZ)));
    }
    return clips;
  } finally {
    await service.stop();
  }
}

function espeakVoice(i: number): string {
  return ESPEAK_VOICES[i % ESPEAK_VOICES.length] ?? 'en-us';
}

async function spokenByEspeak(texts: readonly string[], folder: string): Promise<Float32Samples[]> {
  const requests = texts.map((text, i) => ({
    path: join(folder, `raw-espeak-${i}.wav`),
    text,
    voice: espeakVoice(i),
    wordsPerMinute: ESPEAK_RATES[i % ESPEAK_RATES.length],
  }));
  const results = await runPeer<{ path: string; rateHz: number }>(
    'espeak_speech.py',
    [],
    requests.map((line) => JSON.stringify(line)).join('\n'),
  );
  const clips: Float32Samples[] = [];
  for (const { path, rateHz } of results) {
    clips.push(levelled(toListenRate(await readWav(path), rateHz)));
    await Bun.file(path).delete();
  }
  return clips;
}

/** Scales speech to the same loudness for every voice. */
function levelled(speech: Float32Samples): Float32Samples {
  return scaled(speech, SPEECH_LEVEL / rms(speech));
}

/** Several simultaneous voices, each at a different position of different clips. */
function babbleOf(clips: readonly Float32Samples[], seed: number, length: number): Float32Samples {
  const sum = new Float32Array(length);
  for (let voice = 0; voice < BABBLE_VOICES; voice++) {
    const first = (seed * 7 + voice * 23) % clips.length;
    const talk = joined(
      Array.from({ length: 12 }, (_, k) => clips[(first + k) % clips.length] ?? new Float32Array()),
    );
    const offset = (seed * 9973 + voice * 31_337) % talk.length;
    for (let i = 0; i < length; i++) sum[i] = (sum[i] ?? 0) + (talk[(offset + i) % talk.length] ?? 0);
  }
  return sum;
}
