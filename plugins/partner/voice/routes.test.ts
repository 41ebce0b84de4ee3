import { describe, expect, it, onTestFinished } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import type { LexiconEntry } from '../../../src/contract/stores/lexicon-store.ts';
import { bind } from '../../../src/http/route.ts';
import { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { fakeLexicons, lexiconEntry } from '../../../test/doubles/fake-lexicons.ts';
import { FakeTtsEngine, type FakeTtsOptions } from '../../../test/doubles/fake-tts-engine.ts';
import { KEY_B, KEY_ID_A, testApp } from '../../../test/harness/test-app.ts';
import { spokenVoice } from '../../../test/media/spoken-voice.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../../tools/harness/doubles/recorded-calls.ts';
import { voiceRoutes } from './routes.ts';

const PATH = '/v1/voices/partner';
const MESSAGE = {
  type: 'voice-request',
  text: 'One. Two.',
  sampleRate: 24_000,
  timestamp: 1_765_000_000_000,
  call: { id: 'call', orgId: 'org' },
  assistant: { id: 'assistant', name: 'Ann' },
};

const ANNA = spokenVoice({ id: 'tts-vc-voice_a' });

/** The route over a scripted engine, in the real app. */
function setUp(
  options: FakeTtsOptions = {},
  limits: { perOrganization?: number; lexicon?: readonly LexiconEntry[] } & RecordedCallsOptions = {},
) {
  const engine = new FakeTtsEngine(options);
  const calls = new RecordedCalls(limits);
  const requests = new SpeechRequests({
    endpoint: 'POST /v1/voices/partner',
    tts: { ids: ['svc-tts'], get: (id): TtsEngine | undefined => (id === 'svc-tts' ? engine : undefined) },
    calls,
    clock: new ManualClock(),
    requestsPerOrganization: limits.perOrganization ?? 100,
    voices: {
      find: async (id, organization) => (id === ANNA.id && organization === 'a' ? ANNA : undefined),
      findSimilar: async () => ANNA.id,
    },
    lexicons: fakeLexicons(limits.lexicon),
  });
  const app = testApp({ routes: [bind(voiceRoutes(5000), { voiceRequests: requests })] });
  onTestFinished(() => app.close());
  const send = (body: unknown, query = '?model=svc-tts', key = 'key-of-a') =>
    app.send(`${PATH}${query}`, {
      method: 'POST',
      headers: { 'x-partner-secret': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const post = (fields: object = {}, query?: string, key?: string) =>
    send({ message: { ...MESSAGE, ...fields } }, query, key);
  return { engine, calls, rows: calls.rows, requests, app, send, post };
}

describe('the audio', () => {
  it('has the pronunciation lexicon of the organization', async () => {
    const { post, engine } = setUp({}, { lexicon: [lexiconEntry('two', { respelling: 'deux' })] });
    await (await post()).arrayBuffer();
    await (await post({}, undefined, KEY_B)).arrayBuffer();
    expect(engine.requests.map(({ text }) => text.trim())).toEqual(['One.', 'deux.', 'One.', 'Two.']);
  });

  it('is raw samples at 24 kHz and has one usage row', async () => {
    const { post, rows, engine } = setUp();
    const response = await post();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/octet-stream',
    ]);
    const bytes = new Int16Array(await response.arrayBuffer());
    // Two sentences of 2400 samples with the value 0.25.
    expect(bytes).toEqual(new Int16Array(4800).fill(8192));
    expect(rows).toMatchObject([
      {
        endpoint: 'POST /v1/voices/partner',
        organization: 'a',
        model: 'svc-tts',
        status: 'completed',
        characters: 9,
        audioBytes: 9600,
        audioSeconds: 0.2,
        outputTokens: 5,
      },
    ]);
    expect(engine.requests[0]).toMatchObject({
      priority: 'realtime',
      delivery: 'stream',
      speed: 1,
      fairnessKey: KEY_ID_A,
    });
  });

  it.each([8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])(
    'has the requested sample rate: %i Hz',
    async (sampleRate) => {
      const { post, rows } = setUp();
      const response = await post({ sampleRate });
      const samples = new Int16Array(await response.arrayBuffer());
      expect(samples.length).toBe(Math.round(0.2 * sampleRate));
      // In the middle, because the ends fade to silence.
      const middle = samples.subarray(samples.length * 0.3, samples.length * 0.7);
      expect(middle.every((sample) => Math.abs(sample - 8192) < 20)).toBe(true);
      expect(rows).toMatchObject([{ audioBytes: samples.length * 2, audioSeconds: 0.2 }]);
    },
  );

  it('is streamed during synthesis, in whole samples', async () => {
    const gate = Promise.withResolvers<void>();
    const { post } = setUp({
      runs: () => [new Array(4800).fill(0.25), new Array(4800).fill(0.25)],
      before: (_, run) => (run === 1 ? gate.promise : undefined),
    });
    const response = await post({ text: 'One.', sampleRate: 11_025 });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).toBeGreaterThan(1000);
    expect((first?.value?.length ?? 1) % 2).toBe(0);
    gate.resolve();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      expect(part.value.length % 2).toBe(0);
    }
  });

  it('stops when the client disconnects, and the row counts what was synthesized', async () => {
    const { post, rows, engine } = setUp({ runs: () => new Array(1000).fill(new Array(240).fill(0.1)) });
    const response = await post({ text: 'One.' });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => rows.length).toBe(1);
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
    expect(engine.runsMade).toBeLessThan(10);
  });
});

describe('a request', () => {
  it('may contain unknown fields, up to the body limit', async () => {
    const { send, rows } = setUp();
    const artifact = {
      messages: Array.from({ length: 1000 }, (_, i) => ({ role: 'user', message: `${i}` })),
    };
    const message = { ...MESSAGE, artifact, chat: null, phoneNumber: [1], timestamp: 'later', call: 7 };
    const response = await send({ message, more: { deep: [{}] } });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    expect(rows).toHaveLength(1);
  });

  it('uses model and voice of the query; the voice of the body takes precedence', async () => {
    const { post, engine } = setUp();
    await (await post({}, '')).arrayBuffer();
    await (await post({}, '?voice_id=tts-vc-voice_a&more=1')).arrayBuffer();
    await (await post({ voiceId: 'tts-vc-voice_a' }, '?voice_id=other')).arrayBuffer();
    await (await post({ voiceId: null })).arrayBuffer();
    const voices = engine.requests.filter((_, at) => at % 2 === 0).map(({ voice }) => voice);
    expect(voices).toEqual([undefined, ANNA, ANNA, undefined]);
  });

  it.each<[string, unknown, string | null, RegExp]>([
    ['without a message', {}, 'message', /^'message' /],
    ['that is a list', [MESSAGE], null, /JSON object/],
    ['with a message that is a string', { message: 'Hello.' }, 'message', /object/],
    ['of another type', { message: { ...MESSAGE, type: 'hello' } }, 'message.type', /voice-request/],
    ['without a type', { message: { ...MESSAGE, type: undefined } }, 'message.type', /voice-request/],
    ['without a text', { message: { ...MESSAGE, text: undefined } }, 'message.text', /string/],
    ['with a text that is a number', { message: { ...MESSAGE, text: 7 } }, 'message.text', /string/],
    ['with an empty text', { message: { ...MESSAGE, text: '' } }, 'message.text', /blank/],
    ['with a blank text', { message: { ...MESSAGE, text: ' \n' } }, 'message.text', /blank/],
    [
      'with a text of 5001',
      { message: { ...MESSAGE, text: 'a'.repeat(5001) } },
      'message.text',
      /5000.*5001/,
    ],
    ['without a rate', { message: { ...MESSAGE, sampleRate: undefined } }, 'message.sampleRate', /integer/],
    ['at 7999 Hz', { message: { ...MESSAGE, sampleRate: 7999 } }, 'message.sampleRate', /8000/],
    ['at 48001 Hz', { message: { ...MESSAGE, sampleRate: 48_001 } }, 'message.sampleRate', /48000/],
    ['at half a Hz', { message: { ...MESSAGE, sampleRate: 8000.5 } }, 'message.sampleRate', /integer/],
    [
      'with a rate that is a string',
      { message: { ...MESSAGE, sampleRate: '8000' } },
      'message.sampleRate',
      /integer/,
    ],
    [
      'with an unknown voice',
      { message: { ...MESSAGE, voiceId: 'other' } },
      'message.voiceId',
      /stored voice/,
    ],
  ])('%s returns 400 with the name of the field', async (_, body, param, message) => {
    const { send, engine, calls } = setUp();
    const response = await send(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', param, message: expect.stringMatching(message) },
    });
    expect([engine.requests, calls.openings]).toEqual([[], []]);
  });

  it('may have 5000 characters, counted as code points', async () => {
    const { post, rows } = setUp();
    await (await post({ text: '😀'.repeat(5000) })).arrayBuffer();
    expect(rows).toMatchObject([{ characters: 5000 }]);
  });

  const FOREIGN = 'tts-vc-voice_a';
  it.each<[string, object, string, string, string]>([
    ['an unknown model', {}, '?model=other', 'model_not_found', 'model'],
    ['the voice of another organization', {}, `?voice_id=${FOREIGN}`, 'voice_not_found', 'voice_id'],
    ['such a voice in the body', { voiceId: FOREIGN }, '', 'voice_not_found', 'message.voiceId'],
    ['the query parameter voice', {}, '?voice=x', 'unknown_parameter', 'voice'],
    ['the query parameter voiceId', {}, '?voiceId=x', 'unknown_parameter', 'voiceId'],
  ])('with %s is rejected', async (_, message, query, code, param) => {
    const { post, calls } = setUp();
    const response = await post(message, query, 'key-of-b');
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error).toMatchObject({ code, param });
    expect(error.message).toContain(param);
    expect(calls.openings).toEqual([]);
  });

  it.each([
    [{}, '?voice_id='],
    [{ voiceId: ' ' }, '?voice_id='],
    [{ voiceId: '' }, '?model=&api-version=1'],
  ])('with a blank voice %j %s uses the default voice', async (message, query) => {
    const { post } = setUp();
    expect((await post(message, query)).status).toBe(200);
  });

  it.each(['…', '—', '👍', '**', '\u200b'])(
    'with %j is answered with empty audio and has no usage row',
    async (text) => {
      const { post, rows, calls } = setUp({ runs: () => [] });
      const response = await post({ text });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/octet-stream');
      expect((await response.bytes()).length).toBe(0);
      expect([rows, calls.unended]).toEqual([[], 0]);
    },
  );

  it.each<[string, FakeTtsOptions & RecordedCallsOptions, number]>([
    [
      'the credits do not cover',
      {
        opening: () => {
          throw new ServiceError('insufficient_quota', 'This may cost 2 credits.');
        },
      },
      429,
    ],
    [
      'the engine is overloaded',
      {
        runs: () => [],
        failure: () => new ServiceError('overloaded', 'Full.', { retryAfterS: 1 }),
      },
      503,
    ],
    ['the engine fails', { runs: () => [], failure: () => new ServiceError('upstream', 'Gone.') }, 502],
    ['an internal error occurs', { runs: () => [], failure: () => new Error('private words') }, 500],
  ])('returns the HTTP status if %s', async (_, options, status) => {
    const { post, calls } = setUp(options, options);
    const response = await post();
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('private');
    expect(calls.unended).toBe(0);
  });

  it('above the concurrency limit of the organization returns 429', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine } = setUp({ before: () => gate.promise }, { perOrganization: 1 });
    const first = post();
    await expect.poll(() => engine.requests.length).toBe(1);
    expect((await post()).status).toBe(429);
    gate.resolve();
    expect((await first).status).toBe(200);
  });
});

describe('drain', () => {
  it('waits for running requests and stops them at the deadline', async () => {
    const { post, requests, rows } = setUp({ runs: () => new Array(1000).fill([0.1]) });
    const response = await post({ text: 'One.' });
    const draining = requests.open.drain(AbortSignal.abort());
    await expect(response.arrayBuffer()).rejects.toThrow();
    await draining;
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
    requests.open.stop();
  });
});

it('the OpenAPI document has the body with its limits and the query', async () => {
  const { app } = setUp();
  const document = (await (await app.send('/swagger/json')).json()) as {
    paths: Record<string, { post: { parameters: object[]; requestBody: { content: object } } }>;
  };
  const { parameters, requestBody } = document.paths[PATH]?.post ?? {};
  expect(parameters).toMatchObject([{ name: 'model' }, { name: 'voice_id' }, { name: 'language' }]);
  expect(requestBody?.content).toMatchObject({
    'application/json': {
      schema: {
        required: ['message'],
        properties: {
          message: {
            required: ['type', 'text', 'sampleRate'],
            properties: { text: { maxLength: 5000 }, sampleRate: { minimum: 8000, maximum: 48_000 } },
          },
        },
      },
    },
  });
});
