import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../../contract/core/error.ts';
import type {
  AudioChunk,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../../contract/engines/engine.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import type { JobSpec } from '../../pool/job.ts';
import type { WhisperRequest, WhisperResult, WindowTranscript } from '../shared/protocol.ts';
import { whisperEngine } from './engine.ts';
import { WINDOW_SAMPLES } from './window-cutter.ts';

/** The engine over a pool that answers at once, or when a test says so. */

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
  state: 'running' | 'done' | 'left';
}

type Hear = (request: WhisperRequest, number: number) => readonly WhisperResult[];

interface PoolOptions {
  readonly hear?: Hear;
  /** What each result waits for. */
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
    const { hear = wordOfSamples, wait } = this.#options;
    const run: Run = { request: work.request as WhisperRequest, signal, state: 'running' };
    this.runs.push(run);
    try {
      for (const result of hear(run.request, this.runs.length - 1)) {
        await wait?.(run);
        signal.throwIfAborted();
        yield result as Result;
      }
      run.state = 'done';
    } finally {
      if (run.state === 'running') run.state = 'left';
    }
  }

  ready() {
    return { ready: true };
  }

  async close(): Promise<void> {}

  /** Windows whose results were all taken. */
  get heard(): WhisperRequest[] {
    return this.runs.filter(({ state }) => state === 'done').map(({ request }) => request);
  }
}

/** A window's result, and its text before it. */
function saying(
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
      carryOver: [],
      promptTokens: 0,
      outputTokens: words.length,
      segments: [],
      words: [],
      ...fields,
    },
  ];
}

const figures = { temperature: 0, averageLogProbability: -0.1, compressionRatio: 1, noSpeechProbability: 0 };

/** Words that tell the very samples of a window and what came with it, from its first moment to its last. */
function wordOfSamples({ samples, previous, lastSpeechS, likelyLanguage }: WhisperRequest): WhisperResult[] {
  const digest = (part: Float32Array) => Bun.hash(part.slice()).toString(36);
  const durationS = samples.length / RATE_HZ;
  const text = `${digest(samples)} ${previous.join('+')}_${lastSpeechS.toFixed(3)}_${likelyLanguage}`;
  return saying(text, {
    carryOver: [samples.length],
    segments: [{ startS: 0, endS: durationS, text, tokens: [], ...figures }],
    words: [
      { word: 'first', startS: 0, endS: durationS / 3 },
      { word: 'last', startS: durationS / 3, endS: durationS },
    ],
  });
}

/** Bursts of noise of 3 to 6 s with 1.2 s of silence after each. */
function speech(lengthS: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(4);
  const samples = new Float32Array(lengthS * RATE_HZ);
  for (let at = 0; at < samples.length; ) {
    const end = Math.min(samples.length, at + Math.round((3 + 3 * random()) * RATE_HZ));
    for (; at < end; at++) samples[at] = random() - 0.5;
    at += 1.2 * RATE_HZ;
  }
  return samples;
}

async function* pieces(...all: AudioChunk[]): AsyncGenerator<AudioChunk> {
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
  if (last?.kind !== 'final') throw new Error('the final does not come last');
  expect(events.map((event) => (event.kind === 'delta' ? event.text : undefined)).join('')).toBe(
    last.transcript.text,
  );
  return last.transcript;
}

/** A promise that a test settles. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: () => resolve() };
}

describe('audio longer than a window', () => {
  let audio: Float32Array<ArrayBuffer>;
  let whole: Transcript;
  let windows: WhisperRequest[];
  beforeAll(async () => {
    audio = speech(95);
    const pool = new FakePool();
    whole = await transcriptOf(pool, pieces(audio));
    windows = pool.heard;
  });

  test('is cut in pauses, into windows of at most 30 s that are all of it', () => {
    expect(windows.length).toBeGreaterThan(3);
    let at = 0;
    for (const [i, { samples }] of windows.entries()) {
      expect(samples.length).toBeLessThanOrEqual(WINDOW_SAMPLES);
      expect(
        Buffer.compare(Buffer.from(samples.buffer), Buffer.from(audio.slice(at, at + samples.length).buffer)),
      ).toBe(0);
      at += samples.length;
      if (i + 1 < windows.length) {
        expect(samples.length).toBeGreaterThanOrEqual(20 * RATE_HZ);
        expect([...audio.subarray(at - 800, at + 800)].every((sample) => sample === 0)).toBe(true);
      }
    }
    expect(at).toBe(audio.length);
  });

  test('has times of the whole, in order and inside it', () => {
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

  test('is told to each window by the one before: its text, its language, when it fell silent', () => {
    expect(windows.map(({ previous }) => previous)).toEqual([
      [],
      ...windows.slice(0, -1).map(({ samples }) => [samples.length]),
    ]);
    expect(windows.map(({ likelyLanguage }) => likelyLanguage)).toEqual(
      [undefined, 'en', 'en', 'en'].slice(0, windows.length),
    );
    for (const { lastSpeechS } of windows) expect(Math.abs(lastSpeechS)).toBeLessThan(1e-9);
  });

  test('gives the same to the bit however it is cut and wherever it pauses', async () => {
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
        expect(await transcriptOf(new FakePool(), pieces(...all))).toEqual(whole);
        expect(await transcriptOf(new FakePool(), pieces(...all, 'pause'))).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });

  test('is pulled no faster than it is worked on: never more waits than a window', async () => {
    const pool = new FakePool();
    let given = 0;
    let most = 0;
    async function* watched(): AsyncGenerator<AudioChunk> {
      for (; given < audio.length; given += 1_600) {
        const worked = pool.heard.reduce((sum, { samples }) => sum + samples.length, 0);
        most = Math.max(most, given - worked);
        yield audio.slice(given, given + 1_600);
      }
    }
    await transcriptOf(pool, watched());
    expect(most).toBe(WINDOW_SAMPLES);
  });

  test('comes out while it still goes in', async () => {
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

describe('a window that was heard in part', () => {
  const audio = speech(50);
  /** Long windows are heard to six tenths. */
  const hear: Hear = (request) => {
    const { length } = request.samples;
    const heardS = length > 8 * RATE_HZ ? Math.round(length * 0.6) / RATE_HZ : undefined;
    return wordOfSamples(request).map((result) =>
      result.kind === 'window' ? { ...result, heardS } : result,
    );
  };

  test('is followed by one of the rest', async () => {
    const pool = new FakePool({ hear });
    const { durationS } = await transcriptOf(pool, pieces(audio));
    let at = 0;
    for (const { samples } of pool.heard) {
      const expected = audio.slice(at, at + samples.length);
      expect(Buffer.compare(Buffer.from(samples.buffer), Buffer.from(expected.buffer))).toBe(0);
      const all = samples.length <= 8 * RATE_HZ;
      at += all ? samples.length : Math.round(samples.length * 0.6);
    }
    expect([at, durationS]).toEqual([audio.length, 50]);
  });

  test('is the same in pieces and with pauses', async () => {
    const whole = await transcriptOf(new FakePool({ hear }), pieces(audio));
    for (const length of [7_000, 100_000, 480_000]) {
      const all: AudioChunk[] = [];
      for (let at = 0; at < audio.length; at += length) all.push(audio.slice(at, at + length), 'pause');
      expect(await transcriptOf(new FakePool({ hear }), pieces(...all))).toEqual(whole);
    }
  });
});

describe('a pause', () => {
  const first = speech(3);
  const more = speech(2);

  test('begins the last window before the end is known, which is then worked on once', async () => {
    const pool = new FakePool();
    const begun = gate();
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield first;
      yield 'pause';
      await begun.passed;
    }
    const transcript = transcriptOf(pool, audio());
    await expect.poll(() => pool.runs.length).toBe(1);
    begun.open();
    const { durationS } = await transcript;
    expect([pool.runs.length, durationS]).toEqual([1, 3]);
  });

  test('after a pause changes nothing', async () => {
    const pool = new FakePool();
    await transcriptOf(pool, pieces(first, 'pause', 'pause', new Float32Array(0), 'pause'));
    expect(pool.runs).toHaveLength(1);
  });

  test('that was none: its work is stopped and forgotten', async () => {
    const pool = new FakePool({
      wait: ({ signal }) => (signal.aborted ? Promise.resolve() : stopped(signal)),
    });
    const working = gate();
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield first;
      yield 'pause';
      await working.passed;
      yield more;
    }
    const controller = new AbortController();
    const transcript = eventsOf(pool, audio(), {}, controller.signal);
    await expect.poll(() => pool.runs.length).toBe(1);
    working.open();
    await expect.poll(() => pool.runs.map(({ state }) => state)).toEqual(['left', 'running']);
    expect(pool.runs.map(({ request }) => request.samples.length / RATE_HZ)).toEqual([3, 5]);
    controller.abort(new Error('enough'));
    await expect(transcript).rejects.toThrow('enough');
    expect(pool.runs[1]?.state).toBe('left');
  });

  test('before any audio is nothing', async () => {
    const pool = new FakePool();
    expect(await transcriptOf(pool, pieces('pause'))).toMatchObject({ text: '', durationS: 0 });
    expect(pool.runs).toEqual([]);
  });

  test('whose work fails is worked on again at the end', async () => {
    const busy = new ServiceError('overloaded', 'The server is busy.', { code: 'server_overloaded' });
    const hear: Hear = (request, number) => {
      if (number === 0) throw busy;
      return wordOfSamples(request);
    };
    const pool = new FakePool({ hear });
    expect(await transcriptOf(pool, pieces(first, 'pause'))).toEqual(
      await transcriptOf(new FakePool(), pieces(first)),
    );
    expect(pool.runs).toHaveLength(2);
    const { durationS } = await transcriptOf(new FakePool({ hear }), pieces(first, 'pause', more));
    expect(durationS).toBe(5);
  });
});

/** Rejects with the signal's reason once it fires. */
function stopped(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

describe('windows put together', () => {
  const two = speech(40);
  const hearing = (...windows: WhisperResult[][]) =>
    new FakePool({ hear: (_, number) => windows[number] ?? [] });

  test('with a space, but not in languages without', async () => {
    const english = hearing(saying('one two'), saying('three'));
    expect((await transcriptOf(english, pieces(two))).text).toBe('one two three');
    const chinese = hearing(saying('一', { language: 'zh' }), saying('二', { language: 'zh' }));
    expect((await transcriptOf(chinese, pieces(two))).text).toBe('一二');
    const translated = hearing(
      saying('one', { language: 'zh' }, 'en'),
      saying('two', { language: 'zh' }, 'en'),
    );
    expect((await transcriptOf(translated, pieces(two), { task: 'translate' })).text).toBe('one two');
  });

  test('where nothing was said before or after, without a space at either end', async () => {
    expect((await transcriptOf(hearing(saying(''), saying('two')), pieces(two))).text).toBe('two');
    expect((await transcriptOf(hearing(saying('one'), saying('')), pieces(two))).text).toBe('one');
  });

  test('are in the language of the first words', async () => {
    const language = async (...codes: (string | undefined)[]) =>
      (await transcriptOf(hearing(...codes.map((code) => saying('a', { language: code }))), pieces(two)))
        .language;
    expect(await language('de', 'en')).toBe('de');
    expect(await language(undefined, 'en')).toBe('en');
    expect(await language(undefined, undefined)).toBeUndefined();
    const pool = hearing(saying('a', { language: 'de' }), saying('b', { language: 'de' }));
    expect((await transcriptOf(pool, pieces(two), { language: 'de' })).language).toBe('de');
    expect(pool.runs.map(({ request }) => request.language)).toEqual(['de', 'de']);
  });

  test('count their tokens together, the prompt once', async () => {
    const pool = hearing(saying('a b', { promptTokens: 7 }), saying('c', { promptTokens: 7 }));
    const { inputTokens, outputTokens } = await transcriptOf(pool, pieces(speech(40.01)), {
      prompt: 'names',
    });
    expect(inputTokens).toEqual({ audio: 401, text: 7 });
    expect(outputTokens).toBe(3);
  });

  test('take the wishes of the caller along', async () => {
    const pool = new FakePool();
    const wishes = { task: 'translate', prompt: 'names', temperature: 0.3, timestamps: 'segment' } as const;
    await transcriptOf(pool, pieces(two), wishes);
    for (const { request } of pool.runs) expect(request).toMatchObject(wishes);
  });
});

describe('what is not heard', () => {
  test('no audio is no work', async () => {
    for (const audio of [
      pieces(),
      pieces(new Float32Array(0)),
      pieces('pause', new Float32Array(0), 'pause'),
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
    expect((await transcriptOf(pool, pieces(Float32Array.of(0.1)))).durationS).toBe(1 / RATE_HZ);
    expect(pool.heard).toHaveLength(1);
  });

  test('a language or a task that the model lacks is refused', async () => {
    await expect(refused({ language: 'fr' })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'language',
    });
    await expect(refused({ task: 'translate' }, ['en'])).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'model',
    });
  });

  async function refused(fields: Partial<TranscriptionRequest>, languages?: readonly string[]) {
    const pool = new FakePool(languages ? { languages } : {});
    return eventsOf(pool, pieces(speech(1)), fields);
  }
});

describe('the end before the end', () => {
  const long = speech(70);
  const reason = new Error('hung up');

  /** Audio that tells whether it was ended. */
  function source(...all: AudioChunk[]) {
    const state = { ended: false, pulled: 0 };
    async function* audio(): AsyncGenerator<AudioChunk> {
      try {
        for (const piece of all) {
          state.pulled += 1;
          yield piece;
        }
      } finally {
        state.ended = true;
      }
    }
    return { state, audio: audio() };
  }

  test('a signal that has fired pulls nothing', async () => {
    const pool = new FakePool();
    const { audio, state } = source(long);
    await expect(eventsOf(pool, audio, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect([state.pulled, pool.runs.length]).toEqual([0, 0]);
  });

  test.each([1, 2, 3, 4, 5, 6])(
    'an abort after delta %i throws its reason, ends the audio and the work',
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
      expect(state.ended).toBe(true);
      for (const run of pool.runs) expect(run.state).not.toBe('running');
    },
  );

  test.each([
    ['while a window is worked on', [long]],
    ['while the rest is worked on', [speech(3)]],
    ['while a pause is worked on', [speech(3), 'pause']],
  ] as const)('an abort %s throws its reason', async (_, audio) => {
    const controller = new AbortController();
    const pool = new FakePool({ wait: ({ signal }) => stopped(signal) });
    const events = eventsOf(pool, pieces(...audio), {}, controller.signal);
    await expect.poll(() => pool.runs.length).toBe(1);
    controller.abort(reason);
    await expect(events).rejects.toBe(reason);
    await expect.poll(() => pool.runs[0]?.state).toBe('left');
  });

  test('an abort while audio is waited for throws its reason and stops what a pause began', async () => {
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
    await expect.poll(() => pool.runs[0]?.state).toBe('left');
  });

  test('audio that fails throws its error and stops what a pause began', async () => {
    const pool = new FakePool({ wait: ({ signal }) => stopped(signal) });
    async function* audio(): AsyncGenerator<AudioChunk> {
      yield speech(3);
      yield 'pause';
      await expect.poll(() => pool.runs.length).toBe(1);
      throw reason;
    }
    await expect(eventsOf(pool, audio())).rejects.toBe(reason);
    await expect.poll(() => pool.runs[0]?.state).toBe('left');
  });

  test('a pool that fails throws its error and ends the audio', async () => {
    const crashed = new ServiceError('internal', 'The worker died.', { code: 'worker_crashed' });
    const hear: Hear = (request, number) => {
      if (number === 1) throw crashed;
      return wordOfSamples(request);
    };
    const { audio, state } = source(long.slice(0, WINDOW_SAMPLES + 1), long.slice(WINDOW_SAMPLES + 1), long);
    await expect(eventsOf(new FakePool({ hear }), audio)).rejects.toBe(crashed);
    expect(state.ended).toBe(true);
    expect(state.pulled).toBeLessThan(3);
  });

  test('who leaves ends the audio and the work', async () => {
    const pool = new FakePool();
    const { audio, state } = source(long);
    for await (const _ of whisperEngine(pool, 'it').transcribe(audio, REQUEST, never)) break;
    expect(state.ended).toBe(true);
    expect(pool.runs.map((run) => run.state)).toEqual(['left']);
  });
});
