import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveModelFiles } from '../../../models/model-files.ts';
import { channelOf, recorded, soundsWithoutSpeech } from '../../../test/media/heard-audio.ts';
import { transcriptWords } from '../../../test/reference/transcript-normalizer.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { openEngines } from '../../../tools/harness/models/open-engines.ts';
import { childrenOf, INFERENCE } from '../../../tools/harness/services/launcher.ts';
import { loadConfig } from '../../config/config.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type {
  AudioChunk,
  SttEngine,
  Transcript,
  TranscriptionRequest,
} from '../../contract/engines/engine.ts';
import { systemClock } from '../../kit/clock.ts';

/** The shipped model in its process, and real recordings. */

const JFK =
  'And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.';
const LEFT =
  'He began a confused complaint against the wizard who had vanished behind the curtain on the left.';
const RIGHT = 'The horizon seems extremely distant.';
const never = new AbortController().signal;
const { modelsDir } = loadConfig(process.env);
/** Tells this file's process from those of tests that run beside it. */
const MARK = `WHISPER_TEST_MARK=${crypto.randomUUID()}`;

interface Opened {
  readonly engine: SttEngine;
  close(): Promise<void>;
}

async function open(weights: string): Promise<Opened> {
  const [name = '', mark = ''] = MARK.split('=');
  const { slots, close } = await openEngines({
    needs: new Set(['stt']),
    ttsModels: new Map(),
    sttModels: new Map([['it', { kind: 'whisper', weights }]]),
    inference: { provider: 'cpu', workers: 1, threads: 2, queueLimit: 64, environment: { [name]: mark } },
    modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  const engine = slots.stt?.get('it');
  if (engine === undefined) throw new Error('the table lacks its only model');
  return { engine, close };
}

let opened: Opened;
beforeAll(async () => {
  opened = await open('base');
});
afterAll(() => opened?.close());

async function* pieces(samples: Float32Samples, length = samples.length, pauses = false) {
  for (let at = 0; at < samples.length; at += length) {
    yield samples.slice(at, at + length) as AudioChunk;
    if (pauses) yield 'pause' as const;
  }
}

async function heard(
  audio: Float32Samples | AsyncIterable<AudioChunk>,
  fields: Partial<TranscriptionRequest> = {},
  { engine } = opened,
): Promise<Transcript> {
  const request: TranscriptionRequest = {
    task: 'transcribe',
    timestamps: 'none',
    priority: 'interactive',
    fairnessKey: 'a',
    ...fields,
  };
  const source = audio instanceof Float32Array ? pieces(audio) : audio;
  for await (const event of engine.transcribe(source, request, never)) {
    if (event.kind === 'final') return event.transcript;
  }
  throw new Error('no final');
}

/** Words that were misheard, left out or made up, over those that were said. */
function wordErrorRate(text: string, said: string): number {
  const wanted = transcriptWords(said);
  let costs = Array.from({ length: wanted.length + 1 }, (_, i) => i);
  for (const [row, word] of transcriptWords(text).entries()) {
    const above = costs;
    costs = [row + 1];
    for (const [i, other] of wanted.entries()) {
      const changed = (above[i] ?? 0) + (word === other ? 0 : 1);
      costs.push(Math.min(changed, (above[i + 1] ?? 0) + 1, (costs[i] ?? 0) + 1));
    }
  }
  return (costs.at(-1) ?? 0) / wanted.length;
}

describe('a speech', () => {
  const heardJfk = async (timestamps: TranscriptionRequest['timestamps']) =>
    heard(await recorded('jfk.flac'), { timestamps });

  test('is written word for word, in its language', async () => {
    const { text, language, durationS } = await heardJfk('none');
    expect(transcriptWords(text)).toEqual(transcriptWords(JFK));
    expect(language).toBe('en');
    expect(durationS).toBeCloseTo(11, 1);
  });

  test('has its words at their times', async () => {
    const { words, segments, durationS } = await heardJfk('word');
    expect(transcriptWords(words.map(({ word }) => word).join(' '))).toEqual(transcriptWords(JFK));
    let lastS = 0;
    for (const { startS, endS } of words) {
      expect(startS).toBeGreaterThanOrEqual(lastS);
      expect(endS).toBeGreaterThanOrEqual(startS);
      lastS = endS;
    }
    expect(lastS).toBeLessThanOrEqual(durationS);
    expect(segments.at(-1)?.endS).toBeLessThanOrEqual(durationS);
    // As faster-whisper 1.2 places them with the same weights; words beside pauses are anybody's guess.
    const startsOf = (wanted: string) =>
      words.filter(({ word }) => transcriptWords(word)[0] === wanted).map(({ startS }) => startS);
    for (const [word, ...startsS] of [
      ['fellow', 1.18],
      ['country', 5.76, 9.96],
      ['can', 6.26, 9.04],
      ['for', 6.82, 9.56],
    ] as const) {
      expect(startsOf(word)).toHaveLength(startsS.length);
      for (const [i, startS] of startsOf(word).entries()) {
        expect(Math.abs(startS - (startsS[i] ?? Number.NaN))).toBeLessThan(0.25);
      }
    }
  });

  test('is the same to the bit in pieces, with pauses, and once more', async () => {
    const speech = await recorded('jfk.flac');
    const whole = await heard(speech, { timestamps: 'word' });
    for (const audio of [pieces(speech, 4_097), pieces(speech, 48_000, true), pieces(speech)]) {
      expect(await heard(audio, { timestamps: 'word' })).toEqual(whole);
    }
  });

  test('of two people is heard a channel at a time', async () => {
    const left = await heard(await channelOf('stereo_diarization.wav', 0), { language: 'en' });
    const right = await heard(await channelOf('stereo_diarization.wav', 1), { language: 'en' });
    expect(wordErrorRate(left.text, LEFT)).toBeLessThan(0.15);
    expect(wordErrorRate(right.text, RIGHT)).toBeLessThan(0.25);
  });
});

describe('German', () => {
  const german = () => recorded('multilingual.mp3', 31, 58);

  test('is written in German', async () => {
    const { text, language } = await heard(await german());
    expect(language).toBe('de');
    expect(text).toMatch(/\bSoftware\b/);
    for (const word of ['und', 'der', 'die']) expect(transcriptWords(text)).toContain(word);
  });

  test('is translated to English', async () => {
    const { text, language } = await heard(await german(), { task: 'translate' });
    expect(language).toBe('de');
    const words = transcriptWords(text);
    for (const word of ['software', 'the', 'and', 'to']) expect(words).toContain(word);
    for (const word of ['und', 'oder', 'nicht']) expect(words).not.toContain(word);
  });
});

test('where nobody speaks nothing is written', async () => {
  for (const samples of Object.values(soundsWithoutSpeech())) {
    const { text, words, segments, durationS, outputTokens } = await heard(samples, { timestamps: 'word' });
    expect([text, words, segments, durationS, outputTokens]).toEqual(['', [], [], 2, 0]);
  }
});

test('a process that is killed in the middle costs its requests, and the next one is served', async () => {
  const speech = await recorded('multilingual.mp3', 0, 25);
  const events = opened.engine
    .transcribe(
      pieces(speech),
      { task: 'transcribe', timestamps: 'none', priority: 'interactive', fairnessKey: 'a' },
      never,
    )
    [Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject({ kind: 'delta' });
  const own = childrenOf(process.pid, INFERENCE).filter((pid) =>
    readFileSync(`/proc/${pid}/environ`, 'latin1').includes(MARK),
  );
  expect(own).toHaveLength(1);
  process.kill(own[0] ?? 0, 'SIGKILL');
  const rest = async () => {
    while (!(await events.next()).done);
  };
  await expect(rest()).rejects.toMatchObject({ kind: 'internal', code: 'worker_crashed' });
  const { text } = await heard(await recorded('jfk.flac'));
  expect(transcriptWords(text)).toEqual(transcriptWords(JFK));
});

test('the English model hears English and does not translate', async (context) => {
  try {
    resolveModelFiles(modelsDir, 'whisper-tiny-en-ct2');
  } catch {
    context.skip('needs the files of whisper-tiny-en-ct2');
  }
  const english = await open('tiny.en');
  try {
    expect(english.engine.languages).toEqual(['en']);
    const speech = await recorded('jfk.flac');
    const { text, language } = await heard(speech, { timestamps: 'word' }, english);
    expect(wordErrorRate(text, JFK)).toBeLessThan(0.1);
    expect(language).toBe('en');
    await expect(heard(speech, { task: 'translate' }, english)).rejects.toMatchObject({ param: 'model' });
  } finally {
    await english.close();
  }
});
