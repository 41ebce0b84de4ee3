import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ConfigError, loadConfig } from '../../server/config.ts';
import { type SharedServers, startSharedServers } from '../../tools/harness/batches/batch-sites.ts';
import { sine, wavFile } from '../../tools/harness/media/wav-files.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import {
  EMBED_MODEL,
  type FullService,
  launchFullService,
  TEXT_MODEL,
  voiceClip,
} from '../../tools/harness/services/full-service.ts';
import {
  childrenOf,
  LaunchError,
  type LaunchedService,
  launchService,
  NO_MODELS,
} from '../../tools/harness/services/launcher.ts';
import { smallClip } from '../../tools/harness/services/video-service.ts';
import { shake } from '../harness/handshake.ts';
import { needs } from '../harness/needs.ts';
import { repetitions } from '../harness/tier.ts';

/**
 * Sends private values that contain a marker to every endpoint. The marker must not appear in the output of the process
 * and its children at log level debug, in metrics, in traces or in errors for callers.
 */

const MARK = 'mrk7';
const KEY = `${MARK}-key-of-organization-a`;
const UPSTREAM_KEY = `${MARK}-key-of-upstream`;
const SEARCH_KEY = `${MARK}-key-of-search`;
const COLLECTOR_KEY = `${MARK}-key-of-collector`;
/** A text with the marker and the field that it is sent in. */
const text = (place: string) => `${MARK}-${place} Quietly.`;

const JSON_TYPE = { 'content-type': 'application/json' };
type Send = (path: string, init?: RequestInit) => Promise<Response>;

const STATUSES = [400, 401, 404, 422, 429, 500, 503, 200];

/** A server that echoes each request in a response with rotating status codes; below `/final` with 400. */
function startEcho() {
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (request.method === 'GET' && pathname.endsWith('/models')) return new Response('{}');
      const sent = JSON.stringify([request.url, ...request.headers]) + (await request.text());
      requests.push(sent);
      const status = pathname.startsWith('/final/')
        ? 400
        : (STATUSES[requests.length % STATUSES.length] ?? 500);
      return Response.json({ error: { message: sent, type: sent, param: sent, code: sent } }, { status });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, requests, close: () => server.stop(true) };
}

/** A trace collector that stores the received bodies. */
function startCollector() {
  const traces: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const key = request.headers.get('x-collector-key');
      traces.push(`${key} ${Buffer.from(await request.arrayBuffer()).toString('latin1')}`);
      return new Response('{}');
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, traces, close: () => server.stop(true) };
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: JSON_TYPE,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

function form(fields: Readonly<Record<string, string | File>>): RequestInit {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return { method: 'POST', body };
}

const tone = () =>
  Uint8Array.from(wavFile({ kind: 'int', bits: 16, rateHz: 16_000, channels: 1 }, sine(2, 16_000)));

/** Requests with private texts to models that succeed and to models that fail; without API keys. */
function privateRequests(clip: Uint8Array<ArrayBuffer>): readonly (readonly [string, RequestInit?])[] {
  const wav = (name: string) => new File([tone()], `${text(name)}.wav`, { type: 'audio/wav' });
  const tool = {
    type: 'function',
    name: `${MARK}_tool`,
    description: text('tool'),
    parameters: {
      type: 'object',
      properties: { [`${MARK}_field`]: { type: 'string', description: text('field') } },
    },
  };
  const perModel = (model: string) =>
    [
      ['/v1/chat/completions', post({ model, messages: [{ role: 'user', content: text('chat') }] })],
      [
        '/v1/chat/completions',
        post({
          model,
          stream: true,
          messages: [{ role: 'system', content: text('system') }],
          user: text('user'),
        }),
      ],
      [
        '/v1/responses',
        post({
          model,
          input: text('input'),
          instructions: text('instructions'),
          tools: [tool],
          metadata: { secret: text('metadata') },
        }),
      ],
      ['/v1/responses', post({ model, stream: true, input: text('streamed') })],
    ] as const;
  const line = (model: string) =>
    JSON.stringify({
      custom_id: text('custom'),
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content: text('line') }] },
    });
  return [
    ...[TEXT_MODEL, 'echo-chat'].flatMap(perModel),
    ...[EMBED_MODEL, 'echo-embed'].map(
      (model) => ['/v1/embeddings', post({ model, input: text('embed') })] as const,
    ),
    ...['svc-tts', 'echo-tts'].flatMap((model) => [
      ['/v1/audio/speech', post({ model, input: text('speech'), instructions: text('how') })] as const,
      ['/v1/audio/speech', post({ model, input: text('speech'), voice: text('voice') })] as const,
      [
        `/v1/voices/partner?model=${model}&private=${MARK}-query`,
        post({ message: { type: 'voice-request', text: text('partner'), sampleRate: 8000 } }),
      ] as const,
      [
        `/v1/voices/partner?model=${model}`,
        post({ message: { type: 'voice-request', text: text('partner'), sampleRate: 8000 } }),
      ] as const,
    ]),
    ...['svc-stt', 'echo-stt'].flatMap((model) => [
      ['/v1/audio/transcriptions', form({ model, file: wav('file'), prompt: text('prompt') })] as const,
      ['/v1/audio/translations', form({ model, file: wav('file') })] as const,
      [
        '/v1/audio/transcriptions',
        form({ model, file: new File([text('no audio')], `${MARK}.mp3`) }),
      ] as const,
    ]),
    [
      '/v1/audio/voices',
      form({
        audio_sample: wav('sample'),
        consent: text('consent'),
        name: text('name'),
        ref_text: text('reference'),
      }),
    ],
    ['/v1/responses', post({ model: 'echo-chat', input: text('search'), tools: [{ type: 'web_search' }] })],
    ['/v1/responses', post(`{"model":"${TEXT_MODEL}","input":"${text('broken')}`)],
    ['/v1/chat/completions', post({ model: TEXT_MODEL, messages: text('no list') })],
    ['/v1/files', form({ purpose: 'batch', file: new File([text('content')], `${text('upload')}.jsonl`) })],
    [
      '/v1/files',
      form({ purpose: 'batch', file: new File([`${line('echo-chat')}\n`], `${text('lines')}.jsonl`) }),
    ],
    [
      '/v1/files',
      {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: `--b\r\n${MARK}`,
      },
    ],
    [
      '/v1/videos/extensions',
      form({ model: 'vid-2.5', prompt: text('scene'), seconds: '4', video: new File([clip], `${MARK}.mp4`) }),
    ],
    ...[
      `https://${MARK}.invalid/${MARK}?${MARK}`,
      `https://${MARK}:${MARK}@127.0.0.1/${MARK}`,
      `https://[::1]/${MARK}`,
      `http://169.254.169.254/${MARK}`,
      `file:///${MARK}`,
    ].map(
      (url) =>
        [
          '/v1/videos/extensions',
          post({ model: 'vid-2.0', prompt: text('url'), seconds: '4', video: url }),
        ] as const,
    ),
    ...['files', 'batches', 'responses', 'audio/voices', 'videos'].map(
      (name) => [`/v1/${name}?private=${MARK}-query`] as const,
    ),
    [`/v1/${MARK}-path`],
  ];
}

/** Sends all requests with a key. Returns path, status and body of the errors. */
async function errorsOf(
  send: Send,
  requests: readonly (readonly [string, RequestInit?])[],
): Promise<string[]> {
  const errors: string[] = [];
  for (const [path, init = {}] of requests) {
    const headers = {
      'x-api-key': KEY,
      cookie: `a=${MARK}-cookie`,
      referer: `https://page.test/${MARK}-referer`,
      'user-agent': `${MARK}-agent`,
      'x-forwarded-for': `${MARK}-address`,
      ...(init.headers as Record<string, string>),
    };
    const response = await send(path, { ...init, headers });
    const body = await response.text();
    // A stream reports later errors in an event.
    if (!response.ok || /"error":\s*\{|event: error/.test(body))
      errors.push(`${path} ${response.status} ${body}`);
  }
  return errors;
}

/** Errors that may repeat what the caller named: a field, a model, a voice or a path. */
const NAMING_ERRORS = /unknown_parameter|model_not_found|voice_not_found|is not offered by this service/;

/** Errors that contain the marker other than as a name. */
const withMarker = (errors: readonly string[]) =>
  errors.filter((error) => {
    const [, , ...body] = error.split(' ');
    return body.join(' ').includes(MARK) && !NAMING_ERRORS.test(error);
  });

/** Output of the process, after all earlier requests are in the log. */
async function outputOf(service: LaunchedService): Promise<string> {
  const response = await service.fetch('/v1/models', { headers: { 'x-api-key': KEY } });
  const id = response.headers.get('x-request-id') ?? '';
  await expect.poll(() => service.output()).toContain(id);
  return service.output();
}

/** Lines with the marker. */
const marked = (output: string) => output.split('\n').filter((line) => line.includes(MARK));

describe('with a disk and SQLite', () => {
  const echo = startEcho();
  const collector = startCollector();
  let full: FullService;
  let clip: Uint8Array<ArrayBuffer>;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'secrets-test-'));
    clip = await smallClip(folder);
    await rm(folder, { recursive: true });
    const model = (id: string, task: string, path = '') =>
      `[models."${id}"]\nkind = "upstream"\ntask = "${task}"\nbase_url = "${echo.url}${path}/v1"\napi_key_env = "UPSTREAM_KEY"\nmodel = "echo"\n`;
    full = await launchFullService({
      keyVariable: 'UPSTREAM_KEY',
      config: `${model('echo-chat', 'chat')}${model('echo-embed', 'embeddings')}${model('echo-tts', 'speech')}
        ${model('echo-stt', 'transcription')}${model('final-chat', 'chat', '/final')}${model('vid-2.5', 'video')}
        [web_search]
        url = "${echo.url}/search"
        api_key_env = "SEARCH_KEY"
        [http]
        invalid_keys_per_minute = 1000`,
      launch: {
        env: {
          API_KEYS: `${KEY}:a`,
          LOG_LEVEL: 'debug',
          UPSTREAM_KEY,
          SEARCH_KEY,
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${COLLECTOR_KEY}`,
        },
      },
    });
  });
  afterAll(async () => {
    await full?.close();
    await echo.close();
    await collector.close();
  });

  test('texts, file names, prompts and addresses are not in logs and errors', async () => {
    const { service } = full;
    const requests = privateRequests(clip);
    const errors = await errorsOf((path, init) => service.fetch(path, init), requests);
    expect(errors.length).toBeGreaterThan(20);
    expect(withMarker(errors)).toEqual([]);
    // The upstream server received the private values.
    expect(echo.requests.some((sent) => sent.includes(UPSTREAM_KEY))).toBe(true);
    expect(echo.requests.some((sent) => sent.includes(`${MARK}-chat`))).toBe(true);
    expect(marked(await outputOf(service))).toEqual([]);
  });

  test('errors of batch lines do not contain the lines', async () => {
    const { service } = full;
    const send = (path: string, init: RequestInit = {}) =>
      service.fetch(path, { ...init, headers: { 'x-api-key': KEY, ...(init.headers as object) } });
    const line = {
      custom_id: `${MARK}-custom`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'final-chat', messages: [{ role: 'user', content: text('line') }] },
    };
    const file = new File([`${JSON.stringify(line)}\n`], `${MARK}.jsonl`);
    const { id: input } = (await (await send('/v1/files', form({ purpose: 'batch', file }))).json()) as {
      id: string;
    };
    const fields = { input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const created = await send('/v1/batches', post({ ...fields, metadata: { secret: text('metadata') } }));
    const { id } = (await created.json()) as { id: string };
    const retrieve = async () => (await (await send(`/v1/batches/${id}`)).json()) as { status: string };
    await expect
      .poll(async () => (await retrieve()).status, { interval: 500 })
      .toMatch(/^(completed|failed)$/);
    expect(marked(await outputOf(service))).toEqual([]);
  });

  test('valid and invalid keys are not in logs and errors, wherever they are sent', async () => {
    const { service } = full;
    const invalidKey = `${MARK}-wrong-key`;
    const errors: string[] = [];
    for (const key of [KEY, invalidKey]) {
      for (const headers of [
        { authorization: `Bearer ${key}` },
        { authorization: `Basic ${key}` },
        { 'x-api-key': key },
        { 'x-partner-secret': key },
        { 'x-api-key': key, authorization: `Bearer ${key}-other` },
      ] as Record<string, string>[]) {
        const response = await service.fetch(`/v1/models/${MARK}-model?key=${key}`, { headers });
        errors.push(`/ ${response.status} ${await response.text()}`);
      }
      for (const prefix of ['openai-insecure-api-key.', 'ext-insecure-api-key.', 'bearer.']) {
        const offered = `realtime, ${prefix}${key}`;
        for (const path of ['/v1/realtime', '/v1/transcribers/partner', '/v1/models']) {
          const { status, headers, body } = await shake(
            `${service.baseUrl}${path}?model=svc-stt&key=${key}`,
            {
              'sec-websocket-protocol': offered,
            },
          );
          errors.push(`/ ${status} ${JSON.stringify(headers)}${status < 400 ? '' : body}`);
        }
      }
    }
    expect(withMarker(errors)).toEqual([]);
    expect(marked(await outputOf(service))).toEqual([]);
  });

  test('WebSocket frames are not in logs and errors', async () => {
    const { service } = full;
    const frames = {
      '/v1/realtime?model=svc-tts': [
        `{"type":"${MARK}`,
        JSON.stringify({ type: 'session.update', session: { type: 'realtime', instructions: text('how') } }),
        JSON.stringify({ type: 'session.update', session: { type: text('kind') } }),
        JSON.stringify({ type: 'input_audio_buffer.append', audio: `${MARK}=?` }),
        JSON.stringify({
          type: 'conversation.item.create',
          item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: text('item') }] },
        }),
        JSON.stringify({ type: 'response.create', response: { instructions: text('answer') } }),
      ],
      '/v1/transcribers/partner?model=svc-stt': [
        JSON.stringify({ type: 'start', encoding: text('encoding'), sampleRate: 16_000, channels: 2 }),
      ],
    };
    for (const [path, sent] of Object.entries(frames)) {
      const socket = new WebSocket(`${service.baseUrl.replace('http', 'ws')}${path}`, {
        headers: { 'x-api-key': KEY },
      } as never);
      const errors: string[] = [];
      const closed = new Promise((resolve) => {
        socket.onclose = resolve;
      });
      socket.onmessage = ({ data }) => {
        const { type, error } = JSON.parse(String(data)) as {
          type: string;
          error?: { message: string; event_id?: string };
        };
        if (type !== 'error') return;
        errors.push(`/ 0 ${error?.message}`);
        if (error?.event_id === 'last') socket.close();
      };
      socket.onopen = () => {
        for (const frame of sent) socket.send(frame);
        // The partner protocol has no acknowledgement to wait for.
        if (path.includes('transcribers')) socket.close();
        else socket.send(JSON.stringify({ type: 'last', event_id: 'last' }));
      };
      await closed;
      expect(withMarker(errors)).toEqual([]);
    }
    expect(marked(await outputOf(service))).toEqual([]);
  });

  test('voices and transcripts are not in logs, errors and metrics', async () => {
    const { service, ear } = full;
    ear.answer(() => Response.json({ text: text('transcript'), segments: [], words: [] }));
    const spoken = await voiceClip();
    const file = new File([spoken.bytes], `${MARK}.wav`);
    const stored = form({
      audio_sample: file,
      consent: text('consent'),
      name: text('name'),
      ref_text: `${spoken.text} ${MARK}`,
    });
    const voice = await service.fetch('/v1/audio/voices', { ...stored, headers: { 'x-api-key': KEY } });
    expect(voice.status).toBe(200);
    const { id } = (await voice.json()) as { id: string };
    const errors = await errorsOf(
      (path, init) => service.fetch(path, init),
      [
        ['/v1/audio/speech', post({ model: 'svc-tts', voice: id, input: text('cloned') })],
        ['/v1/audio/speech', post({ model: 'echo-tts', voice: id, input: text('cloned') })],
        ['/v1/audio/transcriptions', form({ model: 'svc-stt', file })],
      ],
    );
    expect(withMarker(errors)).toEqual([]);
    expect(marked(await outputOf(service))).toEqual([]);
    const numbers = await (await service.fetch('/metrics')).text();
    expect(numbers).toContain('http_requests_total');
    expect(marked(numbers)).toEqual([]);
  });

  test('the OpenAPI document, health checks and model list contain no private values', async () => {
    for (const path of ['/swagger/json', '/healthz', '/readyz', '/v1/models']) {
      const response = await full.service.fetch(path, { headers: { 'x-api-key': KEY } });
      expect([path, (await response.text()).includes(MARK)]).toEqual([path, false]);
    }
  });

  test.runIf(process.platform === 'linux')('the environment of child processes has no secrets', async () => {
    const children = childrenOf(full.service.pid);
    expect(children.length).toBeGreaterThan(0);
    const own = await readFile(`/proc/${full.service.pid}/environ`, 'latin1');
    expect(own).toContain(UPSTREAM_KEY);
    for (const child of children) {
      // A process that has exited has no environment.
      const given = await readFile(`/proc/${child}/environ`, 'latin1').catch(() => '');
      expect(given.split('\0').filter((variable) => variable.includes(MARK))).toEqual([]);
    }
  });

  test('traces contain no private values', async () => {
    // The process sends all waiting spans before it exits.
    await full.service.stop();
    const { traces } = collector;
    expect(traces.length).toBeGreaterThan(0);
    expect(traces.every((trace) => trace.startsWith(`${COLLECTOR_KEY} `))).toBe(true);
    const sent = traces.map((trace) => trace.slice(COLLECTOR_KEY.length));
    expect(sent.some((trace) => trace.includes('/v1/chat/completions'))).toBe(true);
    const around = sent.flatMap((trace) => trace.match(new RegExp(`.{0,60}${MARK}.{0,60}`, 'gs')) ?? []);
    expect(around).toEqual([]);
    expect(marked(full.service.output())).toEqual([]);
  });
});

describe('with PostgreSQL, Redis and S3', () => {
  let servers: SharedServers | undefined;
  afterAll(() => servers?.close());

  test('passwords are not in logs and errors, also when the servers become unavailable', async (context) => {
    needs(context, HAS_POSTGRES && HAS_REDIS && HAS_S3, 'PostgreSQL, Redis and versitygw');
    servers = await startSharedServers();
    const { postgres, redis, s3 } = servers;
    const { settings } = await s3.freshBucket();
    const service = await launchService({
      config: `${NO_MODELS}\n[rate_limits]\nrequests_per_minute_per_key = 100000`,
      env: {
        API_KEYS: `${KEY}:a`,
        LOG_LEVEL: 'debug',
        PLUGINS: 'responses,batch',
        DATABASE_URL: await postgres.freshDatabase(),
        REDIS_URL: redis.url.replace('redis://', `redis://:${MARK}-redis@`),
        S3_ENDPOINT: settings.endpoint,
        S3_BUCKET: settings.bucket,
        S3_REGION: settings.region,
        S3_ACCESS_KEY_ID: settings.accessKeyId,
        S3_SECRET_ACCESS_KEY: settings.secretAccessKey.reveal(),
      },
    });
    onTestFinished(async () => {
      await service.stop();
    });
    const requests: readonly (readonly [string, RequestInit?])[] = [
      ['/v1/files', form({ purpose: 'batch', file: new File([text('content')], `${MARK}.jsonl`) })],
      ['/v1/files?limit=5'],
      ['/v1/responses/resp_1'],
    ];
    const send: Send = (path, init) => service.fetch(path, init);
    const errors = await errorsOf(send, requests);
    await s3.stop();
    errors.push(...(await errorsOf(send, requests)));
    await redis.stop();
    errors.push(...(await errorsOf(send, requests)));
    await postgres.stop();
    errors.push(...(await errorsOf(send, requests)));
    expect(errors.length).toBeGreaterThan(3);
    // Failures are logged whether or not the key check is cached.
    await expect.poll(() => service.output()).toMatch(/"level":"(error|warn)"/);
    const secrets = [
      ...[MARK, postgres.password, encodeURIComponent(postgres.password)],
      settings.secretAccessKey.reveal(),
    ];
    for (const secret of secrets) {
      expect(
        service
          .output()
          .split('\n')
          .filter((line) => line.includes(secret)),
      ).toEqual([]);
      expect(
        errors.filter((error) => error.includes(secret) && !error.includes('unknown_parameter')),
      ).toEqual([]);
    }
  });
});

describe('a failed start', () => {
  const S3 = { S3_BUCKET: 'abc', S3_ACCESS_KEY_ID: MARK, S3_SECRET_ACCESS_KEY: MARK };
  type Environments = readonly (readonly [string, Record<string, string>])[];
  const unreachable: Environments = [
    ['an unreachable database', { DATABASE_URL: `postgres://service:${MARK}@127.0.0.1:1/none` }],
    ['an unreachable Redis', { REDIS_URL: `redis://:${MARK}@127.0.0.1:1` }],
    ['an unreachable S3 endpoint', { S3_ENDPOINT: 'http://127.0.0.1:1', ...S3 }],
  ];
  const invalid: Environments = [
    ['an invalid sslmode', { DATABASE_URL: `postgres://service:${MARK}@127.0.0.1:1/none?sslmode=${MARK}` }],
    ['an unsupported database', { DATABASE_URL: `mysql://service:${MARK}@127.0.0.1:1/none` }],
    ['an invalid Redis scheme', { REDIS_URL: `http://:${MARK}@127.0.0.1:1` }],
    ['a key without organization', { API_KEYS: `${MARK}` }],
    ['a key of two organizations', { API_KEYS: `${MARK}:a,${MARK}:b` }],
    ['an S3 endpoint with credentials', { S3_ENDPOINT: `http://u:${MARK}@127.0.0.1:1`, ...S3 }],
    ['an invalid port', { PORT: MARK }],
    ['an invalid log level', { LOG_LEVEL: MARK }],
  ];

  test.each(invalid)('by %s has an error without the values', (_, env) => {
    let error: unknown;
    try {
      loadConfig(env);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).not.toContain(MARK);
  });

  // The process reports all errors of its configuration in the same way.
  const inProcess = [...unreachable, ...invalid.slice(0, repetitions(1, invalid.length))];
  test.each(inProcess)('by %s is reported without the values', async (_, env) => {
    const failed = await launchService({ config: NO_MODELS, env }).then(
      async (service) => service.stop(),
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(LaunchError);
    const { output } = failed as LaunchError;
    expect(output).toContain('Cannot start: ');
    expect(output).not.toContain(MARK);
  });

  test('by invalid CONFIG is reported without the values', async () => {
    for (const config of [`[limits]\nx = ${MARK}`, `[limits]\nspeech_max_characters = "${MARK}"`]) {
      const failed = await launchService({ config }).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(LaunchError);
      expect((failed as LaunchError).output).not.toContain(MARK);
    }
  });
});
