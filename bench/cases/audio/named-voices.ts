/** Named voices of the embedded model: how different OpenAI's voices are, and what `speed` changes. */

import { loadConfig } from '../../../server/config.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { type NamedVoice, OPENAI_VOICES } from '../../../src/contract/engines/named-voice.ts';
import type { VoiceWork } from '../../../src/contract/engines/voice.ts';
import { cosineSimilarity, meanDirection } from '../../../src/engines/speakers/host/voice-print.ts';
import { once } from '../../../src/kit/async/once.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import { openEngines } from '../../../tools/harness/models/open-engines.ts';
import { toListenRate } from '../../corpus/wav-file.ts';
import { finalText } from '../../listening.ts';
import { type Row, report } from '../../report.ts';
import { median } from '../../statistics.ts';

const MODEL = 'tts-1';
const SPEEDS = [0.7, 1.5] as const;
const MAX_CHANGE_PERCENT = 5;
const MAX_MORE_ERRORS_POINTS = 1;
/** Presets that are compared for the gender of a voice. */
const NEIGHBOURS = 3;
const TEXTS = [
  'The old library on the corner closes at six, but the garden behind it stays open until dark.',
  'Please leave your umbrella by the door, because the floor has just been polished.',
  'She asked whether you could bring five copies of the report before the meeting starts.',
  'When the sun rose over the quiet village, was everyone already awake?',
  'The first train to the coast is crowded in summer, so we usually take the second one.',
  'He poured the coffee slowly, looked out of the window and said nothing for a while.',
  'Could you tell me how long the repair will take and what it is going to cost?',
  'Most of the apples were red, but my sister had chosen the smallest green one.',
];
const WORK: VoiceWork = { priority: 'interactive', fairnessKey: 'bench' };
const NEVER = new AbortController().signal;

/** One text, spoken. */
interface MeasuredSpeech {
  readonly print: Float32Array;
  readonly pitchHz: number;
  readonly seconds: number;
  readonly errors: number;
  readonly words: number;
}

/** All texts, by the speed. */
type MeasuredVoice = ReadonlyMap<number, readonly MeasuredSpeech[]>;

export async function benchNamedVoices(): Promise<void> {
  const { listed, measure, close } = await openNamedVoices();
  const measured = new Map<string, MeasuredVoice>();
  try {
    const isEnglish = ({ language }: NamedVoice) => language.startsWith('en');
    for (const { id } of listed.filter((voice) => voice.preset === undefined && isEnglish(voice))) {
      const bySpeed = new Map<number, MeasuredSpeech[]>();
      for (const speed of [1, ...SPEEDS]) {
        const texts: MeasuredSpeech[] = [];
        for (const text of TEXTS) texts.push(await measure(id, text, speed));
        bySpeed.set(speed, texts);
      }
      measured.set(id, bySpeed);
      console.error(`${id}: ${speedNote(bySpeed)}`);
    }
  } finally {
    await close();
  }
  const openai = listed.filter(({ id }) => OPENAI_VOICES.some((name) => name === id));
  const { rows, notes } = distinguished(openai, measured);
  await report(
    'named-voices',
    'Named voices of the embedded model',
    [...rows, ...SPEEDS.flatMap((speed) => speedRows(speed, measured))],
    [
      `${TEXTS.length} English sentences per voice and speed; all presets are English voices. Voice prints are by Resemblyzer, transcripts by Whisper base (svc-stt).`,
      'A sentence is attributed to the voice whose other sentences have the most similar mean voice print.',
      ...notes,
    ],
  );
}

async function openNamedVoices() {
  const { modelsDir, inference } = loadConfig({});
  const voice = 'af_heart';
  const { slots, close } = await openEngines({
    needs: new Set(['tts', 'stt', 'speakers']),
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
  const { speakers } = slots;
  if (!engine?.voices || !transcriber || !speakers) throw new Error('an engine is missing');
  const measure = async (voiceName: string, text: string, speed: number): Promise<MeasuredSpeech> => {
    const runs: Float32Samples[] = [];
    const request = { text, voiceName, speed, delivery: 'whole', ...WORK } as const;
    for await (const run of engine.synthesize(request, NEVER)) runs.push(run);
    const samples = toListenRate(joined(runs), engine.rateHz);
    const { embedding, pitchHz = Number.NaN } = await speakers.encodeSpeaker(samples, WORK, NEVER);
    const { errors, words } = wordErrors(text, await finalText(transcriber, once(samples), 'en'));
    return { print: embedding, pitchHz, seconds: samples.length / LISTEN_RATE_HZ, errors, words };
  };
  return { listed: engine.voices, measure, close };
}

/** Whether the voices differ from each other, and have the gender that they are listed with. */
function distinguished(openai: readonly NamedVoice[], measured: ReadonlyMap<string, MeasuredVoice>) {
  const printsOf = (preset: string) =>
    measured
      .get(preset)
      ?.get(1)
      ?.map(({ print }) => print) ?? [];
  const meanOf = (preset: string) => meanDirection(printsOf(preset));
  const presets = openai.map(({ preset = '' }) => preset);
  let [confused, own] = [0, 1];
  for (const preset of presets) {
    const prints = printsOf(preset);
    for (const [index, print] of prints.entries()) {
      const self = cosineSimilarity(print, meanDirection(prints.toSpliced(index, 1)));
      const others = presets.filter((other) => other !== preset);
      const nearest = Math.max(...others.map((other) => cosineSimilarity(print, meanOf(other))));
      own = Math.min(own, self);
      if (nearest >= self) confused += 1;
    }
  }
  const rows: { id: string; note: string; similarity: number; isOfGender: boolean }[] = openai.map(
    (voice) => {
      const { id, preset = '', gender } = voice;
      const similarity = (other: string) => cosineSimilarity(meanOf(preset), meanOf(other));
      const others = openai.filter((other) => other !== voice);
      const [nearest] = others.toSorted((a, b) => similarity(b.preset ?? '') - similarity(a.preset ?? ''));
      const likeness = similarity(nearest?.preset ?? '');
      const neighbours = [...measured.keys()]
        .filter((name) => name !== preset)
        .toSorted((one, other) => similarity(other) - similarity(one))
        .slice(0, NEIGHBOURS);
      const isFemale = neighbours.filter((name) => name[1] === 'f').length > NEIGHBOURS / 2;
      const pitch = median(
        measured
          .get(preset)
          ?.get(1)
          ?.map(({ pitchHz }) => pitchHz) ?? [],
      );
      return {
        id,
        similarity: likeness,
        isOfGender: isFemale === (gender === 'female'),
        note: `${id}: ${preset}, ${gender}, ${pitch.toFixed(0)} Hz, most similar to ${nearest?.id} (${likeness.toFixed(2)})`,
      };
    },
  );
  const result: Row[] = [
    {
      measure: `sentences of OpenAI's ${openai.length} voices that are attributed to another one, of ${openai.length * TEXTS.length}`,
      ours: confused,
      unit: '',
      target: 0,
    },
    {
      measure: `similarity (cosine of voice prints) of the two most similar of OpenAI's voices; baseline: the lowest of a sentence to its own voice`,
      ours: Math.max(...rows.map(({ similarity }) => similarity)),
      peer: own,
      unit: '',
      target: 0,
      judged: 'difference',
    },
    {
      measure: `OpenAI's voices of which most of the ${NEIGHBOURS} most similar presets have the other gender`,
      ours: rows.filter(({ isOfGender }) => !isOfGender).length,
      unit: '',
      target: 0,
    },
  ];
  return { rows: result, notes: rows.map(({ note }) => note) };
}

/** Percent by which a measure at a speed differs from what it must be. */
function changes(voice: MeasuredVoice, speed: number) {
  const natural = voice.get(1) ?? [];
  const fast = voice.get(speed) ?? [];
  const secondsOf = (texts: readonly MeasuredSpeech[]) =>
    texts.reduce((sum, { seconds }) => sum + seconds, 0);
  const pitchRatios = fast.map(({ pitchHz }, index) => pitchHz / (natural[index]?.pitchHz ?? Number.NaN));
  const percent = (ratio: number) => 100 * Math.abs(ratio - 1);
  return {
    duration: percent((secondsOf(fast) * speed) / secondsOf(natural)),
    pitch: percent(median(pitchRatios)),
  };
}

function speedNote(voice: MeasuredVoice): string {
  const parts = SPEEDS.map((speed) => {
    const { duration, pitch } = changes(voice, speed);
    const errors = (voice.get(speed) ?? []).reduce((sum, text) => sum + text.errors, 0);
    return `speed ${speed}: duration off by ${duration.toFixed(1)} %, pitch by ${pitch.toFixed(1)} %, ${errors} wrong words`;
  });
  return parts.join('; ');
}

function speedRows(speed: number, measured: ReadonlyMap<string, MeasuredVoice>): Row[] {
  const all = [...measured].map(([id, voice]) => ({ id, ...changes(voice, speed) }));
  const worst = (key: 'duration' | 'pitch') => all.toSorted((a, b) => b[key] - a[key])[0];
  const errorPercent = (at: number) => {
    const texts = measured
      .values()
      .flatMap((voice) => voice.get(at) ?? [])
      .toArray();
    const sum = (key: 'errors' | 'words') => texts.reduce((total, text) => total + text[key], 0);
    return (100 * sum('errors')) / sum('words');
  };
  return [
    {
      measure: `speed ${speed}: duration, largest difference from the ratio of ${all.length} presets (${worst('duration')?.id})`,
      ours: worst('duration')?.duration ?? Number.NaN,
      unit: '%',
      target: MAX_CHANGE_PERCENT,
    },
    {
      measure: `speed ${speed}: median pitch, largest change of ${all.length} presets (${worst('pitch')?.id})`,
      ours: worst('pitch')?.pitch ?? Number.NaN,
      unit: '%',
      target: MAX_CHANGE_PERCENT,
    },
    {
      measure: `speed ${speed}: word error rate of all presets, more than at speed 1 (${errorPercent(1).toFixed(2)} %)`,
      ours: errorPercent(speed) - errorPercent(1),
      unit: 'points',
      target: MAX_MORE_ERRORS_POINTS,
    },
  ];
}
