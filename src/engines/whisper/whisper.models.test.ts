import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inDeepTier, repetitions } from '../../../test/harness/tier.ts';
import { channelOf, recorded, soundsWithoutSpeech } from '../../../test/media/heard-audio.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { transcriptWords } from '../../../tools/harness/media/transcript-normalizer.ts';
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
import { resolveModelFiles } from '../../models/model-files.ts';

/** Transcribes real recordings with the default model in its process. */

const JFK =
  'And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.';
const LEFT =
  'He began a confused complaint against the wizard who had vanished behind the curtain on the left.';
const RIGHT = 'The horizon seems extremely distant.';
const never = new AbortController().signal;
const { modelsDir } = loadConfig(process.env);
/** Environment variable that identifies the process of this file among those of concurrent tests. */
const MARK = `WHISPER_TEST_MARK=${crypto.randomUUID()}`;

interface Opened {
  readonly engine: SttEngine;
  close(): Promise<void>;
}

async function open(weights: string): Promise<Opened> {
  const [name = '', mark = ''] = MARK.split('=');
  const { slots, close } = await openEngines({
    needs: new Set(['stt']),
    models: { transcription: new Map([['it', { kind: 'whisper', weights }]]) },
    inference: { provider: 'cpu', workers: 1, threads: 1, queueLimit: 64, environment: { [name]: mark } },
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

async function* chunks(samples: Float32Samples, length = samples.length, pauses = false) {
  for (let start = 0; start < samples.length; start += length) {
    yield samples.slice(start, start + length) as AudioChunk;
    if (pauses) yield 'pause' as const;
  }
}

async function transcribe(
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
  const source = audio instanceof Float32Array ? chunks(audio) : audio;
  for await (const event of engine.transcribe(source, request, never)) {
    if (event.kind === 'final') return event.transcript;
  }
  throw new Error('no final');
}

/** Word error rate: substitutions, deletions and insertions divided by the number of reference words. */
function wordErrorRate(text: string, reference: string): number {
  const expected = transcriptWords(reference);
  let costs = Array.from({ length: expected.length + 1 }, (_, i) => i);
  for (const [row, word] of transcriptWords(text).entries()) {
    const above = costs;
    costs = [row + 1];
    for (const [i, other] of expected.entries()) {
      const changed = (above[i] ?? 0) + (word === other ? 0 : 1);
      costs.push(Math.min(changed, (above[i + 1] ?? 0) + 1, (costs[i] ?? 0) + 1));
    }
  }
  return (costs.at(-1) ?? 0) / expected.length;
}

describe('English speech', () => {
  /** The transcript with word times, computed once for several tests. */
  let withWords: Promise<Transcript> | undefined;
  const transcribeWords = () => {
    withWords ??= recorded('jfk.flac').then((speech) => transcribe(speech, { timestamps: 'word' }));
    return withWords;
  };

  test('is transcribed word for word, with its language', async () => {
    const { text, language, durationS } = await transcribe(await recorded('jfk.flac'));
    expect(transcriptWords(text)).toEqual(transcriptWords(JFK));
    expect(language).toBe('en');
    expect(durationS).toBeCloseTo(11, 1);
  });

  test('has the probabilities of its tokens, consistent with the average of its segments', async () => {
    const speech = await recorded('jfk.flac');
    for (const timestamps of ['none', 'segment'] as const) {
      const { text, tokens = [], segments } = await transcribe(speech, { textTokens: true, timestamps });
      expect(Buffer.from(tokens.flatMap(({ bytes }) => [...bytes])).toString()).toBe(text);
      const values = tokens.map(({ logProbability }) => logProbability);
      expect(Math.max(...values)).toBeLessThanOrEqual(0);
      // Clear words are almost certain.
      for (const word of [' fellow', ' Americans', ' country']) {
        const token = tokens.find(({ bytes }) => Buffer.from(bytes).toString() === word);
        expect(token?.logProbability).toBeGreaterThan(-0.1);
      }
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      expect(mean).toBeGreaterThan(-0.3);
      // The average of a segment includes its timestamps, which are less certain, and the end of the text.
      for (const { averageLogProbability } of segments) {
        expect(averageLogProbability).toBeLessThan(mean);
        expect(averageLogProbability).toBeGreaterThan(mean - 0.3);
      }
    }
    expect((await transcribe(speech)).tokens).toBeUndefined();
  });

  test('is detected among the languages of the request', async () => {
    const speech = await recorded('jfk.flac');
    const detected = async (...languages: string[]) => (await transcribe(speech, { languages })).language;
    expect(await detected('de', 'en', 'fr')).toBe('en');
    expect(['de', 'nl']).toContain(await detected('de', 'nl'));
    expect(await detected('fr')).toBe('fr');
  });

  test('has accurate word times', async () => {
    const { words, segments, durationS } = await transcribeWords();
    expect(transcriptWords(words.map(({ word }) => word).join(' '))).toEqual(transcriptWords(JFK));
    let lastS = 0;
    for (const { startS, endS } of words) {
      expect(startS).toBeGreaterThanOrEqual(lastS);
      expect(endS).toBeGreaterThanOrEqual(startS);
      lastS = endS;
    }
    expect(lastS).toBeLessThanOrEqual(durationS);
    expect(segments.at(-1)?.endS).toBeLessThanOrEqual(durationS);
    // Times of faster-whisper 1.2 with the same weights. Words next to pauses are excluded because they are ambiguous.
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

  test('gives bit-identical transcripts in chunks, with pauses, and when repeated', async () => {
    const speech = await recorded('jfk.flac');
    const whole = await transcribeWords();
    for (const audio of [chunks(speech, 4_097), chunks(speech, 48_000, true), chunks(speech)]) {
      expect(await transcribe(audio, { timestamps: 'word' })).toEqual(whole);
    }
  });

  test('of two speakers is transcribed per channel', async () => {
    const left = await transcribe(await channelOf('stereo_diarization.wav', 0), { language: 'en' });
    const right = await transcribe(await channelOf('stereo_diarization.wav', 1), { language: 'en' });
    expect(wordErrorRate(left.text, LEFT)).toBeLessThan(0.15);
    expect(wordErrorRate(right.text, RIGHT)).toBeLessThan(0.25);
  });
});

describe('German', () => {
  const german = () => recorded('multilingual.mp3', 31, repetitions(50, 58));

  test('is transcribed in German', async () => {
    const { text, language } = await transcribe(await german());
    expect(language).toBe('de');
    expect(text).toMatch(/\bSoftware\b/);
    for (const word of ['und', 'der', 'die']) expect(transcriptWords(text)).toContain(word);
  });

  test('is translated to English', async () => {
    const { text, language } = await transcribe(await german(), { task: 'translate' });
    expect(language).toBe('de');
    const words = transcriptWords(text);
    for (const word of ['software', 'the', 'and', 'to']) expect(words).toContain(word);
    for (const word of ['und', 'oder', 'nicht']) expect(words).not.toContain(word);
  });
});

test('audio without speech has no text', async () => {
  for (const samples of Object.values(soundsWithoutSpeech())) {
    const { text, words, segments, durationS, outputTokens, tokens } = await transcribe(samples, {
      timestamps: 'word',
      textTokens: true,
    });
    expect([text, words, segments, durationS, outputTokens, tokens]).toEqual(['', [], [], 2, 0, []]);
  }
});

inDeepTier(() => {
  test('a killed process fails its request, and the next request succeeds', async () => {
    const speech = await recorded('multilingual.mp3', 0, 25);
    const events = opened.engine
      .transcribe(
        chunks(speech),
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
    const { text } = await transcribe(await recorded('jfk.flac'));
    expect(transcriptWords(text)).toEqual(transcriptWords(JFK));
  });
});

test('the English-only model transcribes English and rejects translation', async (context) => {
  try {
    resolveModelFiles(modelsDir, 'whisper-tiny-en-ct2');
  } catch {
    context.skip('needs the files of whisper-tiny-en-ct2');
  }
  const english = await open('tiny.en');
  try {
    expect(english.engine.languages).toEqual(['en']);
    const speech = await recorded('jfk.flac');
    const { text, language } = await transcribe(speech, { timestamps: 'word' }, english);
    expect(wordErrorRate(text, JFK)).toBeLessThan(0.1);
    expect(language).toBe('en');
    await expect(transcribe(speech, { task: 'translate' }, english)).rejects.toMatchObject({
      param: 'model',
    });
  } finally {
    await english.close();
  }
});
