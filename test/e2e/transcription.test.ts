import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { sine, wavFile } from '../../tools/harness/media/wav-files.ts';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  NO_TEXT,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import {
  type FakeSttUpstream,
  openaiAnswer,
  startFakeSttUpstream,
} from '../../tools/harness/upstreams/fake-stt-upstream.ts';
import { repetitions } from '../harness/tier.ts';

/** Interval of the pieces of a slow upload or response. */
const PACE_MS = 20;

/** The real process with the real audio file reader and a fake transcription upstream. */

const PATH = '/v1/audio/transcriptions';
const TEXT = 'Ask not what your country can do for you.';

/** No other plugin is needed. */
const ENV = { PLUGINS: 'speech' };

let upstream: FakeSttUpstream;
let service: LaunchedService;
beforeAll(async () => {
  upstream = startFakeSttUpstream();
  const model = `kind = "upstream"\nbase_url = "${upstream.baseUrl}"\nmodel = "other"\n`;
  service = await launchService({
    config: `[models."svc-tts"]\n${model}[models."svc-stt"]\n${model}${NO_TEXT}[limits]\ntranscription_max_bytes = 4000000`,
    env: ENV,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

/** A WAV file with a sine tone. */
function wav(seconds: number): File {
  const shape = { kind: 'int', bits: 16, rateHz: LISTEN_RATE_HZ, channels: 1 } as const;
  return new File([wavFile(shape, sine(seconds, LISTEN_RATE_HZ))], 'tone.wav');
}

const client = () => new OpenAI({ apiKey: SERVICE_KEY, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });

function post(fields: Record<string, string | File>, path = PATH, init: RequestInit = {}): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ model: 'svc-stt', file: wav(0.5), ...fields })) {
    body.append(name, value);
  }
  return service.fetch(path, { method: 'POST', headers: { 'x-api-key': SERVICE_KEY }, body, ...init });
}

async function newestRow(): Promise<Record<string, unknown>> {
  const page = (await (await service.fetch('/v1/usage?limit=1')).json()) as {
    data: Record<string, unknown>[];
  };
  return page.data[0] ?? {};
}

/** Names of the files in the upload folder. */
const uploadedFiles = () => readdirSync(join(service.dataDir, 'uploads'));

describe('the OpenAI SDK', () => {
  test('gets the transcript and token usage', async () => {
    const { data, response } = await client()
      .audio.transcriptions.create({ file: wav(1.5), model: 'svc-stt', language: 'en', prompt: 'Kennedy' })
      .withResponse();
    expect(data).toEqual({
      text: TEXT,
      usage: {
        type: 'tokens',
        input_tokens: 17,
        output_tokens: 11,
        total_tokens: 28,
        input_token_details: { audio_tokens: 15, text_tokens: 2 },
      },
    });
    expect(upstream.seen).toMatchObject([{ fields: { model: 'other', language: 'en', prompt: 'Kennedy' } }]);
    expect(upstream.seen[0]?.wav.length).toBe(44 + 1.5 * LISTEN_RATE_HZ * 2);
    expect(await newestRow()).toMatchObject({
      endpoint: PATH,
      model: 'svc-stt',
      status: 'completed',
      audio_seconds: 1.5,
      input_tokens: 17,
      output_tokens: 11,
      transcript: TEXT,
      request_id: response.headers.get('x-request-id'),
    });
  });

  test('gets verbose_json, text, srt and vtt', async () => {
    const { transcriptions } = client().audio;
    const request = { file: wav(1), model: 'svc-stt' };
    const verbose = await transcriptions.create({
      ...request,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(verbose).toMatchObject({ text: TEXT, duration: 1, language: 'english', segments: [{ end: 1 }] });
    expect(verbose.words).toHaveLength(9);
    expect(await transcriptions.create({ ...request, response_format: 'text' })).toBe(`${TEXT}\n`);
    const cue = '00:00:00,000 --> 00:00:01,000';
    expect(await transcriptions.create({ ...request, response_format: 'srt' })).toBe(
      `1\n${cue}\n${TEXT}\n\n`,
    );
    expect(await transcriptions.create({ ...request, response_format: 'vtt' })).toBe(
      `WEBVTT\n\n${cue.replaceAll(',', '.')}\n${TEXT}\n\n`,
    );
  });

  test('gets log probabilities, and sends lists and objects in brackets', async () => {
    const tokens = (TEXT.match(/ ?[^ ]+/g) ?? []).map((token) => ({
      token,
      logprob: -0.5,
      bytes: [...Buffer.from(token)],
    }));
    onTestFinished(() => upstream.answer(openaiAnswer));
    upstream.answer(() => Response.json({ text: TEXT, logprobs: tokens }));
    const { logprobs } = await client().audio.transcriptions.create({
      file: wav(1),
      model: 'svc-stt',
      include: ['logprobs'],
      languages: ['en', 'de'],
      keywords: ['Kennedy', 'Houston'],
      chunking_strategy: { type: 'server_vad', threshold: 0.4, prefix_padding_ms: 300 },
    });
    expect(logprobs).toEqual(tokens);
    expect(upstream.seen).toMatchObject([
      { fields: { 'include[]': ['logprobs'], 'languages[]': ['en', 'de'], prompt: 'Kennedy, Houston.' } },
    ]);
  });

  test('streams the transcript as deltas', async () => {
    const stream = await client().audio.transcriptions.create({
      file: wav(1),
      model: 'svc-stt',
      stream: true,
    });
    let text = '';
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === 'transcript.text.delta') text += event.delta;
      else
        expect(event).toMatchObject({ type: 'transcript.text.done', text: TEXT, usage: { type: 'tokens' } });
    }
    expect(text).toBe(TEXT);
    expect(types.slice(0, -1).length).toBeGreaterThan(3);
    expect(types.at(-1)).toBe('transcript.text.done');
  });

  test('translates', async () => {
    const { translations } = client().audio;
    expect(await translations.create({ file: wav(1), model: 'svc-stt' })).toMatchObject({ text: TEXT });
    const verbose = await translations.create({
      file: wav(1),
      model: 'svc-stt',
      response_format: 'verbose_json',
    });
    expect(verbose).toMatchObject({ language: 'english', duration: 1 });
    expect(upstream.seen.map(({ path }) => path)).toEqual(new Array(2).fill('/v1/audio/translations'));
    expect(await newestRow()).toMatchObject({ endpoint: '/v1/audio/translations', status: 'completed' });
  });

  test('gets 400 for a streamed or buffered upload that is not audio', async () => {
    const path = fileURLToPath(new URL('../../package.json', import.meta.url));
    const streamed = client().audio.transcriptions.create({ file: createReadStream(path), model: 'svc-stt' });
    await expect(streamed).rejects.toMatchObject({ status: 400, param: 'file' });
    const bytes = await toFile(readFileSync(path), 'a.mp3');
    const renamed = client().audio.transcriptions.create({ file: bytes, model: 'svc-stt' });
    await expect(renamed).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    expect([upstream.seen, uploadedFiles()]).toEqual([[], []]);
  });

  test('maps errors to its error classes', async () => {
    const refused = client().audio.transcriptions.create({ file: wav(1), model: 'whisper-9' });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(refused).rejects.toMatchObject({
      param: 'model',
      code: 'model_not_found',
      requestID: expect.stringMatching(/^req_/),
    });
  });
});

describe('recordings as they are found', () => {
  const SHAPE = { kind: 'int', bits: 16, rateHz: LISTEN_RATE_HZ, channels: 1 } as const;
  const tone = sine(1.5, LISTEN_RATE_HZ);
  const inverted = tone.map((value) => -value);
  const fixture = (name: string) => readFileSync(new URL(`../fixtures/audio/${name}`, import.meta.url));

  test.each([
    ['WAV without sizes', wavFile({ ...SHAPE, claims: { dataBytes: 0 } }, tone), 1.5],
    ['WAV with the largest sizes', wavFile({ ...SHAPE, claims: { dataBytes: 0xffff_ffff } }, tone), 1.5],
    ['WAV of an interrupted recording', wavFile({ ...SHAPE, claims: { dataBytes: 1000 } }, tone), 1.5],
    [
      'stereo WAV with one channel inverted',
      wavFile({ ...SHAPE, channels: 2 }, (c) => (c ? inverted : tone)),
      1.5,
    ],
    ['AMR', fixture('tone.amr'), 0.98],
    ['GSM in WAV', fixture('tone.gsm.wav'), 1],
  ] as const)('%s is transcribed and billed by its audio', async (_, file, seconds) => {
    const response = await post({ file: new File([file], 'recording') });
    expect(response.status).toBe(200);
    const samples = upstream.seen[0]?.wav.subarray(44) ?? Buffer.alloc(0);
    expect(samples.length / 2 / LISTEN_RATE_HZ).toBe(seconds);
    expect(samples.subarray(samples.length / 2, samples.length / 2 + 100).some((byte) => byte !== 0)).toBe(
      true,
    );
    expect(await newestRow()).toMatchObject({ status: 'completed', audio_seconds: seconds });
  });

  test('a codec without a decoder is named, with a command for conversion', async () => {
    const response = await post({ file: new File(['#!SILK_V3', new Uint8Array(100)], 'voice.amr') });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'file', message: expect.stringMatching(/\(SILK\).* ffmpeg -i RECORDING /) },
    });
    expect(upstream.seen).toEqual([]);
  });
});

describe('uploads', () => {
  test('over transcription_max_bytes are rejected, with or without content-length', async () => {
    const over = new File([new Uint8Array(4_000_001)], 'a.wav');
    const response = await post({ file: over });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { param: 'file', code: 'payload_too_large' } });
    const endless = createReadStream('/dev/zero');
    const chunked = await client()
      .audio.transcriptions.create({ file: endless, model: 'svc-stt' })
      .catch((error: unknown) => error);
    endless.destroy();
    // The server responds and closes the connection while the client still sends. The client reports either.
    expect(chunked).toBeInstanceOf(OpenAI.APIError);
    await expect.poll(uploadedFiles).toEqual([]);
  });

  test('may exceed the size limit of other request bodies', async () => {
    expect((await post({ file: wav(120) })).status).toBe(200);
    expect(upstream.seen[0]?.wav.length).toBe(44 + 120 * LISTEN_RATE_HZ * 2);
    expect(uploadedFiles()).toEqual([]);
  });

  /** Sends the head and the first bytes of an upload. @param rest the remaining headers and the bytes. */
  function startUpload(
    rest: string,
    to = service,
  ): {
    readonly socket: ReturnType<typeof connect>;
    readonly sent: Promise<void>;
  } {
    const { port } = new URL(to.baseUrl);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    const head = `POST ${PATH} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${SERVICE_KEY}\r\ncontent-type: multipart/form-data; boundary=b\r\n`;
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.write(`${head}${rest}`, () => resolve());
    return { socket, sent: promise };
  }
  const PART_OF_FILE = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF';

  test('that are aborted leave no file', async () => {
    const aborted = () => service.log().filter(({ status }) => status === 499).length;
    const before = aborted();
    const { socket, sent } = startUpload(`content-length: 100000\r\n\r\n${PART_OF_FILE}`);
    await sent;
    await expect.poll(uploadedFiles).toHaveLength(1);
    socket.destroy();
    await expect.poll(aborted).toBe(before + 1);
    await expect.poll(uploadedFiles).toEqual([]);
  });

  test('of a killed process are deleted at the next start', async () => {
    const config = NO_MODELS;
    const first = await launchService({ config, env: ENV });
    onTestFinished(async () => void (await first.stop()));
    const { socket, sent } = startUpload(`content-length: 100000\r\n\r\n${PART_OF_FILE}`, first);
    await sent;
    const uploads = join(first.dataDir, 'uploads');
    await expect.poll(() => readdirSync(uploads)).toHaveLength(1);
    first.signal('SIGKILL');
    await first.exited;
    socket.destroy();
    expect(readdirSync(uploads)).toHaveLength(1);
    const second = await launchService({ config, dataDir: first.dataDir, env: ENV });
    onTestFinished(async () => void (await second.stop()));
    expect(readdirSync(uploads)).toEqual([]);
  });

  test('that end before the closing boundary get 400', async () => {
    const { socket } = startUpload(
      `connection: close\r\ncontent-length: ${PART_OF_FILE.length}\r\n\r\n${PART_OF_FILE}`,
    );
    let response = '';
    for await (const data of socket) response += String(data);
    expect(response).toMatch(/^HTTP\/1\.1 400/);
    expect(response).toContain('not a valid multipart form');
    expect(uploadedFiles()).toEqual([]);
  });

  test('may be sent slowly', async () => {
    const body = new FormData();
    body.append('model', 'svc-stt');
    body.append('file', wav(0.1));
    const request = new Request('http://x', { method: 'POST', body });
    // The runtime drops the content type when the body is read, so it is read first.
    const type = request.headers.get('content-type') ?? '';
    const bytes = await request.bytes();
    const slow = new ReadableStream({
      async start(controller) {
        for (let at = 0; at < bytes.length; at += 1000) {
          controller.enqueue(bytes.slice(at, at + 1000));
          await Bun.sleep(PACE_MS);
        }
        controller.close();
      },
    });
    const headers = { 'x-api-key': SERVICE_KEY, 'content-type': type };
    const response = await service.fetch(PATH, { method: 'POST', headers, body: slow });
    expect(response.status).toBe(200);
  });
});

test('aborting a streamed transcription cancels the upstream request', async () => {
  upstream.answer(
    () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(PACE_MS);
            const event = { type: 'transcript.text.delta', delta: ' word' };
            controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  );
  const before = upstream.cancelled;
  const controller = new AbortController();
  const response = await post({ stream: 'true' }, PATH, { signal: controller.signal });
  await response.body?.getReader().read();
  controller.abort();
  await expect.poll(() => upstream.cancelled).toBe(before + 1);
  await expect.poll(async () => (await newestRow()).status).toBe('cancelled');
  expect(String((await newestRow()).transcript)).toMatch(/^word/);
  expect(uploadedFiles()).toEqual([]);
});

const CONCURRENT = repetitions(10, 30);

test(`${CONCURRENT} concurrent requests succeed`, async () => {
  upstream.answer(() => Response.json({ text: TEXT }));
  const responses = await Promise.all(Array.from({ length: CONCURRENT }, () => post({ file: wav(0.2) })));
  expect(responses.map(({ status }) => status)).toEqual(new Array(CONCURRENT).fill(200));
});

test('transcripts, prompts and keys are not logged', () => {
  expect(service.log().length).toBeGreaterThan(20);
  expect(service.output()).not.toMatch(/country|Kennedy|test-key-of/);
});
