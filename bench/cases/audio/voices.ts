/** Stored voices of the embedded model: similarity to the speaker, intelligibility and time. */

import { loadConfig } from '../../../server/config.ts';
import { encodeWav } from '../../../src/audio/wav.ts';
import { newId } from '../../../src/contract/core/id.ts';
import { type Float32Samples, LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { SpokenVoice } from '../../../src/contract/engines/spoken-voice.ts';
import type { SpeakerPrint, VoiceFitter, VoiceWork } from '../../../src/contract/engines/voice.ts';
import type { KokoroModelSettings } from '../../../src/engines/kokoro/settings.ts';
import { englishPresetNames } from '../../../src/engines/kokoro/shared/voice-mix.ts';
import type { PiperModelSettings } from '../../../src/engines/piper/settings.ts';
import { cosineSimilarity, meanDirection } from '../../../src/engines/speakers/host/voice-print.ts';
import { once } from '../../../src/kit/async/once.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { type WordErrors, wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import { openEngines } from '../../../tools/harness/models/open-engines.ts';
import {
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  SERVICE_KEY,
} from '../../../tools/harness/services/launcher.ts';
import { toListenRate } from '../../corpus/wav-file.ts';
import { finalText } from '../../listening.ts';
import { report } from '../../report.ts';
import { mean, median } from '../../statistics.ts';
import { benchSpeakers, type Speaker } from '../../voices/speakers.ts';

const DEFAULT = 'af_heart';
const MIN_GAIN = 0.1;
const WER_PERCENT = 8;
const ENROLLMENT_S = 2;
/** Not the texts on which the preset voices were measured. */
const TEXTS = [
  'The old library on the corner closes at six, but the garden behind it stays open until dark.',
  'Please leave your umbrella by the door, because the floor has just been polished.',
];
const WORK: VoiceWork = { priority: 'interactive', fairnessKey: 'bench' };
const NEVER = new AbortController().signal;

export async function benchVoices(): Promise<void> {
  const engines = await openVoiceEngines();
  let speakers: Speaker[];
  const results: Result[] = [];
  try {
    speakers = await benchSpeakers(async (text) =>
      toListenRate(await engines.say(text, 'piper'), engines.rateHz),
    );
    const presets: { readonly name: string; readonly print: Float32Array }[] = [];
    for (const name of englishPresetNames())
      presets.push({ name, print: (await engines.measure(name)).print });
    for (const speaker of speakers) {
      results.push(await fitted(engines, speaker, presets));
      console.error(lineOf(results.at(-1) as Result));
    }
  } finally {
    await engines.close();
  }
  await write(results, await enrollments(speakers));
}

interface Result {
  readonly speaker: string;
  /** Cosine similarity of the voice prints of the speaker and of the synthesized texts. */
  readonly likeness: {
    readonly default: number;
    readonly best: number;
    readonly blend: number;
  };
  readonly bestPreset: string;
  readonly blendS: number;
  readonly words: WordErrors;
  /** Medians, in Hz. */
  readonly pitch: { readonly speaker: number | undefined; readonly fitted: number | undefined };
  /** Duration of the synthesized texts, compared with the default voice. */
  readonly pace: number;
}

async function fitted(
  engines: VoiceEngines,
  { id, samples }: Speaker,
  presets: readonly { readonly name: string; readonly print: Float32Array }[],
): Promise<Result> {
  const speaker = await engines.print(samples);
  const similarity = ({ print }: { readonly print: Float32Array }) =>
    cosineSimilarity(print, speaker.embedding);
  const best = presets.toSorted((a, b) => similarity(b) - similarity(a))[0] ?? {
    name: '',
    print: new Float32Array(0),
  };
  const start = performance.now();
  const adaptation = engines.fitter.createAdaptation(speaker);
  const blendS = (performance.now() - start) / 1000;
  const defaultVoice = await engines.measure(DEFAULT);
  const blend = await engines.measure(DEFAULT, adaptation);
  return {
    speaker: id,
    bestPreset: best.name,
    blendS,
    words: blend.words,
    likeness: {
      default: similarity(defaultVoice),
      best: similarity(best),
      blend: similarity(blend),
    },
    pitch: { speaker: speaker.pitchHz, fitted: blend.pitchHz },
    pace: blend.seconds / defaultVoice.seconds,
  };
}

interface MeasuredSpeech {
  readonly print: Float32Array;
  readonly pitchHz: number | undefined;
  readonly seconds: number;
  readonly words: WordErrors;
}

interface VoiceEngines {
  readonly fitter: VoiceFitter;
  readonly rateHz: number;
  print(samples: Float32Samples): Promise<SpeakerPrint>;
  /** @param model a voice of Kokoro, or `piper`. */
  say(text: string, model: string, adaptation?: string): Promise<Float32Samples>;
  /** Synthesizes the texts and measures the speech. */
  measure(model: string, adaptation?: string): Promise<MeasuredSpeech>;
  close(): Promise<void>;
}

/** The engines of the service, with each preset voice as a model. */
async function openVoiceEngines(): Promise<VoiceEngines> {
  const { modelsDir, inference } = loadConfig(process.env);
  const voices = [DEFAULT, ...englishPresetNames().filter((name) => name !== DEFAULT)];
  const { slots, close } = await openEngines({
    needs: new Set(['tts', 'stt', 'speakers', 'voiceFitter']),
    models: {
      speech: new Map<string, KokoroModelSettings | PiperModelSettings>([
        ...voices.map((voice) => [voice, { kind: 'kokoro', voice }] as const),
        ['piper', { kind: 'piper', voice: 'en_US-joe-medium' }] as const,
      ]),
      transcription: new Map([['stt', { kind: 'whisper', weights: 'tiny.en' }]]),
    },
    inference,
    modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  const { tts, stt, speakers, voiceFitter: fitter } = slots;
  const transcriber = stt?.get('stt');
  if (!tts || !transcriber || !speakers || !fitter) throw new Error('an engine is missing');
  const rateHz = SPEECH_RATE_HZ;
  const say = async (text: string, model: string, adaptation?: string): Promise<Float32Samples> => {
    const engine = tts.get(model);
    if (!engine) throw new Error(`no voice ${model}`);
    const voice = adaptation === undefined ? undefined : spokenVoice(adaptation);
    const runs: Float32Samples[] = [];
    const request = { text, voice, speed: 1, delivery: 'whole', ...WORK } as const;
    for await (const run of engine.synthesize(request, NEVER)) runs.push(run);
    return joined(runs);
  };
  const print = (samples: Float32Samples) => speakers.encodeSpeaker(samples, WORK, NEVER);
  return {
    fitter,
    rateHz,
    say,
    print,
    close,
    async measure(model, adaptation) {
      const prints: SpeakerPrint[] = [];
      let [seconds, errors, words] = [0, 0, 0];
      for (const text of TEXTS) {
        const samples = toListenRate(await say(text, model, adaptation), rateHz);
        seconds += samples.length / LISTEN_RATE_HZ;
        prints.push(await print(samples));
        const result = wordErrors(text, await finalText(transcriber, once(samples), 'en'));
        errors += result.errors;
        words += result.words;
      }
      return {
        print: meanDirection(prints.map(({ embedding }) => embedding)),
        pitchHz: prints[0]?.pitchHz,
        seconds,
        words: { errors, words },
      };
    },
  };
}

function spokenVoice(adaptation: string): SpokenVoice {
  return {
    id: newId('tts-vc-voice_'),
    adaptation,
    refText: '',
    clip: () => Promise.reject(new Error('this model needs no clip')),
  };
}

/** Duration of each enrollment over HTTP in seconds. */
async function enrollments(speakers: readonly Speaker[]): Promise<number[]> {
  const service = await launchService({ config: `${NO_RECOGNISER}${NO_TEXT}` });
  try {
    const times: number[] = [];
    for (const { id, samples, text } of speakers) {
      const form = new FormData();
      form.set(
        'audio_sample',
        new File([encodeWav(samples, LISTEN_RATE_HZ)], 'clip.wav', { type: 'audio/wav' }),
      );
      form.set('consent', 'The speaker consents.');
      form.set('name', id);
      form.set('ref_text', text);
      const start = performance.now();
      const headers = { authorization: `Bearer ${SERVICE_KEY}` };
      const response = await service.fetch('/v1/audio/voices', { method: 'POST', body: form, headers });
      const body = await response.text();
      if (!response.ok) throw new Error(`${id}: ${response.status} ${body}`);
      times.push((performance.now() - start) / 1000);
    }
    return times;
  } finally {
    await service.stop();
  }
}

async function write(results: readonly Result[], enrollmentS: readonly number[]): Promise<void> {
  const of = (pick: (result: Result) => number) => mean(results.map(pick));
  const distance = (which: keyof Result['likeness']) => 1 - of(({ likeness: by }) => by[which]);
  const errors = results.reduce((sum, { words }) => sum + words.errors, 0);
  const words = results.reduce((sum, result) => sum + result.words.words, 0);
  const what = `distance to the speaker (1 - cosine of voice prints), mean of ${results.length} speakers`;
  await report(
    'voices',
    'Stored voices: the embedded model fitted to a speaker',
    [
      {
        measure: `${what}; peer: the default voice`,
        ours: distance('blend'),
        peer: distance('default'),
        unit: '',
        target: -MIN_GAIN,
        judged: 'difference',
      },
      {
        measure: `${what}; peer: for each speaker the best of the model's ${englishPresetNames().length} English voices`,
        ours: distance('blend'),
        peer: distance('best'),
        unit: '',
        target: 0,
        judged: 'difference',
      },
      {
        measure: `word error rate of stored voices, ${words} words, heard by whisper tiny.en`,
        ours: (100 * errors) / words,
        unit: '%',
        target: WER_PERCENT,
      },
      {
        measure: 'enrollment over HTTP, slowest',
        ours: Math.max(...enrollmentS),
        unit: 's',
        target: ENROLLMENT_S,
      },
      { measure: 'enrollment over HTTP, median', ours: median(enrollmentS), unit: 's' },
      { measure: 'blend, slowest', ours: Math.max(...results.map(({ blendS }) => blendS)), unit: 's' },
    ],
    [
      `Voice prints of Resemblyzer for ${TEXTS.length} texts on which no voice was measured. The best preset voice is the most similar one for these texts.`,
      'A stored voice is a blend of preset voices. It does not clone the speaker.',
      ...results.map(lineOf),
    ],
  );
}

function lineOf({ speaker, likeness: by, bestPreset, words, pitch, pace }: Result): string {
  const cosines =
    `default ${by.default.toFixed(3)}, best ${by.best.toFixed(3)} (${bestPreset}), ` +
    `blend ${by.blend.toFixed(3)}`;
  const hz = (value: number | undefined) => value?.toFixed(0) ?? 'unknown';
  return `${speaker}: ${cosines}; ${words.errors} of ${words.words} words wrong; pitch ${hz(pitch.fitted)} Hz for ${hz(pitch.speaker)} Hz; length ${pace.toFixed(2)} of the default voice.`;
}
