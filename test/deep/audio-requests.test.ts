/**
 * Requests of clients that the tests cannot install, as these clients write them, with the real models of the default configuration.
 * Each one has what its client reads from the answer. test/e2e/audio-clients.test.ts has the clients that can be installed.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { pcmToWav } from '../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { type LaunchedService, launchService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { expectSentence, TEXT } from '../clients/audio/scenario.ts';
import { HAS_FFPROBE } from '../harness/audio-probe.ts';
import { needs } from '../harness/needs.ts';
import { tempDir } from '../harness/temp-dir.ts';

/** A part of a form. A part with a file name is one of the {@link recordings}. */
interface Part {
  readonly name: string;
  readonly value?: string;
  readonly fileName?: string;
  /** `Content-Type` of the part. Some clients do not send one. */
  readonly type?: string;
}

interface Answer {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  text(): string;
  json(): Record<string, unknown>;
}

interface Exchange {
  readonly path: string;
  /** Default: GET, or POST with a body. */
  readonly method?: string;
  /** Default: the key as a bearer token. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly form?: readonly Part[];
  /** Default: 200. */
  readonly status?: number;
  /** Start of the content type. */
  readonly type: string;
  /** Whether the client closes the connection after the start of the answer. */
  readonly leaves?: boolean;
  /** What the client reads. */
  readonly reads?: (answer: Answer) => void | Promise<void>;
}

type Table = readonly (readonly [name: string, exchange: Exchange])[];

const BEARER = { authorization: `Bearer ${SERVICE_KEY}` };
const SPEECH = '/v1/audio/speech';
const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const BOUNDARY = '4ebf00fbcf09';
const MP3_BYTES_PER_S = 12_000;
const PCM_BYTES_PER_S = 48_000;
const WAV_HEADER_BYTES = 44;

let service: LaunchedService;
/** Recordings of the sentence, by the ending of their file names. */
const recordings = new Map<string, Uint8Array>();
let samples: Uint8Array;

beforeAll(async () => {
  service = await launchService();
  const recorded = async (response_format: string) => {
    const body = JSON.stringify({ model: 'tts-1', voice: 'alloy', input: TEXT, response_format });
    const headers = { ...BEARER, 'content-type': 'application/json' };
    return (await service.fetch(SPEECH, { method: 'POST', headers, body })).bytes();
  };
  samples = await recorded('pcm');
  recordings.set('wav', pcmToWav(samples, SPEECH_RATE_HZ));
  recordings.set('mp3', await recorded('mp3'));
  recordings.set('ogg', await recorded('opus'));
});
afterAll(() => service?.stop());

async function send({ path, method, headers = BEARER, json, form }: Exchange): Promise<Response> {
  if (json !== undefined) {
    const typed = { 'content-type': 'application/json', ...headers };
    return await service.fetch(path, { method: 'POST', headers: typed, body: JSON.stringify(json) });
  }
  if (form !== undefined) {
    const typed = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers };
    return await service.fetch(path, { method: 'POST', headers: typed, body: multipart(form) });
  }
  return await service.fetch(path, { method: method ?? 'GET', headers });
}

/** Written by hand, because FormData adds content types. */
function multipart(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const chunks = parts.flatMap(({ name, value, fileName, type }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    fileName === undefined ? Buffer.from(value ?? '') : recordingOf(fileName),
    Buffer.from('\r\n'),
  ]);
  return Uint8Array.from(Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)]));
}

function recordingOf(fileName: string): Uint8Array {
  const recording = recordings.get(fileName.split('.').at(-1) ?? '');
  if (recording === undefined) throw new Error(`no recording for ${fileName}`);
  return recording;
}

async function check(exchange: Exchange): Promise<void> {
  const response = await send(exchange);
  const { status = 200, type, leaves = false, reads } = exchange;
  if (leaves) await response.body?.cancel();
  const bytes = leaves ? new Uint8Array() : await response.bytes();
  const text = () => new TextDecoder().decode(bytes);
  expect(response.status, bytes.length < 2_000 ? text() : '').toBe(status);
  expect(response.headers.get('content-type') ?? '').toMatch(new RegExp(`^${type}`));
  await reads?.({ headers: response.headers, bytes, text, json: () => JSON.parse(text()) });
}

const everyExchange = (table: Table) => test.each(table)('%s', async (_, exchange) => check(exchange));

/** Seconds of an mp3 file, of samples or of a wav file. */
function secondsOf({ headers, bytes }: Answer): number {
  const type = headers.get('content-type');
  if (type === 'audio/mpeg') return bytes.length / MP3_BYTES_PER_S;
  return (bytes.length - (type === 'audio/wav' ? WAV_HEADER_BYTES : 0)) / PCM_BYTES_PER_S;
}

/** Reads audio whose length is in a range, in seconds. */
const lasting = (atLeast: number, atMost: number) => (answer: Answer) => {
  expect(secondsOf(answer)).toBeGreaterThan(atLeast);
  expect(secondsOf(answer)).toBeLessThan(atMost);
};
/** Where the words do not matter. */
const SHORT = 'Hello world.';
const lastingShort = lasting(0.7, 2.5);

/** Reads audio in which the sentence is heard. */
async function heardSentence(answer: Answer): Promise<void> {
  lasting(2, 4.5)(answer);
  const body = new FormData();
  body.append('model', 'whisper-1');
  body.append('file', new File([Buffer.from(answer.bytes)], 'speech'));
  const response = await service.fetch(TRANSCRIPTIONS, { method: 'POST', headers: BEARER, body });
  expectSentence(((await response.json()) as { text: string }).text);
}

const readsSentence = (answer: Answer) => expectSentence(answer.json().text);
/** Reads an error by its fields. */
const readsError = (error: object) => (answer: Answer) => expect(answer.json()).toMatchObject({ error });
const isMissing = { status: 401, type: 'application/json', reads: readsError({ code: 'missing_api_key' }) };

const list = (answer: Answer, name: string) => answer.json()[name] as Record<string, unknown>[];
const ids = (answer: Answer, name: string) => list(answer, name).map(({ id }) => id);

describe('Open WebUI', () => {
  /*
   * open-webui 0.6, backend/open_webui/routers/audio.py. Its server sends JSON with aiohttp and forms with requests; the key is that of
   * the settings. The lists are read without a key; if that fails, it shows tts-1, tts-1-hd and these voices.
   */
  const USER = {
    'X-OpenWebUI-User-Name': 'Ann%20Example',
    'X-OpenWebUI-User-Id': '1f2e',
    'X-OpenWebUI-User-Email': 'ann@example.com',
    'X-OpenWebUI-User-Role': 'admin',
  };
  const AIOHTTP = { Accept: '*/*', 'User-Agent': 'Python/3.11 aiohttp/3.12.15', ...BEARER };
  const REQUESTS = { Accept: '*/*', 'User-Agent': 'python-requests/2.32.5', ...BEARER };
  const FILE = { name: 'file', fileName: '3c0f8f5e-8ea1-4b1c-b7f2-6d5d1a8d7a10.mp3' };
  const speech = (fields: object, headers = {}): Exchange => ({
    path: SPEECH,
    headers: { ...AIOHTTP, ...headers },
    type: 'audio/mpeg$',
    json: { input: SHORT, voice: 'alloy', model: 'tts-1', ...fields },
  });
  const transcription = (...fields: Part[]): Exchange => ({
    path: TRANSCRIPTIONS,
    headers: REQUESTS,
    type: 'application/json',
    form: [{ name: 'model', value: 'whisper-1' }, ...fields, FILE],
  });

  everyExchange([
    ['speaks, and stores the bytes as mp3', { ...speech({ input: TEXT }), reads: heardSentence }],
    ['speaks for a user whose name it forwards', { ...speech({}, USER), reads: lastingShort }],
    [
      'speaks with the parameters of the administrator',
      { ...speech({ speed: 1.1, response_format: 'mp3', lang_code: 'a' }), reads: lastingShort },
    ],
    ...['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'].map(
      (voice) =>
        [`speaks with ${voice}`, { ...speech({ voice, input: 'Yes.' }), reads: lasting(0.2, 2) }] as const,
    ),
    [
      'speaks an emoji between two sentences of an answer',
      { ...speech({ input: '🎉' }), reads: lasting(0.4, 0.7) },
    ],
    [
      'shows the error of a voice',
      {
        ...speech({ voice: 'Samantha' }),
        status: 400,
        type: 'application/json',
        reads: readsError({ code: 'voice_not_found' }),
      },
    ],
    ['lists the models', { path: '/v1/audio/models', headers: { Accept: '*/*' }, ...isMissing }],
    ['lists the models in another way', { path: '/v1/models', headers: { Accept: '*/*' }, ...isMissing }],
    ['lists the voices', { path: '/v1/audio/voices', headers: { Accept: '*/*' }, ...isMissing }],
    [
      'lists the models behind a proxy that adds the key',
      {
        path: '/v1/audio/models',
        headers: AIOHTTP,
        type: 'application/json',
        reads: (answer) => expect(ids(answer, 'models')).toContain('tts-1'),
      },
    ],
    [
      'lists the voices behind a proxy that adds the key',
      {
        path: '/v1/audio/voices',
        headers: AIOHTTP,
        type: 'application/json',
        reads(answer) {
          expect(ids(answer, 'voices')).toEqual(expect.arrayContaining(['alloy', 'af_heart']));
          expect(list(answer, 'voices').every(({ name }) => typeof name === 'string')).toBe(true);
        },
      },
    ],
    ['transcribes', { ...transcription(), reads: readsSentence }],
    [
      'transcribes with the language of the browser',
      { ...transcription({ name: 'language', value: 'en' }), reads: readsSentence },
    ],
    [
      'transcribes with a language and a region',
      { ...transcription({ name: 'language', value: 'en-US' }), reads: readsSentence },
    ],
    [
      // It repeats a request without the language after an error.
      'transcribes with a language that does not exist',
      {
        ...transcription({ name: 'language', value: 'xx' }),
        status: 400,
        type: 'application/json',
        reads: readsError({ param: 'language' }),
      },
    ],
    [
      'transcribes with the times of segments',
      {
        ...transcription(
          { name: 'response_format', value: 'verbose_json' },
          { name: 'timestamp_granularities[]', value: 'segment' },
        ),
        reads(answer) {
          readsSentence(answer);
          expect(list(answer, 'segments')).toMatchObject([
            { id: 0, start: expect.any(Number), end: expect.any(Number), text: expect.any(String) },
          ]);
          expect(answer.json().language).toBe('english');
        },
      },
    ],
  ]);
});

describe("Home Assistant's integration of OpenAI", () => {
  /*
   * home-assistant/core, homeassistant/components/openai_conversation: tts.py (057855a9) and stt.py (0c3b5f1f), which use the package
   * openai. Instructions that are not set are the text None.
   */
  const SDK = {
    Accept: 'application/octet-stream',
    'User-Agent': 'AsyncOpenAI/Python 2.21.0',
    ...BEARER,
    'X-Stainless-Lang': 'python',
    'X-Stainless-Async': 'async:asyncio',
    'x-stainless-retry-count': '0',
  };
  const PROMPT = 'The following conversation is a smart home user talking to Home Assistant.';
  const speech = (response_format: string, type: string, input = SHORT): Exchange => ({
    path: SPEECH,
    headers: SDK,
    type: `${type}$`,
    json: {
      input,
      model: 'gpt-4o-mini-tts',
      voice: 'marin',
      instructions: 'None',
      response_format,
      speed: 1.0,
    },
  });
  const transcription = (fileName: string, type: string, language: string): Exchange => ({
    path: TRANSCRIPTIONS,
    headers: { ...SDK, Accept: 'application/json' },
    type: 'application/json',
    form: [
      { name: 'model', value: 'gpt-4o-mini-transcribe' },
      { name: 'language', value: language },
      { name: 'prompt', value: PROMPT },
      { name: 'response_format', value: 'json' },
      { name: 'file', fileName, type },
    ],
  });

  everyExchange([
    ['speaks mp3', { ...speech('mp3', 'audio/mpeg', TEXT), reads: heardSentence }],
    ['speaks wav for a voice assistant', { ...speech('wav', 'audio/wav'), reads: lastingShort }],
    ['speaks raw samples', { ...speech('pcm', 'audio/pcm'), reads: lastingShort }],
    ['speaks ogg', speech('opus', 'audio/ogg')],
    ['speaks flac', speech('flac', 'audio/flac')],
    ['speaks aac', speech('aac', 'audio/aac')],
    ['hears wav', { ...transcription('a.wav', 'audio/x-wav', 'en'), reads: readsSentence }],
    ['hears ogg', { ...transcription('a.ogg', 'audio/ogg', 'en'), reads: readsSentence }],
  ]);
});

describe('openai_tts of Home Assistant', () => {
  /*
   * sfortis/openai_tts 3.7 (5c8b3beb), openaitts_engine.py, with urllib; api_validation.py (133236bc) and catalogue_parsers.py (b3b3ebfc)
   * of a later version, with aiohttp. A key is accepted only if the answer to the test is 2xx.
   */
  const HEADERS = { 'User-Agent': 'HomeAssistant-OpenAI-TTS', 'Accept-Encoding': 'identity', ...BEARER };
  const PAYLOAD = { model: 'tts-1', input: SHORT, voice: 'shimmer', response_format: 'mp3', speed: 1.0 };
  const speech = (fields: object): Exchange => ({
    path: SPEECH,
    headers: HEADERS,
    json: { ...PAYLOAD, ...fields },
    type: 'audio/mpeg$',
  });

  everyExchange([
    ['speaks', { ...speech({ input: TEXT }), reads: heardSentence }],
    [
      'speaks with instructions',
      { ...speech({ model: 'gpt-4o-mini-tts', instructions: 'Speak calmly.' }), reads: lastingShort },
    ],
    [
      'speaks with fields of another server',
      { ...speech({ chunk_size: 400, model: 'kokoro', voice: 'af_bella' }), reads: lastingShort },
    ],
    [
      'streams opus',
      {
        ...speech({ response_format: 'opus' }),
        type: 'audio/ogg$',
        reads: ({ bytes }) => expect(bytes.length).toBeGreaterThan(2_000),
      },
    ],
    [
      'tests a key with a full stop',
      {
        path: SPEECH,
        type: 'audio/mpeg$',
        reads: lasting(0.4, 0.7),
        json: { model: 'tts-1', input: '.', voice: 'alloy', response_format: 'mp3' },
      },
    ],
    [
      'tests a wrong key',
      {
        path: SPEECH,
        headers: { Authorization: 'Bearer sk-wrong' },
        json: { model: 'tts-1', input: '.', voice: 'alloy', response_format: 'mp3' },
        status: 401,
        type: 'application/json',
      },
    ],
    [
      // It lets users type a blend if each name is an id.
      'lists the voices',
      {
        path: '/v1/audio/voices',
        type: 'application/json',
        reads(answer) {
          expect(list(answer, 'data')).toEqual([]);
          const voices = list(answer, 'voices');
          expect(voices.length).toBeGreaterThan(13);
          expect(voices.every(({ id, name }) => id === name)).toBe(true);
        },
      },
    ],
  ]);
});

describe('other integrations of Home Assistant', () => {
  /*
   * fabio-garavini/ha-openai-whisper-stt-api (42988459), openai_whisper_cloud/stt.py, with requests; einToast/openai_stt_ha (b44e07a4),
   * http_client.py, with httpx, which writes the file before the fields, and websocket_client.py.
   */
  everyExchange([
    [
      'openai_whisper_cloud finds its model',
      {
        path: '/v1/models',
        headers: { ...BEARER, 'Content-Type': 'application/json' },
        type: 'application/json',
        reads: (answer) =>
          expect(ids(answer, 'data')).toEqual(
            expect.arrayContaining(['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe']),
          ),
      },
    ],
    [
      'openai_whisper_cloud transcribes',
      {
        path: TRANSCRIPTIONS,
        type: 'application/json',
        reads: readsSentence,
        form: [
          { name: 'model', value: 'whisper-1' },
          { name: 'language', value: 'en' },
          { name: 'temperature', value: '0' },
          { name: 'prompt', value: '' },
          { name: 'file', fileName: 'audio.wav', type: 'audio/wav' },
        ],
      },
    ],
    [
      'openai_stt transcribes',
      {
        path: TRANSCRIPTIONS,
        type: 'application/json',
        reads: readsSentence,
        form: [
          { name: 'file', fileName: 'whisper_audio.wav', type: 'audio/wav' },
          { name: 'model', value: 'gpt-4o-mini-transcribe' },
          { name: 'language', value: 'en' },
          { name: 'prompt', value: '' },
          { name: 'temperature', value: '0' },
          { name: 'response_format', value: 'json' },
        ],
      },
    ],
  ]);

  test('openai_stt transcribes over a WebSocket', async () => {
    const url = `${service.baseUrl.replace('http', 'ws')}/v1/realtime?intent=transcription`;
    const socket = new WebSocket(url, { headers: { ...BEARER, 'OpenAI-Beta': 'realtime=v1' } });
    onTestFinished(() => socket.close());
    const transcript = Promise.withResolvers<unknown>();
    socket.onclose = () => transcript.reject(new Error('closed'));
    socket.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as { type: string; transcript?: string };
      if (event.type === 'conversation.item.input_audio_transcription.completed')
        transcript.resolve(event.transcript);
    };
    await new Promise((resolve) => {
      socket.onopen = resolve;
    });
    const events = [
      {
        type: 'transcription_session.update',
        session: {
          input_audio_format: 'pcm16',
          input_audio_transcription: { model: 'gpt-4o-mini-transcribe', prompt: '', language: 'en' },
          turn_detection: { type: 'server_vad' },
          input_audio_noise_reduction: null,
        },
      },
      ...chunksOf(samples, 4_096).map((chunk) => ({
        type: 'input_audio_buffer.append',
        audio: chunk.toBase64(),
      })),
      { type: 'input_audio_buffer.commit' },
    ];
    for (const event of events) socket.send(JSON.stringify(event));
    expectSentence(await transcript.promise);
  });
});

function chunksOf(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
}

describe('clients of Kokoro-FastAPI', () => {
  /*
   * remsky/Kokoro-FastAPI 0.8.1-rc1 (26eec068): what api/tests/integration and api/tests/test_openai_endpoints.py send to the paths that
   * OpenAI's API has, in our own words. Its paths /dev, /v1/download and /v1/audio/voices/combine, its voices of other languages, the
   * subtraction of voices and tags do not exist here, and SSML has another field. Errors have OpenAI's shape.
   */
  const speech = (fields: object, type = 'audio/mpeg'): Exchange => ({
    path: SPEECH,
    type: `${type}$`,
    json: { model: 'kokoro', input: SHORT, voice: 'af_heart', ...fields },
  });
  const refused = (fields: object, error: object): Exchange => ({
    ...speech(fields, 'application/json;charset=utf-8'),
    status: 400,
    reads: readsError({ type: 'invalid_request_error', ...error }),
  });
  const TYPES = {
    mp3: 'audio/mpeg',
    opus: 'audio/ogg',
    aac: 'audio/aac',
    flac: 'audio/flac',
    wav: 'audio/wav',
    pcm: 'audio/pcm',
  };

  everyExchange([
    [
      'hear the short name of a voice',
      {
        ...speech({ model: 'tts-1', voice: 'nova', input: 'Test.', response_format: 'wav' }, 'audio/wav'),
        reads: ({ bytes }) => expect(bytes.length).toBeGreaterThan(1_000),
      },
    ],
    ...['af_heart', 'bf_emma'].map(
      (voice) =>
        [
          `hear ${voice}`,
          {
            ...speech({ model: 'tts-1', voice, input: TEXT, response_format: 'wav' }, 'audio/wav'),
            reads: heardSentence,
          },
        ] as const,
    ),
    ...Object.entries(TYPES).map(
      ([response_format, type]) =>
        [
          `hear ${response_format} without a stream`,
          speech({ response_format, stream: false }, type),
        ] as const,
    ),
    ['hear a stream', { ...speech({ stream: true }), reads: lastingShort }],
    ['hear the default voice', { ...speech({ voice: undefined }), reads: lastingShort }],
    ...['af_bella(2)+af_sky(1)', 'af_bella+af_sky', 'af_bella + am_adam', 'af_bella(0.7)+nova'].map(
      (voice) => [`hear ${voice}`, { ...speech({ voice }), reads: lastingShort }] as const,
    ),
    [
      'hear speech with all other fields, which are ignored',
      {
        ...speech({
          lang_code: 'a',
          volume_multiplier: 1.5,
          download_format: 'wav',
          return_timing: false,
          normalization_options: { normalize: true, unit_normalization: false },
          voice_aliases: null,
          return_download_link: true,
          allow_voice_tags: false,
          ssml: false,
          stream: true,
        }),
        reads(answer) {
          lastingShort(answer);
          expect(answer.headers.get('x-download-path')).toBeNull();
        },
      },
    ],
    ...['ef_dora', 'zf_xiaobei'].map(
      (voice) => [`hear ${voice}`, { ...speech({ voice }), reads: lastingShort }] as const,
    ),
    ...['invalid_voice', 'af_bella+', '+af_bella', 'af_bella++af_sky'].map(
      (voice) => [`learn that ${voice} does not exist`, refused({ voice }, { param: 'voice' })] as const,
    ),
    ...['af_bella(0)', 'af_bella(-1)', 'af_bella(nan)', 'af_bella(2', 'af_bella()+af_sky'].map(
      (voice) => [`learn that ${voice} has no weight`, refused({ voice }, { param: 'voice' })] as const,
    ),
    ['learn that a text is empty', refused({ input: '' }, { param: 'input' })],
    ['learn that a model is unknown', refused({ model: 'invalid-model' }, { code: 'model_not_found' })],
    [
      'learn that a format is unknown',
      refused({ response_format: 'invalid_format' }, { param: 'response_format' }),
    ],
    [
      'list the models',
      {
        path: '/v1/models',
        type: 'application/json',
        reads(answer) {
          expect(ids(answer, 'data')).toEqual(
            expect.arrayContaining(['tts-1', 'tts-1-hd', 'kokoro', 'gpt-4o-mini-tts']),
          );
          expect(answer.json().object).toBe('list');
        },
      },
    ],
    [
      'read a model',
      {
        path: '/v1/models/tts-1',
        type: 'application/json',
        reads: (answer) =>
          expect(answer.json()).toMatchObject({ id: 'tts-1', object: 'model', created: expect.any(Number) }),
      },
    ],
    [
      'read a model that does not exist',
      {
        path: '/v1/models/nonexistent-model',
        status: 404,
        type: 'application/json',
        reads: readsError({ code: 'model_not_found', type: 'invalid_request_error' }),
      },
    ],
    [
      'list the voices',
      {
        path: '/v1/audio/voices',
        type: 'application/json',
        reads(answer) {
          expect(ids(answer, 'voices')).toEqual(expect.arrayContaining(['af_heart', 'bf_emma', 'am_adam']));
          expect(list(answer, 'voices').every(({ id, name }) => id === name)).toBe(true);
        },
      },
    ],
    [
      'list the voices as text',
      {
        path: '/v1/audio/voices?legacy=true',
        type: 'application/json',
        reads: (answer) =>
          expect(answer.json().voices).toEqual(expect.arrayContaining(['af_heart', 'alloy'])),
      },
    ],
  ]);

  test('hear speech at half the speed', async () => {
    const seconds = async (speed?: number) => {
      const response = await send(
        speech({ model: 'tts-1', voice: 'af_bella', input: TEXT, response_format: 'pcm', speed }),
      );
      return (await response.bytes()).length / PCM_BYTES_PER_S;
    };
    const ratio = (await seconds(0.5)) / (await seconds());
    expect(Math.abs(ratio / 2 - 1)).toBeLessThan(0.15);
  });
});

describe('first attempts', () => {
  const speech = (fields: object): Exchange => ({
    path: SPEECH,
    type: 'audio/mpeg$',
    json: { model: 'tts-1', input: SHORT, voice: 'alloy', ...fields },
  });
  const refused = (fields: object, error: object): Exchange => ({
    ...speech(fields),
    status: 400,
    type: 'application/json',
    reads: readsError(error),
  });
  const transcription = (fields: Readonly<Record<string, string>>): Exchange => ({
    path: TRANSCRIPTIONS,
    type: 'application/json',
    form: [
      ...Object.entries({ model: 'whisper-1', ...fields }).map(([name, value]) => ({ name, value })),
      { name: 'file', fileName: 'speech.wav', type: 'audio/wav' },
    ],
  });

  everyExchange([
    ...['tts-1-1106', 'tts-1-hd-1106', 'tts-1-hd'].map(
      (model) => [`speech with ${model}`, { ...speech({ model }), reads: lastingShort }] as const,
    ),
    ['a voice as an object', { ...speech({ voice: { id: 'alloy' } }), reads: lastingShort }],
    ['no voice', { ...speech({ voice: undefined }), reads: lastingShort }],
    ...['audio/mpeg', 'audio/wav', 'application/json', 'text/html'].map(
      (accept) =>
        [
          `speech for ${accept}`,
          { ...speech({}), headers: { ...BEARER, accept }, reads: lastingShort },
        ] as const,
    ),
    [
      'mp3 as events of a blend',
      {
        ...speech({ stream_format: 'sse', voice: 'af_bella(2)+af_sky(1)' }),
        type: 'text/event-stream',
        reads: (answer) => expect(answer.text()).toMatch(/^data: \{"type":"speech\.audio\.done".*\n\n$/m),
      },
    ],
    [
      'a form with a speed',
      {
        path: SPEECH,
        type: 'audio/mpeg$',
        reads: lasting(0.5, 1.6),
        form: Object.entries({ model: 'tts-1', input: SHORT, voice: 'alloy', speed: '1.5' }).map(
          ([name, value]) => ({ name, value }),
        ),
      },
    ],
    ['more characters than at OpenAI', { ...speech({ input: 'Go on. '.repeat(700) }), leaves: true }],
    ['too many characters', refused({ input: 'a'.repeat(5_001) }, { code: 'string_above_max_length' })],
    ['a text without words', { ...speech({ input: '😀🎉' }), reads: lasting(0.4, 0.7) }],
    ['a text in another script', { ...speech({ input: '你好' }), reads: lasting(0.3, 2) }],
    ['a text in a script that is not read', refused({ input: 'សួស្តី' }, { param: 'input' })],
    ['an empty text', refused({ input: '' }, { param: 'input' })],
    ['a format in capitals', refused({ response_format: 'MP3' }, { code: 'unsupported_value' })],
    ['a speed in quotes', refused({ speed: '1.5' }, { param: 'speed', code: 'invalid_type' })],
    [
      'a model in capitals',
      refused({ model: 'TTS-1' }, { message: expect.stringContaining("Did you mean 'tts-1'?") }),
    ],
    [
      'a GET of speech',
      {
        path: SPEECH,
        status: 405,
        type: 'application/json',
        reads: ({ headers }) => expect(headers.get('allow')).toBe('POST'),
      },
    ],
    ['a HEAD of speech', { path: SPEECH, method: 'HEAD', status: 405, type: 'application/json' }],
    ['a HEAD of the models', { path: '/v1/models', method: 'HEAD', type: 'application/json' }],
    [
      'the preflight of a web page',
      {
        path: SPEECH,
        method: 'OPTIONS',
        status: 204,
        type: '$',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,x-stainless-os',
        },
        reads: ({ headers }) => expect(headers.get('access-control-allow-origin')).toBe('*'),
      },
    ],
    [
      'the times of words only',
      {
        ...transcription({ response_format: 'verbose_json', 'timestamp_granularities[]': 'word' }),
        reads(answer) {
          expectSentence(
            list(answer, 'words')
              .map(({ word }) => word)
              .join(' '),
          );
          expect(answer.json()).not.toHaveProperty('segments');
        },
      },
    ],
    ['no language', { ...transcription({ language: '' }), reads: readsSentence }],
    [
      'speakers',
      {
        ...transcription({ model: 'gpt-4o-transcribe-diarize', response_format: 'diarized_json' }),
        status: 400,
        reads: readsError({ message: expect.stringContaining('diarization') }),
      },
    ],
    [
      'a model of speakers',
      {
        ...transcription({ model: 'gpt-4o-transcribe-diarize' }),
        status: 400,
        reads: readsError({ message: expect.stringMatching(/diarization/i) }),
      },
    ],
  ]);

  test('the sound of a video', async (context) => {
    needs(context, HAS_FFPROBE, 'FFmpeg');
    const folder = await tempDir();
    const [sound, video] = [join(folder, 'sound.wav'), join(folder, 'video.mp4')];
    await writeFile(sound, recordingOf('sound.wav'));
    const picture = ['-f', 'lavfi', '-i', 'testsrc=size=64x64:duration=1'];
    const codecs = ['-c:v', 'mpeg4', '-c:a', 'aac'];
    const child = Bun.spawn(['ffmpeg', '-v', 'error', ...picture, '-i', sound, ...codecs, video], {
      stderr: 'pipe',
    });
    const errors = await new Response(child.stderr).text();
    expect(await child.exited, errors).toBe(0);
    recordings.set('mp4', await readFile(video));
    await check({
      path: TRANSCRIPTIONS,
      type: 'application/json',
      reads: readsSentence,
      form: [
        { name: 'model', value: 'whisper-1' },
        { name: 'file', fileName: 'video.mp4', type: 'video/mp4' },
      ],
    });
  });
});
