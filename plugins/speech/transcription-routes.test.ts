import { readdirSync } from 'node:fs';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { SttEngine, TranscriptSegment } from '../../src/contract/engine.ts';
import { ServiceError } from '../../src/contract/error.ts';
import type { UsageEntry } from '../../src/contract/usage.ts';
import { FakeAudioFiles } from '../../test/support/fake-audio-files.ts';
import { FakeSttEngine, type FakeSttOptions } from '../../test/support/fake-stt-engine.ts';
import { RecordingLogger } from '../../test/support/recording-logger.ts';
import { tempDir } from '../../test/support/temp-dir.ts';
import { type TestApp, testApp } from '../../test/support/test-app.ts';
import { Transcriber } from './transcribe.ts';
import { transcriptionRoutes } from './transcription-routes.ts';

const PATH = '/v1/audio/transcriptions';
const TRANSLATIONS = '/v1/audio/translations';
const FILE_BYTES = 64 * 1024;
/** 500 ms for the fake reader. */
const AUDIO = new File([new Uint8Array(16_000)], 'clip.wav');

let apps: TestApp[] = [];
afterEach(() => {
  for (const app of apps) app.close();
  apps = [];
});

type Value = string | File;
type Fields = Record<string, Value | readonly Value[]>;

/** The routes over a scripted engine, in the real app. */
async function setUp(options: FakeSttOptions = {}, { perOrganization = 100 } = {}) {
  const engine = new FakeSttEngine(options);
  const files = new FakeAudioFiles();
  const rows: UsageEntry[] = [];
  const log = new RecordingLogger();
  const folder = await tempDir();
  const transcriber = new Transcriber({
    stt: { ids: ['svc-stt'], get: (id): SttEngine | undefined => (id === 'svc-stt' ? engine : undefined) },
    audioFiles: files,
    usage: { write: async (entry) => void rows.push(entry) },
    log,
    requestsPerOrganization: perOrganization,
  });
  const routes = transcriptionRoutes(transcriber, { folder, fileBytes: FILE_BYTES });
  const app = testApp({ routes: [routes] });
  apps.push(app);
  const post = (fields: Fields, { path = PATH, key = 'key-of-a', ...init }: PostOptions = {}) => {
    const body = new FormData();
    for (const [name, values] of Object.entries({ model: 'svc-stt', file: AUDIO, ...fields })) {
      for (const value of [values].flat() as Value[]) body.append(name, value);
    }
    return app.send(path, { method: 'POST', headers: { 'x-api-key': key }, body, ...init });
  };
  const staged = () => readdirSync(folder);
  return { engine, files, rows, log, transcriber, app, post, staged };
}

interface PostOptions extends RequestInit {
  readonly path?: string;
  readonly key?: string;
}

const SEGMENT: TranscriptSegment = {
  startS: 0.1,
  endS: 0.4,
  text: 'Ask not.',
  tokens: [1, 2],
  temperature: 0,
  averageLogProbability: -0.25,
  compressionRatio: 1.5,
  noSpeechProbability: 0.125,
};
const WORD = { word: 'Ask', startS: 0.1, endS: 0.2 };
const TIMED = { final: { segments: [SEGMENT], words: [WORD] } };
const USAGE = {
  type: 'tokens',
  input_tokens: 13,
  output_tokens: 3,
  total_tokens: 16,
  input_token_details: { audio_tokens: 11, text_tokens: 2 },
};

describe('formats', () => {
  it('json has the text and the tokens', async () => {
    const { post, engine, staged } = await setUp();
    const response = await post({});
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ text: 'Ask not.', usage: USAGE });
    expect(engine.requests).toEqual([
      {
        task: 'transcribe',
        language: undefined,
        prompt: undefined,
        temperature: 0,
        timestamps: 'none',
        priority: 'interactive',
      },
    ]);
    expect(engine.heard).toEqual([8000]);
    expect(staged()).toEqual([]);
  });

  it('verbose_json has segments with all that is known of them', async () => {
    const { post, engine } = await setUp(TIMED);
    const response = await post({ response_format: 'verbose_json' });
    expect(await response.json()).toEqual({
      task: 'transcribe',
      language: 'english',
      duration: 0.5,
      text: 'Ask not.',
      segments: [
        {
          id: 0,
          seek: 10,
          start: 0.1,
          end: 0.4,
          text: 'Ask not.',
          tokens: [1, 2],
          temperature: 0,
          avg_logprob: -0.25,
          compression_ratio: 1.5,
          no_speech_prob: 0.125,
        },
      ],
      usage: { type: 'duration', seconds: 1 },
    });
    expect(engine.requests[0]?.timestamps).toBe('segment');
  });

  it('times are to the millisecond', async () => {
    const at = { startS: 0.1 + 0.2, endS: 7.6000000000000005 };
    const final = { durationS: 11.8725625, segments: [{ ...SEGMENT, ...at }], words: [{ ...WORD, ...at }] };
    const { post } = await setUp({ final });
    const response = await post({
      response_format: 'verbose_json',
      'timestamp_granularities[]': ['word', 'segment'],
    });
    const shown = { start: 0.3, end: 7.6 };
    expect(await response.json()).toMatchObject({ duration: 11.873, segments: [shown], words: [shown] });
  });

  it.each([
    [['word'], false, true],
    [['word', 'segment'], true, true],
    [['segment'], true, false],
  ])('verbose_json with %j', async (granularities, segments, words) => {
    const { post, engine } = await setUp(TIMED);
    const response = await post({
      response_format: 'verbose_json',
      'timestamp_granularities[]': granularities,
    });
    const body = (await response.json()) as Record<string, unknown>;
    expect([Object.hasOwn(body, 'segments'), Object.hasOwn(body, 'words')]).toEqual([segments, words]);
    if (words) expect(body.words).toEqual([{ word: 'Ask', start: 0.1, end: 0.2 }]);
    expect(engine.requests[0]?.timestamps).toBe(words ? 'word' : 'segment');
  });

  it.each([
    ['text', 'Ask not.\n'],
    ['srt', '1\n00:00:00,100 --> 00:00:00,400\nAsk not.\n\n'],
    ['vtt', 'WEBVTT\n\n00:00:00.100 --> 00:00:00.400\nAsk not.\n\n'],
  ])('%s is plain text', async (response_format, text) => {
    const { post, engine } = await setUp(TIMED);
    const response = await post({ response_format });
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe(text);
    expect(engine.requests[0]?.timestamps).toBe(response_format === 'text' ? 'none' : 'segment');
  });

  it('a translation is English whatever was spoken', async () => {
    const { post, engine, rows } = await setUp({ final: { language: 'de' } });
    const response = await post({ response_format: 'verbose_json' }, { path: TRANSLATIONS });
    expect(await response.json()).toMatchObject({ task: 'translate', language: 'english' });
    expect(engine.requests[0]?.task).toBe('translate');
    expect(rows).toMatchObject([{ endpoint: TRANSLATIONS, status: 'completed' }]);
  });

  it.each([
    [{ language: undefined }, { language: 'de' }, 'german'],
    [{ language: undefined }, {}, 'unknown'],
  ])('the language may come from the request', async (final, fields, language) => {
    const { post } = await setUp({ final });
    const response = await post({ response_format: 'verbose_json', ...fields });
    expect(await response.json()).toMatchObject({ language });
  });
});

describe('fields', () => {
  it('reach the engine', async () => {
    const { post, engine } = await setUp();
    const fields = { language: 'de', prompt: 'Ahrensburg', temperature: '0.25', chunking_strategy: 'auto' };
    expect((await post({ ...fields, stream: 'false' })).status).toBe(200);
    expect(engine.requests[0]).toMatchObject({ language: 'de', prompt: 'Ahrensburg', temperature: 0.25 });
  });

  it('a blank prompt is none', async () => {
    const { post, engine } = await setUp();
    await post({ prompt: '  ' });
    expect(engine.requests[0]?.prompt).toBeUndefined();
  });

  it.each([
    ['an unknown model', { model: 'whisper-1' }, 'model', 'model_not_found'],
    ['a model that is a file', { model: AUDIO }, 'model', 'invalid_type'],
    ['a model given twice', { model: ['svc-stt', 'svc-stt'] }, 'model', 'invalid_value'],
    ['text as file', { file: 'RIFF' }, 'file', 'invalid_type'],
    ['two files', { file: [AUDIO, AUDIO] }, 'file', 'invalid_value'],
    ['a list of files', { file: [], 'file[]': AUDIO }, 'file', 'invalid_type'],
    ['no file', { file: [] }, 'file', 'missing_required_parameter'],
    ['an empty file', { file: new File([], 'clip.wav') }, 'file', 'invalid_value'],
    ['a file that is no audio', { file: new File(['xyz'], 'clip.wav') }, 'file', 'invalid_value'],
    ['another file', { file2: AUDIO }, 'file2', 'unknown_parameter'],
    ['a language the model lacks', { language: 'fr' }, 'language', 'invalid_value'],
    ['a name for a language', { language: 'german' }, 'language', 'invalid_value'],
    ['an empty language', { language: '' }, 'language', 'invalid_value'],
    ['a language in capitals', { language: 'EN' }, 'language', 'invalid_value'],
    ['a list of languages', { 'language[]': ['en', 'de'] }, 'language', 'invalid_type'],
    ['a huge prompt', { prompt: 'x'.repeat(5001) }, 'prompt', 'string_above_max_length'],
    ['a prompt beyond any field', { prompt: 'x'.repeat(70_000) }, 'prompt', 'string_above_max_length'],
    ['a format of speakers', { response_format: 'diarized_json' }, 'response_format', 'unsupported_value'],
    ['an empty format', { response_format: '' }, 'response_format', 'unsupported_value'],
    ['a temperature above 1', { temperature: '2' }, 'temperature', 'invalid_value'],
    ['a temperature below 0', { temperature: '-0.1' }, 'temperature', 'invalid_value'],
    ['a temperature in words', { temperature: 'hot' }, 'temperature', 'invalid_type'],
    ['a stream of yes', { stream: 'yes' }, 'stream', 'invalid_type'],
    [
      'a stream of captions',
      { stream: 'true', response_format: 'srt' },
      'response_format',
      'unsupported_value',
    ],
    [
      'a stream of times',
      { stream: 'true', response_format: 'verbose_json' },
      'response_format',
      'unsupported_value',
    ],
    ['times in json', { 'timestamp_granularities[]': 'word' }, 'timestamp_granularities', 'invalid_value'],
    [
      'times of letters',
      { response_format: 'verbose_json', 'timestamp_granularities[]': 'letter' },
      'timestamp_granularities.0',
      'unsupported_value',
    ],
    [
      'voice activity settings',
      { 'chunking_strategy[type]': 'server_vad' },
      'chunking_strategy',
      'invalid_type',
    ],
    ['log probabilities', { 'include[]': 'logprobs' }, 'include', 'unsupported_parameter'],
    ['speakers', { 'known_speaker_names[]': 'Ann' }, 'known_speaker_names', 'unsupported_parameter'],
    ['a misspelt field', { promt: 'x' }, 'promt', 'unknown_parameter'],
    ['a field of prototypes', { '__proto__[x]': 'y' }, '__proto__', 'unknown_parameter'],
  ] as [string, Fields, string, string][])('%s is refused', async (_, fields, param, code) => {
    const { post, engine, rows, staged, files } = await setUp();
    const response = await post(fields);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        param,
        code,
        message: expect.stringContaining(param.split('.')[0] ?? ''),
      },
    });
    expect([engine.requests, rows, staged(), files.reading]).toEqual([[], [], [], 0]);
  });

  it('a translation has no language and no granularities', async () => {
    const { post } = await setUp();
    for (const field of ['language', 'timestamp_granularities[]', 'chunking_strategy']) {
      const response = await post({ [field]: 'en' }, { path: TRANSLATIONS });
      expect(await response.json()).toMatchObject({
        error: { param: field.replace('[]', ''), code: 'unknown_parameter' },
      });
    }
  });

  it('any language there is may be asked of an engine that does not tell', async () => {
    const { post } = await setUp({ languages: undefined });
    expect((await post({ language: 'fr' })).status).toBe(200);
    for (const language of ['xx', 'EN', 'english', 'en-US', '']) {
      const response = await post({ language });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringMatching(/an ISO 639-1 code/) },
      });
    }
  });

  it('never repeats what the request said', async () => {
    const { post } = await setUp();
    const secret = 'my private diary';
    for (const name of ['prompt', 'language', 'temperature', 'stream', 'response_format', 'model']) {
      const response = await post({ [name]: secret.repeat(400) });
      expect(response.status).toBe(400);
      expect(await response.text()).not.toContain(secret);
    }
  });
});

describe('bodies', () => {
  it.each([
    ['JSON', 'application/json', '{"model":"svc-stt"}', 415],
    ['a urlencoded form', 'application/x-www-form-urlencoded', 'model=svc-stt', 415],
    ['audio itself', 'audio/wav', 'RIFF', 415],
    ['no boundary', 'multipart/form-data', 'x', 400],
    ['a broken boundary', 'multipart/form-data; boundary=b', '--c\r\n\r\n', 400],
    ['nothing', 'multipart/form-data; boundary=b', '', 400],
  ])('%s', async (_, type, body, status) => {
    const { app, staged } = await setUp();
    const headers = { 'x-api-key': 'key-of-a', 'content-type': type };
    const response = await app.send(PATH, { method: 'POST', headers, body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect(staged()).toEqual([]);
  });

  it('may be larger than other bodies, and have a limit of their own', async () => {
    const { app, post, rows, staged } = await setUp();
    // The app of the tests takes 64 KiB, and a form beside its file 1 MiB.
    expect((await post({ file: new File([new Uint8Array(FILE_BYTES)], 'a.wav') })).status).toBe(200);
    const over = await post({ file: new File([new Uint8Array(FILE_BYTES + 1)], 'a.wav') });
    expect(over.status).toBe(413);
    expect(await over.json()).toMatchObject({ error: { param: 'file', code: 'payload_too_large' } });
    const announced = await app.send(PATH, {
      method: 'POST',
      headers: { 'x-api-key': 'key-of-a', 'content-length': '2000000' },
    });
    expect(announced.status).toBe(413);
    expect([rows.length, staged()]).toEqual([1, []]);
  });

  it('are not read without a key', async () => {
    const { app } = await setUp();
    expect((await app.send(PATH, { method: 'POST', headers: {}, body: new FormData() })).status).toBe(401);
  });
});

/** The `data` of each event. */
async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  const records = (await response.text()).split('\n\n').filter((record) => record !== '');
  return records.map((record) => JSON.parse(record.slice(record.indexOf('data: ') + 6)));
}

describe('a stream', () => {
  it('has deltas that make up the text, and the text', async () => {
    const { post, rows, staged } = await setUp({ deltas: ['Ask', ' not,', ' "my"\nfriend'] });
    const response = await post({ stream: 'true' });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await eventsOf(response)).toEqual([
      { type: 'transcript.text.delta', delta: 'Ask' },
      { type: 'transcript.text.delta', delta: ' not,' },
      { type: 'transcript.text.delta', delta: ' "my"\nfriend' },
      { type: 'transcript.text.done', text: 'Ask not, "my"\nfriend', usage: USAGE },
    ]);
    expect(rows).toHaveLength(1);
    expect(staged()).toEqual([]);
  });

  it('of nothing has its end only', async () => {
    const { post } = await setUp({ deltas: [] });
    expect(await eventsOf(await post({ stream: 'true', response_format: 'text' }))).toEqual([
      { type: 'transcript.text.done', text: '', usage: USAGE },
    ]);
  });

  it('is sent while it is made', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, rows } = await setUp({ before: (delta) => (delta === 1 ? gate.promise : undefined) });
    const reader = (await post({ stream: 'true' })).body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first).toBe('data: {"type":"transcript.text.delta","delta":"Ask"}\n\n');
    expect(rows).toEqual([]);
    gate.resolve();
    while (!(await reader?.read())?.done);
    expect(rows).toHaveLength(1);
  });

  it('that fails before its first event has a status', async () => {
    const { post } = await setUp({ deltas: [], failure: () => new ServiceError('upstream', 'Failed.') });
    expect((await post({ stream: 'true' })).status).toBe(502);
  });

  it('that fails later ends with an error that SDKs throw', async () => {
    const { post, rows, log, staged, app } = await setUp({
      failure: () => new ServiceError('internal', 'The model crashed.', { code: 'worker_crashed' }),
    });
    const text = await (await post({ stream: 'true' })).text();
    expect(text).toMatch(/\n\nevent: error\ndata: \{"error":\{"message":"The model crashed."/);
    expect(rows).toMatchObject([{ status: 'failed', audioSeconds: 0.5, transcript: 'Ask not.' }]);
    expect(log.lines).toMatchObject([{ level: 'error', message: 'transcription failed in its stream' }]);
    expect(staged()).toEqual([]);

    const client = new OpenAI({
      apiKey: 'key-of-a',
      baseURL: 'http://service.test/v1',
      maxRetries: 0,
      fetch: (url, init) => Promise.resolve(app.app.handle(new Request(url as string, init as RequestInit))),
    });
    const stream = await client.audio.transcriptions.create({ file: AUDIO, model: 'svc-stt', stream: true });
    const consume = async () => {
      for await (const event of stream) expect(event.type).toBe('transcript.text.delta');
    };
    await expect(consume()).rejects.toMatchObject({ code: 'worker_crashed', type: 'server_error' });
  });

  it('stops the engine when its reader leaves', async () => {
    const { post, rows, engine, staged, files } = await setUp({
      deltas: new Array(100).fill('word '),
      before: (delta, signal) =>
        delta < 2 ? undefined : new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    const reader = (await post({ stream: 'true' })).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(engine.leftEarly).toBe(1);
    expect(rows).toMatchObject([
      { status: 'cancelled', audioSeconds: 0.5, transcript: expect.stringMatching(/^word /) },
    ]);
    expect([staged(), files.reading]).toEqual([[], 0]);
  });
});

describe('usage', () => {
  it('is one row with what was heard and said', async () => {
    const { post, rows } = await setUp();
    const response = await post({});
    expect(rows).toEqual([
      {
        endpoint: PATH,
        organization: 'a',
        requestId: response.headers.get('x-request-id'),
        model: 'svc-stt',
        status: 'completed',
        inputTokens: 13,
        outputTokens: 3,
        audioSeconds: 0.5,
        transcript: 'Ask not.',
      },
    ]);
  });

  it('of one that failed counts what was heard by then', async () => {
    const { post, rows, files } = await setUp();
    files.breaksAfter = 3;
    const response = await post({ prompt: 'Eight ch' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'file' } });
    expect(rows).toMatchObject([{ status: 'failed', audioSeconds: 0.3, inputTokens: 5, outputTokens: 0 }]);
    expect(rows[0]).not.toHaveProperty('transcript');
  });

  it('has no row for a full queue', async () => {
    const overloaded = () => new ServiceError('overloaded', 'Full.', { retryAfterS: 2 });
    for (const options of [{ refusal: overloaded }, { deltas: [], failure: overloaded }]) {
      const { post, rows } = await setUp(options);
      const response = await post({});
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
      expect(rows).toEqual([]);
    }
  });

  it('tells of a client that left', async () => {
    const controller = new AbortController();
    const { post, rows, staged } = await setUp({ before: () => controller.abort() });
    const response = await post({}, { signal: controller.signal });
    expect(response.status).toBe(499);
    expect(rows).toMatchObject([{ status: 'cancelled', audioSeconds: 0.5 }]);
    expect(staged()).toEqual([]);
  });
});

describe('places', () => {
  it('are taken before the upload is read, and given back', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine, app } = await setUp({ before: () => gate.promise }, { perOrganization: 1 });
    const held = post({});
    await expect.poll(() => engine.requests.length).toBe(1);
    let pulled = false;
    const body = new ReadableStream(
      {
        pull() {
          pulled = true;
          return new Promise(() => undefined);
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'x-api-key': 'key-of-a', 'content-type': 'multipart/form-data; boundary=b' };
    const refused = await app.send(PATH, { method: 'POST', headers, body });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(pulled).toBe(false);
    const other = post({}, { key: 'key-of-b' });
    gate.resolve();
    expect([(await held).status, (await other).status, (await post({})).status]).toEqual([200, 200, 200]);
  });

  it('for the decoder are waited for, and no organization has them all', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine, files } = await setUp({ before: () => gate.promise });
    const ofA = Array.from({ length: 6 }, () => post({}));
    await expect.poll(() => engine.requests.length).toBe(files.mostOpen - 2);
    const ofB = Array.from({ length: 6 }, () => post({}, { key: 'key-of-b' }));
    await expect.poll(() => engine.requests.length).toBe(files.mostOpen);
    gate.resolve();
    const answers = await Promise.all([...ofA, ...ofB]);
    expect(answers.map(({ status }) => status)).toEqual(new Array(12).fill(200));
    expect(engine.requests).toHaveLength(12);
    expect(files.reading).toBe(0);
  });

  it('of a refused request are free again', async () => {
    const { post } = await setUp({}, { perOrganization: 1 });
    expect((await post({ temperature: '7' })).status).toBe(400);
    expect((await post({})).status).toBe(200);
  });

  it('are waited for at the end, and stopped when its time is over', async () => {
    const { post, transcriber, rows, engine } = await setUp({
      before: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    const answer = post({});
    await expect.poll(() => engine.heard).toEqual([8000]);
    await transcriber.drain(AbortSignal.abort());
    expect((await answer).status).toBe(503);
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('Swagger', () => {
  it('shows both forms with rules and examples', async () => {
    const { app } = await setUp();
    const document = JSON.parse(await (await app.send('/swagger/json')).text());
    const operation = document.paths[PATH].post;
    expect(operation['x-upload-max-bytes']).toBe(FILE_BYTES + 1024 * 1024);
    expect(Object.keys(operation.responses)).toEqual([
      '200',
      '400',
      '401',
      '413',
      '415',
      '429',
      '500',
      '502',
      '503',
    ]);
    expect(Object.keys(operation.responses['200'].content)).toEqual([
      'application/json',
      'text/plain',
      'text/event-stream',
    ]);
    const { schema } = operation.requestBody.content['multipart/form-data'];
    expect(schema.required).toEqual(['file', 'model']);
    expect(Object.keys(schema.properties)).toEqual([
      'file',
      'model',
      'prompt',
      'response_format',
      'temperature',
      'stream',
      'language',
      'timestamp_granularities[]',
      'chunking_strategy',
    ]);
    expect(schema.properties.file).toMatchObject({ type: 'string', format: 'binary' });
    const translation = document.paths[TRANSLATIONS].post.requestBody.content['multipart/form-data'].schema;
    expect(Object.keys(translation.properties)).not.toContain('language');
  });
});
