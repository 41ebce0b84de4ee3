/** Texts spoken by this service and by kokoro-onnx with misaki's phonemes, as Whisper base hears them. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../server/config.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type { SpokenWord } from '../../src/contract/engines/engine.ts';
import { once } from '../../src/kit/async/once.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { resolveModelFiles } from '../../src/models/model-files.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';
import { openEngines } from '../../tools/harness/models/open-engines.ts';
import { readWav, toListenRate } from '../corpus/wav-file.ts';
import { finalText } from '../listening.ts';
import { pinned, runPeer } from '../python.ts';

const MODEL = 'tts-1';
/** Without them, Whisper base writes Hindi in Arabic letters, and some Mandarin in traditional characters. */
const PROMPTS: Readonly<Record<string, string>> = {
  hi: 'यह हिंदी में एक वाक्य है।',
  zh: '以下是普通话的句子。',
};
/** Audio of the baseline is kept between runs. */
const CACHE = join(import.meta.dirname, '../../.cache/bench-languages');
const PEER_RATE_HZ = 24_000;
const NEVER = new AbortController().signal;

export interface SpokenAudio {
  /** At {@link LISTEN_RATE_HZ}. */
  readonly samples: Float32Samples;
  readonly seconds: number;
  readonly words: readonly SpokenWord[];
}

export interface SpeakingAndListening {
  /**
   * @param tag BCP 47 tag.
   * @param voiceName of the model. Default: the voice of the language.
   */
  speak(text: string, tag: string, voiceName?: string): Promise<SpokenAudio>;
  /** Whisper's transcript. @param code ISO 639-1. */
  hear(samples: Float32Samples, code: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens the speech model with a default voice, whose norm statistics are measured, as the service does with all voices in the minutes
 * after its start.
 */
export async function openSpeakingAndListening(voice: string): Promise<SpeakingAndListening> {
  const { modelsDir, inference } = loadConfig({});
  const { slots, close } = await openEngines({
    needs: new Set(['tts', 'stt']),
    models: {
      speech: new Map([[MODEL, { kind: 'kokoro', voice, voices: 'presets' }]]),
      transcription: new Map([['stt', { kind: 'whisper', weights: 'base' }]]),
    },
    inference,
    modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  const engine = slots.tts?.get(MODEL);
  const transcriber = slots.stt?.get('stt');
  if (!engine || !transcriber) throw new Error('an engine is missing');
  return {
    async speak(text, tag, voiceName) {
      const runs: Float32Samples[] = [];
      const words: SpokenWord[] = [];
      const voice = voiceName === undefined ? {} : { voiceName };
      const request = {
        text,
        language: tag,
        speed: 1,
        delivery: 'whole',
        priority: 'interactive',
        ...voice,
      } as const;
      const onWords = (spoken: readonly SpokenWord[]) => words.push(...spoken);
      for await (const run of engine.synthesize({ ...request, fairnessKey: 'bench', onWords }, NEVER)) {
        runs.push(run);
      }
      const samples = toListenRate(joined(runs), engine.rateHz);
      return { samples, seconds: samples.length / LISTEN_RATE_HZ, words };
    },
    hear: (samples, code) => finalText(transcriber, once(samples), code, PROMPTS[code]),
    close,
  };
}

interface PeerLine {
  readonly text: string;
  readonly path: string;
}

/**
 * The baseline's audio of texts, at {@link LISTEN_RATE_HZ}, by text. Synthesized in the first run.
 * @param voice preset of Kokoro.
 */
export async function baselineAudio(
  tag: string,
  voice: string,
  texts: readonly string[],
): Promise<ReadonlyMap<string, Float32Samples>> {
  const { modelsDir } = loadConfig({});
  const model = resolveModelFiles(modelsDir, 'kokoro-82m-int8')['kokoro-v1.0.int8.onnx'] ?? '';
  const path = resolveModelFiles(modelsDir, 'kokoro-voices')[`${voice}.bin`] ?? '';
  const key = Bun.hash(JSON.stringify([await pinned('languages'), model, path, texts])).toString(16);
  const folder = join(CACHE, `${tag}-${key}`);
  const list = Bun.file(join(folder, 'files.json'));
  let lines: readonly PeerLine[];
  if (await list.exists()) lines = await list.json();
  else {
    mkdirSync(folder, { recursive: true });
    const jobs = JSON.stringify([{ language: tag, voice: path, texts }]);
    lines = await runPeer<PeerLine>('languages/misaki_kokoro_peer.py', [model, folder], jobs);
    await Bun.write(list, JSON.stringify(lines));
  }
  const audio = new Map<string, Float32Samples>();
  for (const line of lines) audio.set(line.text, toListenRate(await readWav(line.path), PEER_RATE_HZ));
  return audio;
}
