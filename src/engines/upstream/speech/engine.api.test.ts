import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { drippingResponse } from '../../../../test/doubles/dripping-response.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import {
  deadBaseUrl,
  type FakeUpstream,
  pcmAnswer,
  startFakeUpstream,
  startRawServer,
} from '../../../../tools/harness/upstreams/fake-upstream.ts';
import { Secret } from '../../../contract/core/secret.ts';
import type { SynthesisRequest, TtsEngine } from '../../../contract/engines/engine.ts';
import { upstreamTtsEngine } from './engine.ts';

const never = new AbortController().signal;
const REQUEST: SynthesisRequest = {
  text: 'My private diary.',
  speed: 1,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};

let upstream: FakeUpstream;
let log: RecordingLogger;
beforeEach(() => {
  upstream = startFakeUpstream();
  log = new RecordingLogger();
});
afterEach(() => upstream.close());

function createEngine(
  fields: { baseUrl?: string; apiKey?: Secret; voice?: string; rateHz?: number } = {},
  timeouts: { firstPartMs?: number; idleMs?: number; probeMs?: number } = {},
): TtsEngine {
  const engine = upstreamTtsEngine({
    settings: {
      kind: 'upstream',
      baseUrl: upstream.baseUrl,
      apiKey: undefined,
      model: 'secret-upstream-model',
      voice: undefined,
      voices: 'none',
      rateHz: 24_000,
      ...fields,
    },
    log,
    ...timeouts,
  });
  onTestFinished(() => engine.close());
  return engine;
}

async function collect(
  engine: TtsEngine,
  fields: Partial<SynthesisRequest> = {},
  signal = never,
): Promise<number[]> {
  const samples: number[] = [];
  for await (const run of engine.synthesize({ ...REQUEST, ...fields }, signal)) samples.push(...run);
  return samples.map((sample) => sample * 32_768);
}

describe('the request', () => {
  it('is for a raw stream, with the model name, voice and key of the configuration', async () => {
    const engine = createEngine({ apiKey: new Secret('upstream-key'), voice: 'vivian' });
    await collect(engine);
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]).toMatchObject({
      path: '/v1/audio/speech',
      headers: { authorization: 'Bearer upstream-key', 'content-type': 'application/json' },
    });
    expect(upstream.seen[0]?.body).toEqual({
      model: 'secret-upstream-model',
      input: 'My private diary.',
      voice: 'vivian',
      response_format: 'pcm',
      stream_format: 'audio',
    });
  });

  it('has no key if none is configured, and contains the speed', async () => {
    await collect(createEngine({ voice: 'vivian' }), { speed: 1.25 });
    expect(upstream.seen[0]?.headers.authorization).toBeUndefined();
    expect(upstream.seen[0]?.body).toMatchObject({ speed: 1.25, voice: 'vivian' });
  });

  it('names a voice of the server instead of the configured one, and has the instructions', async () => {
    const engine = createEngine({ voice: 'vivian' });
    expect(['alloy', '旁白', 'a'.repeat(200)].every((name) => engine.hasVoice?.(name))).toBe(true);
    expect(['a'.repeat(201), 'a\n', 'a\u202E'].some((name) => engine.hasVoice?.(name))).toBe(false);
    await collect(engine, { voiceName: 'alloy', instructions: 'Whisper.', language: 'de' });
    expect(upstream.seen[0]?.body).toMatchObject({
      voice: 'alloy',
      instructions: 'Whisper.',
      language: 'de',
    });
    await expect(collect(engine, { instructions: 'x'.repeat(4097) })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'instructions',
    });
    expect(upstream.seen).toHaveLength(1);
  });

  it.each([400, 404])('names a voice that the server rejects with %d', async (status) => {
    upstream.answer(() => new Response('{}', { status }));
    await expect(collect(createEngine(), { voiceName: 'alto' })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'voice',
      code: 'voice_not_found',
      message: expect.stringContaining("with the voice 'alto'"),
    });
  });

  it('does not follow redirects, which could carry the key to another host', async () => {
    const other = startFakeUpstream();
    onTestFinished(() => other.close());
    upstream.answer(() => Response.redirect(`${other.baseUrl}/audio/speech`, 307));
    await expect(collect(createEngine({ apiKey: new Secret('upstream-key') }))).rejects.toMatchObject({
      kind: 'upstream',
    });
    expect(other.seen).toEqual([]);
  });
});

it('fails running requests with an overload error when it is closed', async () => {
  const engine = createEngine();
  const asked = Promise.withResolvers<void>();
  upstream.answer(() => {
    asked.resolve();
    return new Promise(() => undefined);
  });
  const outcome = expect(collect(engine)).rejects.toMatchObject({
    kind: 'overloaded',
    code: 'server_overloaded',
  });
  await asked.promise;
  await engine.close();
  await outcome;
});

describe('timeouts', () => {
  /** Four times this time passes only after a stall of seconds. */
  const firstPartMs = 1000;
  const slowUpstream = () =>
    upstream.answer(async () => {
      await Bun.sleep(1.2 * firstPartMs);
      return pcmAnswer([[1, 0]]);
    });

  it('are longer for slow speech', async () => {
    slowUpstream();
    expect(await collect(createEngine({}, { firstPartMs }), { speed: 0.25 })).toEqual([1]);
  });

  it.each([1, 4])('are not extended at speed %d', async (speed) => {
    slowUpstream();
    await expect(collect(createEngine({}, { firstPartMs }), { speed })).rejects.toThrow(
      'the request timed out',
    );
  });
});

describe('the audio', () => {
  it.each([
    [
      'complete samples',
      [
        [1, 0, 2, 0],
        [3, 0],
      ],
    ],
    ['samples that are split between chunks', [[1], [0, 2], [0], [3, 0]]],
    ['single bytes and empty chunks', [[1], [], [0], [2], [0], [3], [0]]],
  ])('is decoded from %s', async (_, chunks) => {
    upstream.answer(() => pcmAnswer(chunks));
    expect(await collect(createEngine())).toEqual([1, 2, 3]);
  });

  it.each(['audio/pcm', 'application/octet-stream', 'audio/pcm; rate=24000'])(
    'may have the media type %s',
    async (type) => {
      upstream.answer(() => pcmAnswer([[255, 127, 0, 128]], type));
      expect(await collect(createEngine())).toEqual([32767, -32768]);
    },
  );

  it('is streamed while it is generated', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(Uint8Array.of(1, 0));
              await gate.promise;
              controller.enqueue(Uint8Array.of(2, 0));
              controller.close();
            },
          }),
        ),
    );
    const runs = createEngine().synthesize(REQUEST, never)[Symbol.asyncIterator]();
    expect((await runs.next()).value).toHaveLength(1);
    gate.resolve();
    expect((await runs.next()).value).toHaveLength(1);
    expect((await runs.next()).done).toBe(true);
  });

  it('has the sample rate of the configuration', () => {
    expect(createEngine({ rateHz: 16_000 }).rateHz).toBe(16_000);
  });

  it.each(['audio/mpeg', 'audio/wav', 'text/event-stream', 'application/json', 'text/html'])(
    'is rejected if its media type is %s',
    async (type) => {
      upstream.answer(() => pcmAnswer([[1, 0]], type));
      await expect(collect(createEngine())).rejects.toMatchObject({
        kind: 'upstream',
        code: 'upstream_error',
      });
    },
  );
});

describe('rejections of the upstream', () => {
  const MESSAGE = 'Model secret-upstream-model cannot say: My private diary.';
  it.each([
    [
      'vLLM-Omni',
      400,
      { error: { message: MESSAGE, type: 'BadRequestError', param: null, code: 400 } },
      'BadRequestError',
    ],
    ['llama.cpp', 500, { error: { code: 500, message: MESSAGE, type: 'server_error' } }, 'server_error'],
    [
      'Ollama',
      404,
      { error: { message: MESSAGE, type: 'not_found_error', param: null, code: null } },
      'not_found_error',
    ],
    [
      'Kokoro-FastAPI',
      400,
      { detail: { error: 'invalid_model', message: MESSAGE, type: 'invalid_request_error' } },
      'invalid_request_error',
    ],
    ['LTX-Desktop', 409, { code: 'NO_DOWNLOADED_MODEL', message: MESSAGE }, 'NO_DOWNLOADED_MODEL'],
    ['FastAPI validation', 422, { detail: [{ loc: ['body'], msg: MESSAGE }] }, undefined],
    ['a server with a sentence as type', 400, { error: { type: MESSAGE } }, undefined],
  ])('of %s become an error without the message of the server', async (_, status, body, name) => {
    upstream.answer(() => Response.json(body, { status }));
    const error = await collect(createEngine()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'upstream', status: 502, code: 'upstream_error' });
    expect(String(error)).not.toMatch(/secret-upstream-model|diary/);
    expect(log.lines).toEqual([
      { level: 'warn', message: 'upstream rejected the request', fields: { status, error: name } },
    ]);
  });

  it.each([
    [429, '7', 7],
    [503, 'soon', 1],
    [503, '86400', 1],
  ])('%d with retry-after %s are reported with a retry delay', async (status, after, retryAfterS) => {
    upstream.answer(() => new Response('busy', { status, headers: { 'retry-after': after } }));
    await expect(collect(createEngine())).rejects.toMatchObject({ kind: 'overloaded', retryAfterS });
  });

  it('with an endless body are read only up to a limit', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(97)),
          }),
          { status: 500 },
        ),
    );
    await expect(collect(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
  });
});

describe('connection errors', () => {
  it.each([
    [
      'body shorter than its content length',
      'HTTP/1.1 200 OK\r\ncontent-type: audio/pcm\r\ncontent-length: 100\r\n\r\nabcd',
    ],
    [
      'incomplete chunked body',
      'HTTP/1.1 200 OK\r\ncontent-type: audio/pcm\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n',
    ],
    [
      'partial sample at the end',
      'HTTP/1.1 200 OK\r\ncontent-type: audio/pcm\r\ncontent-length: 3\r\n\r\nabc',
    ],
    ['response is not HTTP', 'hello\r\n\r\n'],
    ['empty response', ''],
  ])('%s', async (_, bytes) => {
    const server = startRawServer(bytes);
    onTestFinished(() => server.close());
    await expect(collect(createEngine({ baseUrl: server.baseUrl }))).rejects.toMatchObject({
      kind: 'upstream',
      code: 'upstream_error',
    });
  });

  it.each([
    ['before the first byte', () => new Promise<Response>(() => undefined)],
    [
      'between two chunks',
      () =>
        new Response(new ReadableStream({ start: (controller) => controller.enqueue(Uint8Array.of(1, 0)) })),
    ],
  ])('timeout %s', async (_, answer) => {
    upstream.answer(answer);
    const engine = createEngine({}, { firstPartMs: 100, idleMs: 100 });
    await expect(collect(engine)).rejects.toMatchObject({ kind: 'upstream', message: /timed out/ });
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('a server that sends a few samples per second is left', async () => {
    upstream.answer(() => drippingResponse('audio/pcm', '', new Uint8Array(2)));
    const engine = createEngine({}, { firstPartMs: 100, idleMs: 100 });
    await expect(collect(engine)).rejects.toMatchObject({ kind: 'upstream', message: /timed out/ });
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('an endless response is aborted', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(2 * 1024 * 1024)) }),
        ),
    );
    const consume = async () => {
      for await (const _ of createEngine().synthesize(REQUEST, never));
    };
    await expect(consume()).rejects.toMatchObject({ message: /more than 600 s/ });
  });
});

describe('cancellation', () => {
  const endless = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await Bun.sleep(5);
          controller.enqueue(new Uint8Array(4800));
        },
      }),
    );

  it('by the signal closes the connection', async () => {
    upstream.answer(endless);
    const controller = new AbortController();
    const reason = new Error('hung up');
    const consume = async () => {
      for await (const _ of createEngine().synthesize(REQUEST, controller.signal)) controller.abort(reason);
    };
    await expect(consume()).rejects.toBe(reason);
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('by ending the iteration closes the connection', async () => {
    upstream.answer(endless);
    for await (const _ of createEngine().synthesize(REQUEST, never)) break;
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('by closing the engine fails running requests', async () => {
    upstream.answer(endless);
    const engine = createEngine();
    const consume = async () => {
      for await (const _ of engine.synthesize(REQUEST, never)) void engine.close();
    };
    await expect(consume()).rejects.toMatchObject({ kind: 'overloaded' });
  });
});

describe('readiness', () => {
  it('is false while the upstream is unavailable, and true after it recovered', async () => {
    const dead = createEngine({ baseUrl: await deadBaseUrl() }, { probeMs: 20 });
    expect(dead.ready().ready).toBe(true);
    await expect(collect(dead)).rejects.toMatchObject({ kind: 'upstream' });
    expect(dead.ready().ready).toBe(false);

    const flaky = createEngine({}, { firstPartMs: 50, probeMs: 20 });
    upstream.answer(() => new Promise(() => undefined));
    upstream.modelsStatus = 503;
    await expect(collect(flaky)).rejects.toMatchObject({ kind: 'upstream' });
    expect(flaky.ready().ready).toBe(false);
    await expect
      .poll(() => upstream.seen.filter(({ path }) => path === '/v1/models').length)
      .toBeGreaterThan(1);
    expect(flaky.ready().ready).toBe(false);
    upstream.modelsStatus = 200;
    await expect.poll(() => flaky.ready().ready).toBe(true);
  });

  it('does not change when a request is rejected', async () => {
    upstream.answer(() => Response.json({}, { status: 400 }));
    const engine = createEngine();
    await expect(collect(engine)).rejects.toMatchObject({ kind: 'upstream' });
    expect(engine.ready().ready).toBe(true);
  });
});
