import { describe, expect, it } from 'vitest';
import { decodeToInt16 } from '../../src/audio/codec.ts';
import type { UsageEntry } from '../../src/contract/accounts/usage.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { Tracer } from '../../src/contract/core/tracer.ts';
import type { TtsEngine } from '../../src/contract/engines/engine.ts';
import { voiceDeleted } from '../../src/contract/engines/spoken-voice.ts';
import type { LexiconEntry } from '../../src/contract/stores/lexicon-store.ts';
import { noopTracer } from '../../src/kit/logging/spans.ts';
import type { AudioFormat } from '../../src/listen/audio-format.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { fakeLexicons, lexiconEntry } from '../../test/doubles/fake-lexicons.ts';
import { FakeTtsEngine, type FakeTtsOptions } from '../../test/doubles/fake-tts-engine.ts';
import { RecordingTracer } from '../../test/doubles/recording-tracer.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { type FlowControl, ResponseAudio, type SpeechRequest } from './response-audio.ts';
import type { SynthesisEvent } from './state/response-machine.ts';

const PCM_24K: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };
const SPEECH: SpeechRequest = {
  responseId: 'resp_1',
  text: 'One sentence. And another one! A third?',
  model: 'svc-tts',
  voice: undefined,
  speed: 1,
  format: PCM_24K,
};
const OPEN_FLOW: FlowControl = { ready: async (signal) => signal.throwIfAborted() };

interface Options extends FakeTtsOptions, RecordedCallsOptions {
  readonly engine?: TtsEngine;
  readonly flow?: FlowControl;
  readonly find?: StoredVoices['find'];
  readonly tracer?: Tracer;
  readonly lexicon?: readonly LexiconEntry[];
}

/** Records events and usage rows in order. */
function driver(options: Options = {}) {
  const fake = new FakeTtsEngine(options);
  const engine = options.engine ?? fake;
  const happened: (SynthesisEvent | (UsageEntry & { kind: 'row' }))[] = [];
  const log = new RecordingLogger();
  const calls = new RecordedCalls({
    ...options,
    stored: (row) => void happened.push({ kind: 'row', ...row }),
  });
  const speaking = new ResponseAudio({
    tts: { ids: ['svc-tts'], get: (id): TtsEngine | undefined => (id === 'svc-tts' ? engine : undefined) },
    voices: {
      find: options.find ?? (async (id) => (id === ANNA.id ? ANNA : undefined)),
      findSimilar: async () => undefined,
    },
    lexicons: fakeLexicons(options.lexicon),
    calls,
    log,
    tracer: options.tracer ?? noopTracer,
    clock: new ManualClock(),
    caller: { organization: 'a', keyId: 'key', requestId: 'req_1' },
    flow: options.flow ?? OPEN_FLOW,
    report: (fact) => void happened.push(fact),
  });
  const kinds = () => happened.map(({ kind }) => kind);
  const rows = () => happened.filter((each) => each.kind === 'row');
  const deltas = () =>
    happened.flatMap((each) => (each.kind === 'audio_generated' ? [Uint8Array.fromBase64(each.base64)] : []));
  return { speaking, fake, happened, kinds, rows, deltas, calls, log };
}

/** Resolves after all pending promises; the code under test waits for nothing else. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A step that the test releases. */
function gate() {
  const { promise: open, resolve: pass } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const wait = () => {
    reach();
    return open;
  };
  return { wait, pass, reached };
}

const ANNA = spokenVoice();

/** A chunk with this number of samples. */
const samples = (count: number): number[][] => [new Array(count).fill(0.25)];

describe('a response', () => {
  it('has the pronunciation lexicon of the organization, and reports the text as written', async () => {
    const { speaking, fake, happened } = driver({
      lexicon: [lexiconEntry('third', { respelling: 'last' }), lexiconEntry('one', { phonemes: 'wan' })],
    });
    speaking.start(SPEECH);
    await settled();
    expect(fake.requests.map(({ text }) => text.trim())).toEqual([
      'One sentence.',
      'And another one!',
      'A last?',
    ]);
    expect(fake.requests[0]?.givenSounds).toEqual([{ start: 0, end: 3, ipa: 'wan' }]);
    expect(happened).toContainEqual({ kind: 'sentence_started', responseId: 'resp_1', text: 'A third?' });
  });

  it('reports each sentence before its audio, and the result after its usage row', async () => {
    const { speaking, fake, happened } = driver();
    speaking.start({ ...SPEECH, voice: ANNA.id, speed: 1.5 });
    expect(happened).toEqual([]);
    await settled();
    const base64 = Buffer.from(new Int16Array(2400).fill(8192).buffer).toString('base64');
    const audio = { kind: 'audio_generated', responseId: 'resp_1', base64 };
    expect(happened).toEqual([
      { kind: 'sentence_started', responseId: 'resp_1', text: 'One sentence. ' },
      audio,
      { kind: 'sentence_started', responseId: 'resp_1', text: 'And another one! ' },
      audio,
      { kind: 'sentence_started', responseId: 'resp_1', text: 'A third?' },
      audio,
      {
        kind: 'row',
        endpoint: '/v1/audio/speech',
        organization: 'a',
        requestId: 'req_1',
        model: 'svc-tts',
        status: 'completed',
        inputTokens: 10,
        outputTokens: 8,
        characters: 39,
        audioBytes: 14_400,
        audioSeconds: 0.3,
      },
      { kind: 'synthesis_completed', responseId: 'resp_1', tokens: { input: 10, output: 8 } },
    ]);
    for (const request of fake.requests) {
      expect(request).toMatchObject({ voice: ANNA, speed: 1.5, priority: 'realtime', delivery: 'stream' });
    }
  });

  it('uses the current state of its voice, and the default voice without one', async () => {
    const asked: unknown[] = [];
    let adaptation = 'first';
    const { speaking, fake } = driver({
      find: async (...of) => {
        asked.push(of);
        return { ...ANNA, adaptation };
      },
    });
    for (const [made, voice] of [ANNA.id, ANNA.id, undefined].entries()) {
      speaking.start({ ...SPEECH, responseId: `resp_${made}`, text: 'One.', voice });
      await settled();
      adaptation = 'better';
    }
    expect(fake.requests.map(({ voice }) => voice?.adaptation)).toEqual(['first', 'better', undefined]);
    expect(asked).toEqual([
      [ANNA.id, 'a'],
      [ANNA.id, 'a'],
    ]);
  });

  it('is billed by characters, not by UTF-16 units', async () => {
    const { speaking, rows } = driver();
    speaking.start({ ...SPEECH, text: 'Good 🌞 day.' });
    await settled();
    expect(rows()).toMatchObject([{ characters: 11 }]);
  });

  it.each<[string, string]>([
    ['without sentences', 'without an end mark'],
    ['with white space around it', '  \n One.  Two. \n '],
    ['with a long sentence', `${'and so on and on, '.repeat(60)}until it stops.`],
  ])('starts sentences that join to the text: %s', async (_, text) => {
    const { speaking, happened } = driver();
    speaking.start({ ...SPEECH, text });
    await settled();
    const startedSentences = happened.flatMap((each) =>
      each.kind === 'sentence_started' ? [each.text] : [],
    );
    expect(startedSentences.join('')).toBe(text);
    expect(happened.at(-1)).toMatchObject({ kind: 'synthesis_completed' });
  });

  it('sends available audio immediately, in deltas of at most 200 ms', async () => {
    const { speaking, deltas } = driver({
      runs: () => [new Array(10).fill(0.25), new Array(24_000).fill(0.25), [0.25]],
    });
    speaking.start({ ...SPEECH, text: 'One.' });
    await settled();
    expect(deltas().map(({ length }) => length)).toEqual([20, 9600, 9600, 9600, 9600, 9600, 2]);
  });

  it.each<[AudioFormat['encoding'], number, number]>([
    ['pcm16', 24_000, 12_347],
    ['pcm16', 8000, 12_347],
    ['pcm16', 22_050, 12_347],
    ['pcm16', 48_000, 12_347],
    ['mulaw', 8000, 12_347],
    ['alaw', 8000, 12_346],
    ['pcm16', 44_100, 4801],
  ])('in %s at %d Hz lasts exactly as long as the generated audio', async (encoding, rateHz, made) => {
    const { speaking, deltas, rows } = driver({ runs: () => samples(made) });
    speaking.start({ ...SPEECH, text: 'One. Two.', format: { encoding, rateHz } });
    await settled();
    const bytes = deltas();
    const sampleBytes = encoding === 'pcm16' ? 2 : 1;
    const sent = bytes.reduce((sum, { length }) => sum + length, 0);
    expect(sent / sampleBytes).toBe(Math.round((2 * made * rateHz) / 24_000));
    for (const { length } of bytes) expect(length).toBeLessThanOrEqual(rateHz * 0.2 * sampleBytes);
    expect(rows()).toMatchObject([{ audioBytes: sent, audioSeconds: (2 * made) / 24_000 }]);
  });

  it.each<AudioFormat>([
    { encoding: 'pcm16', rateHz: 48_000 },
    { encoding: 'pcm16', rateHz: 8000 },
    { encoding: 'mulaw', rateHz: 8000 },
    { encoding: 'alaw', rateHz: 8000 },
  ])('has the same audio in %o', async (format) => {
    const tone = Array.from({ length: 24_000 }, (_, n) => 0.5 * Math.sin((2 * Math.PI * 400 * n) / 24_000));
    const { speaking, deltas } = driver({ runs: () => [tone.slice(0, 7000), tone.slice(7000)] });
    speaking.start({ ...SPEECH, text: 'One.', format });
    await settled();
    const heard = decodeToInt16(Buffer.concat(deltas()), format.encoding);
    const wrong = heard
      .subarray(format.rateHz / 10, -format.rateHz / 10)
      .map((value, at) =>
        Math.abs(value - 16_384 * Math.sin((2 * Math.PI * 400 * (at + format.rateHz / 10)) / format.rateHz)),
      );
    // A quantization step of G.711 at this level is 1,024.
    expect(Math.max(...wrong)).toBeLessThan(format.encoding === 'pcm16' ? 20 : 560);
  });
});

describe('a response with nothing to speak', () => {
  it.each([
    ['…', { runs: () => [] }],
    [' \n ', {}],
  ])('%j is completed without audio, usage and row', async (text, options) => {
    const { speaking, happened, calls } = driver(options);
    speaking.start({ ...SPEECH, text });
    await settled();
    expect(happened).toEqual([
      { kind: 'sentence_started', responseId: 'resp_1', text },
      { kind: 'synthesis_completed', responseId: 'resp_1', tokens: { input: 0, output: 0 } },
    ]);
    expect(calls.unended).toBe(0);
  });
});

describe('a response that fails', () => {
  it.each<[string, Options, Partial<SpeechRequest>, object]>([
    ['because the model is unknown', {}, { model: 'other' }, { code: 'upstream_error' }],
    [
      'because the engine is overloaded',
      { failure: () => new ServiceError('overloaded', 'Too much to do.'), runs: () => [] },
      {},
      { type: 'server_error', code: 'upstream_error', message: 'Too much to do.' },
    ],
    [
      'because a worker crashed',
      { failure: () => new ServiceError('internal', 'A worker died.'), runs: () => [] },
      {},
      { type: 'server_error', code: 'internal_error', message: 'A worker died.' },
    ],
    [
      'because its voice was deleted',
      { find: async () => undefined },
      { voice: ANNA.id },
      {
        type: 'server_error',
        code: 'upstream_error',
        message: expect.stringContaining('must be the id of a stored voice of your organization'),
      },
    ],
    [
      'because the voice lookup fails',
      { find: () => Promise.reject(new Error('private words')) },
      { voice: ANNA.id },
      { code: 'internal_error', message: expect.not.stringContaining('private') },
    ],
  ])('before any audio, %s, has a row', async (_, options, speech, error) => {
    const { speaking, happened } = driver(options);
    speaking.start({ ...SPEECH, ...speech });
    await settled();
    expect(happened.filter(({ kind }) => kind !== 'sentence_started')).toMatchObject([
      { kind: 'row', status: 'failed', audioBytes: 0, audioSeconds: 0, outputTokens: 0 },
      { kind: 'synthesis_failed', responseId: 'resp_1', error },
    ]);
  });

  it.each([
    [async () => undefined, 'info', 'voice_not_found'],
    [() => Promise.reject(voiceDeleted()), 'info', 'voice_not_found'],
    [() => Promise.reject(new Error('away')), 'error', undefined],
  ])('is logged as an error unless the client deleted its voice: %#', async (find, level, code) => {
    const { speaking, log } = driver({ find });
    speaking.start({ ...SPEECH, voice: ANNA.id });
    await settled();
    const fields = { request_id: 'req_1', ...(code !== undefined && { code }) };
    expect(log.lines).toMatchObject([{ level, message: 'speech synthesis failed', fields }]);
  });

  it('after some audio keeps it, and does not report internal details', async () => {
    const failure = ({ text }: { text: string }) => (text.startsWith('And') ? new Error(text) : undefined);
    const { speaking, happened, log } = driver({ failure });
    speaking.start(SPEECH);
    await settled();
    expect(log.lines).toMatchObject([
      { message: 'speech synthesis failed', fields: { request_id: 'req_1' } },
    ]);
    expect(happened.slice(-4)).toMatchObject([
      { kind: 'sentence_started', text: 'And another one! ' },
      { kind: 'audio_generated' },
      { kind: 'row', status: 'failed', audioBytes: 9600, audioSeconds: 0.2 },
      {
        kind: 'synthesis_failed',
        error: { code: 'internal_error', message: expect.not.stringContaining('And') },
      },
    ]);
  });

  it('because credits do not cover it generates nothing and has no row', async () => {
    const { speaking, fake, happened, calls, log } = driver({
      opening() {
        throw new ServiceError('insufficient_quota', 'This may cost 2 credits.');
      },
    });
    speaking.start(SPEECH);
    await settled();
    expect(happened).toMatchObject([
      {
        kind: 'synthesis_failed',
        error: { code: 'upstream_error', message: 'This may cost 2 credits.' },
      },
    ]);
    expect([fake.requests, calls.openings]).toEqual([[], []]);
    expect(log.lines).toMatchObject([{ level: 'info' }]);
  });

  it('is a call that is open before the engine starts', async () => {
    const step = gate();
    const { speaking, fake, kinds, calls } = driver({ opening: step.wait });
    speaking.start({ ...SPEECH, text: 'One.', speed: 0.5 });
    await settled();
    expect([fake.requests, kinds()]).toEqual([[], []]);
    step.pass();
    await settled();
    expect(kinds().at(-1)).toBe('synthesis_completed');
    expect(calls.openings).toMatchObject([
      { maxUsage: { characters: 4, audioSeconds: 13, inputTokens: 1, outputTokens: 325 } },
    ]);
  });
});

describe('a response that is stopped', () => {
  it('before it starts generates nothing', async () => {
    const { speaking, fake, happened } = driver();
    speaking.start(SPEECH);
    speaking.stop('resp_1');
    await speaking.close();
    expect(fake.runsMade).toBe(0);
    expect(happened).toMatchObject([{ kind: 'row', status: 'cancelled', audioBytes: 0, characters: 0 }]);
  });

  it.each([0, 1, 2, 3, 4, 5])('before chunk %d reports nothing more and has its row', async (at) => {
    const step = gate();
    let made = 0;
    const { speaking, fake, happened, kinds } = driver({
      runs: () => [...samples(240), ...samples(240)],
      before: () => (made++ === at ? step.wait() : undefined),
    });
    speaking.start(SPEECH);
    await step.reached;
    const reportedCount = happened.length;
    speaking.stop('resp_1');
    await settled();
    // The engine is still running. The row is written when it is released.
    expect(happened).toHaveLength(reportedCount);
    step.pass();
    await speaking.close();
    expect(happened.slice(reportedCount)).toMatchObject([
      { kind: 'row', status: 'cancelled', audioBytes: 480 * at, audioSeconds: at / 100 },
    ]);
    expect(kinds().filter((kind) => kind === 'audio_generated')).toHaveLength(at);
    expect(fake.leftEarly).toBe(1);
    expect(fake.runsMade).toBe(at);
  });

  it('between the deltas of a chunk sends no more of them', async () => {
    const step = gate();
    let asked = 0;
    const flow: FlowControl = {
      async ready(signal) {
        asked += 1;
        if (asked === 4) await step.wait();
        signal.throwIfAborted();
      },
    };
    const { speaking, rows, deltas } = driver({ runs: () => samples(48_000), flow });
    speaking.start({ ...SPEECH, text: 'One.' });
    await step.reached;
    speaking.stop('resp_1');
    step.pass();
    await speaking.close();
    expect(deltas()).toHaveLength(3);
    // All of the chunk was generated, and a part of it was sent.
    expect(rows()).toMatchObject([{ status: 'cancelled', audioSeconds: 2, audioBytes: 28_800 }]);
  });

  it('reports nothing even if the engine ignores the abort', async () => {
    const step = gate();
    const engine = {
      rateHz: 24_000,
      ready: () => ({ ready: true }),
      close: async () => undefined,
      async *synthesize() {
        await step.wait();
        yield new Float32Array(240);
      },
    };
    const { speaking, kinds, rows } = driver({ engine });
    speaking.start(SPEECH);
    await step.reached;
    speaking.stop('resp_1');
    step.pass();
    await speaking.close();
    expect(kinds()).toEqual(['sentence_started', 'row']);
    expect(rows()).toMatchObject([{ status: 'cancelled', audioBytes: 0 }]);
  });

  it('while its row is being stored has one row and no result', async () => {
    const step = gate();
    const { speaking, kinds, rows } = driver({ storing: step.wait });
    speaking.start({ ...SPEECH, text: 'One.' });
    await step.reached;
    speaking.stop('resp_1');
    step.pass();
    await speaking.close();
    expect(kinds()).toEqual(['sentence_started', 'audio_generated', 'row']);
    expect(rows()).toMatchObject([{ status: 'completed' }]);
  });

  it('frees its slot for the next one immediately', async () => {
    const step = gate();
    const { speaking, happened } = driver({
      before: ({ text }) => (text === 'Slow.' ? step.wait() : undefined),
    });
    speaking.start({ ...SPEECH, text: 'Slow.' });
    await step.reached;
    speaking.stop('resp_1');
    speaking.start({ ...SPEECH, responseId: 'resp_2', text: 'Fast.' });
    await settled();
    expect(happened.at(-1)).toMatchObject({ kind: 'synthesis_completed', responseId: 'resp_2' });
    speaking.stop('resp_2');
    step.pass();
    await speaking.close();
    expect(happened.at(-1)).toMatchObject({ kind: 'row', status: 'cancelled' });
    expect(happened.filter(({ kind }) => kind === 'row')).toHaveLength(2);
  });
});

describe('a slow reader', () => {
  it('pauses the synthesis until it has caught up', async () => {
    let room = Promise.withResolvers<void>();
    let asked = 0;
    const flow: FlowControl = {
      async ready(signal) {
        asked += 1;
        await room.promise;
        signal.throwIfAborted();
      },
    };
    const { speaking, fake, deltas } = driver({ runs: () => [...samples(4800), ...samples(4800)], flow });
    const text = 'A sentence. '.repeat(50);
    speaking.start({ ...SPEECH, text });
    await settled();
    expect([fake.runsMade, deltas().length]).toEqual([0, 0]);
    for (let read = 1; read <= 20; read += 1) {
      const next = Promise.withResolvers<void>();
      const { resolve } = room;
      room = next;
      resolve();
      await settled();
      // One chunk is generated per read.
      expect([fake.runsMade, deltas().length]).toEqual([read, read]);
    }
    expect(asked).toBe(21);
    room.resolve();
    await settled();
    expect(fake.runsMade).toBe(100);
    expect(fake.leftEarly).toBe(0);
  });

  it('may disconnect', async () => {
    const flow: FlowControl = {
      ready: (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
    };
    const { speaking, fake, rows } = driver({ flow });
    speaking.start(SPEECH);
    await settled();
    await speaking.close();
    expect(fake.requests).toEqual([]);
    expect(rows()).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('close', () => {
  it('waits for the engines and the rows', async () => {
    const step = gate();
    const { speaking, fake, kinds } = driver({ before: step.wait });
    speaking.start(SPEECH);
    speaking.start({ ...SPEECH, responseId: 'resp_2' });
    await step.reached;
    let closed = false;
    const closing = speaking.close().then(() => {
      closed = true;
    });
    await settled();
    expect(closed).toBe(false);
    step.pass();
    await closing;
    expect(fake.leftEarly).toBe(2);
    expect(kinds()).toEqual(['sentence_started', 'sentence_started', 'row', 'row']);
    await speaking.close();
  });
});

it('a response has its own trace, linked to the request that opened the connection', async () => {
  const tracer = new RecordingTracer();
  const request = tracer.startSpan('request');
  const { speaking } = request.runInContext(() => driver({ tracer }));
  request.runInContext(() => speaking.start(SPEECH));
  await speaking.close();
  expect(tracer.spans[1]).toMatchObject({
    name: 'response',
    parent: undefined,
    cause: request.traceparent,
    ended: true,
    attributes: { request_id: 'req_1', model: 'svc-tts' },
  });
});
