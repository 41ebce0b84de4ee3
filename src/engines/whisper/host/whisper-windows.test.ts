import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { repetitions } from '../../../../test/harness/tier.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import type {
  AudioChunk,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
  TranscriptPreview,
} from '../../../contract/engines/engine.ts';
import type { InferencePool } from '../../../inference/pool/inference-pool.ts';
import type { JobSpec } from '../../../inference/pool/job.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import type { WhisperRequest, WhisperResult, WindowTranscript } from '../shared/protocol.ts';
import { whisperEngine } from './engine.ts';
import { WINDOW_SAMPLES } from './window-cutter.ts';

/** Tests the engine with a fake pool that responds immediately or when a test allows it. */

const RATE_HZ = 16_000;
const REQUEST: TranscriptionRequest = {
  task: 'transcribe',
  timestamps: 'word',
  priority: 'interactive',
  fairnessKey: 'a',
};
const never = new AbortController().signal;

interface Run {
  readonly request: WhisperRequest;
  readonly signal: AbortSignal;
  state: 'running' | 'done' | 'cancelled';
}

type Transcribe = (request: WhisperRequest, number: number) => readonly WhisperResult[];

interface PoolOptions {
  readonly transcribe?: Transcribe;
  /** Resolves when the next result may be sent. */
  readonly wait?: (run: Run) => Promise<void>;
  readonly languages?: readonly string[];
}

class FakePool implements InferencePool {
  readonly runs: Run[] = [];
  readonly #options: PoolOptions;

  constructor(options: PoolOptions = {}) {
    this.#options = options;
  }

  description<Description>(): Description {
    return { languages: this.#options.languages ?? ['en', 'de', 'zh'] } as Description;
  }

  async *runJob<Request, Result>(
    _model: string,
    work: JobSpec<Request, Result>,
    signal: AbortSignal,
  ): AsyncGenerator<Result, void, undefined> {
    signal.throwIfAborted();
    const { transcribe = wordOfSamples, wait } = this.#options;
    const run: Run = { request: work.request as WhisperRequest, signal, state: 'running' };
    this.runs.push(run);
    try {
      for (const result of transcribe(run.request, this.runs.length - 1)) {
        await wait?.(run);
        signal.throwIfAborted();
        yield result as Result;
      }
      run.state = 'done';
    } finally {
      if (run.state === 'running') run.state = 'cancelled';
    }
  }

  ready() {
    return { ready: true };
  }

  async close(): Promise<void> {}

  /** Windows whose results were all read. */
  get transcribed(): WhisperRequest[] {
    return this.runs.filter(({ state }) => state === 'done').map(({ request }) => request);
  }
}

/** The results of a window: its text, then its transcript. */
function resultsOf(
  text: string,
  fields: Partial<WindowTranscript> = {},
  language = fields.language ?? 'en',
): WhisperResult[] {
  const words = text.split(' ').filter(Boolean);
  return [
    ...words.map((word, i): WhisperResult => ({ kind: 'text', text: i === 0 ? word : ` ${word}`, language })),
    {
      kind: 'window',
      language: 'en',
      sentenceEnd: 0.5,
      carryOver: [],
      promptTokens: 0,
      outputTokens: words.length,
      segments: [],
      words: [],
      ...fields,
    },
  ];
}

const statistics = {
  temperature: 0,
  averageLogProbability: -0.1,
  compressionRatio: 1,
  noSpeechProbability: 0,
};

/** Returns a text that encodes the exact samples and context of a window, over its whole duration. */
function wordOfSamples({ samples, previous, lastSpeechS, likelyLanguage }: WhisperRequest): WhisperResult[] {
  const digest = (values: Float32Array) => Bun.hash(values.slice()).toString(36);
  const durationS = samples.length / RATE_HZ;
  const text = `${digest(samples)} ${previous.join('+')}_${lastSpeechS.toFixed(3)}_${likelyLanguage}`;
  return resultsOf(text, {
    carryOver: [samples.length],
    segments: [{ startS: 0, endS: durationS, text, tokens: [], ...statistics }],
    words: [
      { word: 'first', startS: 0, endS: durationS / 3 },
      { word: 'last', startS: durationS / 3, endS: durationS },
    ],
  });
}

/** Bursts of noise of 3 to 6 s, each followed by 1.2 s of silence. */
function speech(lengthS: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(4);
  const samples = new Float32Array(lengthS * RATE_HZ);
  for (let index = 0; index < samples.length; ) {
    const end = Math.min(samples.length, index + Math.round((3 + 3 * random()) * RATE_HZ));
    for (; index < end; index++) samples[index] = random() - 0.5;
    index += 1.2 * RATE_HZ;
  }
  return samples;
}

async function* chunks(...all: AudioChunk[]): AsyncGenerator<AudioChunk> {
  yield* all;
}

async function eventsOf(
  pool: FakePool,
  audio: AsyncIterable<AudioChunk>,
  fields: Partial<TranscriptionRequest> = {},
  signal = never,
): Promise<TranscriptionEvent[]> {
  return Array.fromAsync(whisperEngine(pool, 'it').transcribe(audio, { ...REQUEST, ...fields }, signal));
}

async function transcriptOf(...args: Parameters<typeof eventsOf>): Promise<Transcript> {
  const events = await eventsOf(...args);
  const last = events.pop();
  if (last?.kind !== 'final') throw new Error('the last event is not final');
  expect(events.map((event) => (event.kind === 'delta' ? event.text : undefined)).join('')).toBe(
    last.transcript.text,
  );
  return last.transcript;
}

/** A promise that a test resolves. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

describe('audio longer than a window', () => {
  let audio: Float32Array<ArrayBuffer>;
  let whole: Transcript;
  let windows: WhisperRequest[];
  beforeAll(async () => {
    audio = speech(95);
    const pool = new FakePool();
    whole = await transcriptOf(pool, chunks(audio));
    windows = pool.transcribed;
  });

  test('is split at pauses into windows of at most 30 s that cover it', () => {
    expect(windows.length).toBeGreaterThan(3);
    let offset = 0;
    for (const [i, { samples }] of windows.entries()) {
      expect(samples.length).toBeLessThanOrEqual(WINDOW_SAMPLES);
      expect(
        Buffer.compare(
          Buffer.from(samples.buffer),
          Buffer.from(audio.slice(offset, offset + samples.length).buffer),
        ),
      ).toBe(0);
      offset += samples.length;
      if (i + 1 < windows.length) {
        expect(samples.length).toBeGreaterThanOrEqual(20 * RATE_HZ);
        expect([...audio.subarray(offset - 800, offset + 800)].every((sample) => sample === 0)).toBe(true);
      }
    }
    expect(offset).toBe(audio.length);
  });

  test('has times relative to its start, in order and within it', () => {
    expect(whole.durationS).toBe(95);
    expect(whole.segments).toHaveLength(windows.length);
    for (const timed of [whole.segments, whole.words]) {
      let lastS = 0;
      for (const { startS, endS } of timed) {
        expect(startS).toBeGreaterThanOrEqual(lastS);
        expect(endS).toBeGreaterThanOrEqual(startS);
        lastS = endS;
      }
      expect(lastS).toBeLessThanOrEqual(whole.durationS);
      expect(lastS).toBeGreaterThan(94.99);
    }
  });

  test('passes the text, the language and the end of speech of each window to the next one', () => {
    expect(windows.map(({ previous }) => previous)).toEqual([
      [],
      ...windows.slice(0, -1).map(({ samples }) => [samples.length]),
    ]);
    expect(windows.map(({ likelyLanguage }) => likelyLanguage)).toEqual(
      [undefined, 'en', 'en', 'en'].slice(0, windows.length),
    );
    for (const { lastSpeechS } of windows) expect(Math.abs(lastSpeechS)).toBeLessThan(1e-9);
  });

  test('has the tokens of its text, with the space between two windows', async () => {
    const token = (text: string) => ({ bytes: [...Buffer.from(text)], logProbability: -0.5 });
    for (const [language, text] of [
      ['en', 'a b a b'],
      ['zh', 'a ba b'],
    ] as const) {
      const pool = new FakePool({
        transcribe: () => [
          { kind: 'text', text: 'a', language, tokens: [token('a')] },
          { kind: 'text', text: ' b', language, tokens: [token(' b')] },
          ...resultsOf('', { language }),
        ],
      });
      const request = { textTokens: true, languages: ['en', 'zh'], keywords: ['x'] };
      const transcript = await transcriptOf(pool, chunks(speech(40)), request);
      expect(transcript.text).toBe(text);
      expect(transcript.tokens?.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
        'a',
        ' b',
        language === 'en' ? ' a' : 'a',
        ' b',
      ]);
      expect(pool.transcribed).toMatchObject([request, request]);
    }
  });

  test('gives bit-identical transcripts for any chunks and pauses', async () => {
    const cut = fc.record({ atSample: fc.integer({ min: 0, max: 95 * RATE_HZ }), pauses: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 12 }), async (cuts) => {
        const all: AudioChunk[] = [];
        let from = 0;
        for (const { atSample, pauses } of cuts.toSorted((a, b) => a.atSample - b.atSample)) {
          all.push(audio.slice(from, atSample), ...new Array<'pause'>(pauses).fill('pause'));
          from = atSample;
        }
        all.push(audio.slice(from));
        expect(await transcriptOf(new FakePool(), chunks(...all))).toEqual(whole);
        expect(await transcriptOf(new FakePool(), chunks(...all, 'pause'))).toEqual(whole);
      }),
      { numRuns: repetitions(5, 15) },
    );
  });

  test('is read with backpressure: at most one window is buffered', async () => {
    const pool = new FakePool();
    let given = 0;
    let maxBuffered = 0;
    async function* observed(): AsyncGenerator<AudioChunk> {
      for (; given < audio.length; given += 1_600) {
        const processed = pool.transcribed.reduce((sum, { samples }) => sum + samples.length, 0);
        maxBuffered = Math.max(maxBuffered, given - processed);
        yield audio.slice(given, given + 1_600);
      }
    }
    await transcriptOf(pool, observed());
    expect(maxBuffered).toBe(WINDOW_SAMPLES);
  });

  test('yields text while audio is still arriving', async () => {
    let given = 0;
    async function* slow(): AsyncGenerator<AudioChunk> {
      for (; given < audio.length; given += RATE_HZ) yield audio.slice(given, given + RATE_HZ);
    }
    for await (const event of whisperEngine(new FakePool(), 'it').transcribe(slow(), REQUEST, never)) {
      expect(event.kind).toBe('delta');
      break;
    }
    expect(given).toBeLessThanOrEqual(31 * RATE_HZ);
  });
});

describe('a partially transcribed window', () => {
  const audio = speech(50);
  /** Transcribes 60 % of long windows. */
  const transcribe: Transcribe = (request) => {
    const { length } = request.samples;
    const transcribedS = length > 8 * RATE_HZ ? Math.round(length * 0.6) / RATE_HZ : undefined;
    return wordOfSamples(request).map((result) =>
      result.kind === 'window' ? { ...result, transcribedS } : result,
    );
  };

  test('is followed by a window of the rest', async () => {
    const pool = new FakePool({ transcribe });
    const { durationS } = await transcriptOf(pool, chunks(audio));
    let offset = 0;
    for (const { samples } of pool.transcribed) {
      const expected = audio.slice(offset, offset + samples.length);
      expect(Buffer.compare(Buffer.from(samples.buffer), Buffer.from(expected.buffer))).toBe(0);
      const all = samples.length <= 8 * RATE_HZ;
      offset += all ? samples.length : Math.round(samples.length * 0.6);
    }
    expect([offset, durationS]).toEqual([audio.length, 50]);
  });

  test('gives the same transcript in chunks and with pauses', async () => {
    const whole = await transcriptOf(new FakePool({ transcribe }), chunks(audio));
    for (const length of [7_000, 100_000, 480_000]) {
      const all: AudioChunk[] = [];
      for (let start = 0; start < audio.length; start += length) {
        all.push(audio.slice(start, start + length), 'pause');
      }
      expect(await transcriptOf(new FakePool({ transcribe }), chunks(...all))).toEqual(whole);
    }
  });
});

describe('a pause', () => {
  const first = speech(3);
  const more = speech(2);

  test('starts the last window before the end is known, and the window is transcribed once', async () => {
    const pool = new FakePool();
    const ended = gate();
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield first;
      yield 'pause';
      await ended.opened;
    }
    const transcript = transcriptOf(pool, audio());
    await expect.poll(() => pool.runs.length).toBe(1);
    ended.open();
    const { durationS } = await transcript;
    expect([pool.runs.length, durationS]).toEqual([1, 3]);
  });

  test('reports the text that the transcript has if nothing follows', async () => {
    const pool = new FakePool();
    const previews: TranscriptPreview[] = [];
    const { promise: previewed, resolve } = Promise.withResolvers<void>();
    const onPreview = (preview: TranscriptPreview) => {
      previews.push(preview);
      resolve();
    };
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield first;
      yield 'pause';
      await previewed;
      yield more;
      yield 'pause';
    }
    const { text } = await transcriptOf(pool, audio(), { onPreview });
    const firstText = (await transcriptOf(new FakePool(), chunks(first))).text;
    expect(previews).toEqual([firstText, text].map((each) => ({ text: each, sentenceEnd: 0.5 })));
  });

  test('reports no text if the transcription of its window is incomplete', async () => {
    const previews: string[] = [];
    const transcribe: Transcribe = (request) =>
      wordOfSamples(request).map((result) =>
        result.kind === 'window' && request.samples.length > RATE_HZ
          ? { ...result, transcribedS: request.samples.length / RATE_HZ - 1 }
          : result,
      );
    await transcriptOf(new FakePool({ transcribe }), chunks(first, 'pause'), {
      onPreview: ({ text }) => previews.push(text),
    });
    expect(previews).toEqual([]);
  });

  test('after a pause has no effect', async () => {
    const pool = new FakePool();
    await transcriptOf(pool, chunks(first, 'pause', 'pause', new Float32Array(0), 'pause'));
    expect(pool.runs).toHaveLength(1);
  });

  test('followed by more audio cancels its transcription', async () => {
    const pool = new FakePool({
      wait: ({ signal }) => (signal.aborted ? Promise.resolve() : stopped(signal)),
    });
    const working = gate();
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield first;
      yield 'pause';
      await working.opened;
      yield more;
    }
    const controller = new AbortController();
    const transcript = eventsOf(pool, audio(), {}, controller.signal);
    await expect.poll(() => pool.runs.length).toBe(1);
    working.open();
    await expect.poll(() => pool.runs.map(({ state }) => state)).toEqual(['cancelled', 'running']);
    expect(pool.runs.map(({ request }) => request.samples.length / RATE_HZ)).toEqual([3, 5]);
    controller.abort(new Error('enough'));
    await expect(transcript).rejects.toThrow('enough');
    expect(pool.runs[1]?.state).toBe('cancelled');
  });

  test('before any audio has no effect', async () => {
    const pool = new FakePool();
    expect(await transcriptOf(pool, chunks('pause'))).toMatchObject({ text: '', durationS: 0 });
    expect(pool.runs).toEqual([]);
  });

  test('whose transcription fails is transcribed again at the end', async () => {
    const busy = new ServiceError('overloaded', 'The server is busy.', { code: 'server_overloaded' });
    const transcribe: Transcribe = (request, number) => {
      if (number === 0) throw busy;
      return wordOfSamples(request);
    };
    const pool = new FakePool({ transcribe });
    expect(await transcriptOf(pool, chunks(first, 'pause'))).toEqual(
      await transcriptOf(new FakePool(), chunks(first)),
    );
    expect(pool.runs).toHaveLength(2);
    const { durationS } = await transcriptOf(new FakePool({ transcribe }), chunks(first, 'pause', more));
    expect(durationS).toBe(5);
  });
});

/** Rejects with the reason of the signal when it is aborted. */
function stopped(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

describe('joined windows', () => {
  const two = speech(40);
  const poolOf = (...windows: WhisperResult[][]) =>
    new FakePool({ transcribe: (_, number) => windows[number] ?? [] });

  test('are separated by a space, except in languages without spaces', async () => {
    const english = poolOf(resultsOf('one two'), resultsOf('three'));
    expect((await transcriptOf(english, chunks(two))).text).toBe('one two three');
    const chinese = poolOf(resultsOf('一', { language: 'zh' }), resultsOf('二', { language: 'zh' }));
    expect((await transcriptOf(chinese, chunks(two))).text).toBe('一二');
    const translated = poolOf(
      resultsOf('one', { language: 'zh' }, 'en'),
      resultsOf('two', { language: 'zh' }, 'en'),
    );
    expect((await transcriptOf(translated, chunks(two), { task: 'translate' })).text).toBe('one two');
  });

  test('have no space before or after an empty window', async () => {
    expect((await transcriptOf(poolOf(resultsOf(''), resultsOf('two')), chunks(two))).text).toBe('two');
    expect((await transcriptOf(poolOf(resultsOf('one'), resultsOf('')), chunks(two))).text).toBe('one');
  });

  test('have the language that was detected first', async () => {
    const language = async (...codes: (string | undefined)[]) =>
      (await transcriptOf(poolOf(...codes.map((code) => resultsOf('a', { language: code }))), chunks(two)))
        .language;
    expect(await language('de', 'en')).toBe('de');
    expect(await language(undefined, 'en')).toBe('en');
    expect(await language(undefined, undefined)).toBeUndefined();
    const pool = poolOf(resultsOf('a', { language: 'de' }), resultsOf('b', { language: 'de' }));
    expect((await transcriptOf(pool, chunks(two), { language: 'de' })).language).toBe('de');
    expect(pool.runs.map(({ request }) => request.language)).toEqual(['de', 'de']);
  });

  test('sum their tokens and count the prompt once', async () => {
    const pool = poolOf(resultsOf('a b', { promptTokens: 7 }), resultsOf('c', { promptTokens: 7 }));
    const { inputTokens, outputTokens } = await transcriptOf(pool, chunks(speech(40.01)), {
      prompt: 'names',
    });
    expect(inputTokens).toEqual({ audio: 401, text: 7 });
    expect(outputTokens).toBe(3);
  });

  test('pass the parameters of the request to each window', async () => {
    const pool = new FakePool();
    const parameters = {
      task: 'translate',
      prompt: 'names',
      temperature: 0.3,
      timestamps: 'segment',
    } as const;
    await transcriptOf(pool, chunks(two), parameters);
    for (const { request } of pool.runs) expect(request).toMatchObject(parameters);
  });
});

describe('edge cases', () => {
  test('without audio, nothing runs', async () => {
    for (const audio of [
      chunks(),
      chunks(new Float32Array(0)),
      chunks('pause', new Float32Array(0), 'pause'),
    ]) {
      const pool = new FakePool();
      expect(await eventsOf(pool, audio)).toEqual([
        {
          kind: 'final',
          transcript: {
            text: '',
            language: undefined,
            durationS: 0,
            inputTokens: { audio: 0, text: 0 },
            outputTokens: 0,
            segments: [],
            words: [],
          },
        },
      ]);
      expect(pool.runs).toEqual([]);
    }
  });

  test('a single sample is a window', async () => {
    const pool = new FakePool();
    expect((await transcriptOf(pool, chunks(Float32Array.of(0.1)))).durationS).toBe(1 / RATE_HZ);
    expect(pool.transcribed).toHaveLength(1);
  });

  test('an unsupported language or task is rejected', async () => {
    await expect(transcribeWith({ language: 'fr' })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'language',
    });
    await expect(transcribeWith({ task: 'translate' }, ['en'])).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'model',
    });
  });

  async function transcribeWith(fields: Partial<TranscriptionRequest>, languages?: readonly string[]) {
    const pool = new FakePool(languages ? { languages } : {});
    return eventsOf(pool, chunks(speech(1)), fields);
  }
});

describe('cancellation', () => {
  const long = speech(70);
  const reason = new Error('hung up');

  /** Audio that records its reads and whether it was closed. */
  function source(...all: AudioChunk[]) {
    const state = { closed: false, pulled: 0 };
    async function* audio(): AsyncGenerator<AudioChunk> {
      try {
        for (const chunk of all) {
          state.pulled += 1;
          yield chunk;
        }
      } finally {
        state.closed = true;
      }
    }
    return { state, audio: audio() };
  }

  test('an aborted signal prevents reading', async () => {
    const pool = new FakePool();
    const { audio, state } = source(long);
    await expect(eventsOf(pool, audio, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect([state.pulled, pool.runs.length]).toEqual([0, 0]);
  });

  test.each([1, 2, 3, 4, 5, 6])(
    'an abort after delta %i throws its reason, closes the audio and stops the transcription',
    async (count) => {
      const controller = new AbortController();
      const pool = new FakePool();
      const { audio, state } = source(long);
      let deltas = 0;
      const consume = async () => {
        for await (const event of whisperEngine(pool, 'it').transcribe(audio, REQUEST, controller.signal)) {
          expect(event.kind).toBe('delta');
          deltas += 1;
          if (deltas === count) controller.abort(reason);
        }
      };
      await expect(consume()).rejects.toBe(reason);
      expect(deltas).toBe(count);
      expect(state.closed).toBe(true);
      for (const run of pool.runs) expect(run.state).not.toBe('running');
    },
  );

  test.each([
    ['during a window', [long]],
    ['during the last window', [speech(3)]],
    ['during a speculative window', [speech(3), 'pause']],
  ] as const)('an abort %s throws its reason', async (_, audio) => {
    const controller = new AbortController();
    const pool = new FakePool({ wait: ({ signal }) => stopped(signal) });
    const events = eventsOf(pool, chunks(...audio), {}, controller.signal);
    await expect.poll(() => pool.runs.length).toBe(1);
    controller.abort(reason);
    await expect(events).rejects.toBe(reason);
    await expect.poll(() => pool.runs[0]?.state).toBe('cancelled');
  });

  test('an abort while waiting for audio throws its reason and cancels the speculative window', async () => {
    const controller = new AbortController();
    const pool = new FakePool({ wait: ({ signal }) => stopped(signal) });
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield speech(3);
      yield 'pause';
      await stopped(never);
    }
    const events = eventsOf(pool, audio(), {}, controller.signal);
    await expect.poll(() => pool.runs.length).toBe(1);
    controller.abort(reason);
    await expect(events).rejects.toBe(reason);
    await expect.poll(() => pool.runs[0]?.state).toBe('cancelled');
  });

  test('an error of the audio is thrown and cancels the speculative window', async () => {
    const pool = new FakePool({ wait: ({ signal }) => stopped(signal) });
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield speech(3);
      yield 'pause';
      await expect.poll(() => pool.runs.length).toBe(1);
      throw reason;
    }
    await expect(eventsOf(pool, audio())).rejects.toBe(reason);
    await expect.poll(() => pool.runs[0]?.state).toBe('cancelled');
  });

  test('an error of the pool is thrown and closes the audio', async () => {
    const crashed = new ServiceError('internal', 'The worker crashed.', { code: 'worker_crashed' });
    const transcribe: Transcribe = (request, number) => {
      if (number === 1) throw crashed;
      return wordOfSamples(request);
    };
    const { audio, state } = source(long.slice(0, WINDOW_SAMPLES + 1), long.slice(WINDOW_SAMPLES + 1), long);
    await expect(eventsOf(new FakePool({ transcribe }), audio)).rejects.toBe(crashed);
    expect(state.closed).toBe(true);
    expect(state.pulled).toBeLessThan(3);
  });

  test('a consumer that stops reading closes the audio and stops the transcription', async () => {
    const pool = new FakePool();
    const { audio, state } = source(long);
    for await (const _ of whisperEngine(pool, 'it').transcribe(audio, REQUEST, never)) break;
    expect(state.closed).toBe(true);
    expect(pool.runs.map((run) => run.state)).toEqual(['cancelled']);
  });
});
