import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
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

function open(
  fields: { baseUrl?: string; apiKey?: Secret; voice?: string; rateHz?: number } = {},
  patience: { firstByteMs?: number; idleMs?: number; probeMs?: number } = {},
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
    ...patience,
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
  it('asks for a raw stream, with the upstream’s own names and key', async () => {
    const engine = open({ apiKey: new Secret('upstream-key'), voice: 'vivian' });
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

  it('sends no key when there is none, and names the speed of the request', async () => {
    await collect(open({ voice: 'vivian' }), { speed: 1.25 });
    expect(upstream.seen[0]?.headers.authorization).toBeUndefined();
    expect(upstream.seen[0]?.body).toMatchObject({ speed: 1.25, voice: 'vivian' });
  });

  it('does not carry its key to another host', async () => {
    const other = startFakeUpstream();
    onTestFinished(() => other.close());
    upstream.answer(() => Response.redirect(`${other.baseUrl}/audio/speech`, 307));
    await expect(collect(open({ apiKey: new Secret('upstream-key') }))).rejects.toMatchObject({
      kind: 'upstream',
    });
    expect(other.seen).toEqual([]);
  });
});

it('says to a caller that it is being closed', async () => {
  const engine = open();
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

describe('slow speech', () => {
  const slowUpstream = () =>
    upstream.answer(async () => {
      await Bun.sleep(300);
      return pcmAnswer([[1, 0]]);
    });

  it('is more audio, so the upstream gets as much more time', async () => {
    slowUpstream();
    expect(await collect(open({}, { firstByteMs: 200 }), { speed: 0.25 })).toEqual([1]);
  });

  it.each([1, 4])('and none is given at speed %d', async (speed) => {
    slowUpstream();
    await expect(collect(open({}, { firstByteMs: 200 }), { speed })).rejects.toThrow('it took too long');
  });
});

describe('the audio', () => {
  it.each([
    [
      'whole samples',
      [
        [1, 0, 2, 0],
        [3, 0],
      ],
    ],
    ['samples that are cut by portions', [[1], [0, 2], [0], [3, 0]]],
    ['single bytes and empty portions', [[1], [], [0], [2], [0], [3], [0]]],
  ])('is read from %s', async (_, portions) => {
    upstream.answer(() => pcmAnswer(portions));
    expect(await collect(open())).toEqual([1, 2, 3]);
  });

  it.each(['audio/pcm', 'application/octet-stream', 'audio/pcm; rate=24000'])(
    'may be called %s',
    async (type) => {
      upstream.answer(() => pcmAnswer([[255, 127, 0, 128]], type));
      expect(await collect(open())).toEqual([32767, -32768]);
    },
  );

  it('comes while it is being made', async () => {
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
    const runs = open().synthesize(REQUEST, never)[Symbol.asyncIterator]();
    expect((await runs.next()).value).toHaveLength(1);
    gate.resolve();
    expect((await runs.next()).value).toHaveLength(1);
    expect((await runs.next()).done).toBe(true);
  });

  it('has the rate that CONFIG names', () => {
    expect(open({ rateHz: 16_000 }).rateHz).toBe(16_000);
  });

  it.each(['audio/mpeg', 'audio/wav', 'text/event-stream', 'application/json', 'text/html'])(
    'is refused when it is called %s',
    async (type) => {
      upstream.answer(() => pcmAnswer([[1, 0]], type));
      await expect(collect(open())).rejects.toMatchObject({ kind: 'upstream', code: 'upstream_error' });
    },
  );
});

describe('refusals of the upstream', () => {
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
    ['a flat text as type', 400, { error: { type: MESSAGE } }, undefined],
  ])('of %s are one error without its words', async (_, status, body, name) => {
    upstream.answer(() => Response.json(body, { status }));
    const error = await collect(open()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'upstream', status: 502, code: 'upstream_error' });
    expect(String(error)).not.toMatch(/secret-upstream-model|diary/);
    expect(log.lines).toEqual([
      { level: 'warn', message: 'upstream refused', fields: { status, error: name } },
    ]);
  });

  it.each([
    [429, '7', 7],
    [503, 'soon', 1],
    [503, '86400', 1],
  ])('%d with retry-after %s asks the client to wait', async (status, after, retryAfterS) => {
    upstream.answer(() => new Response('busy', { status, headers: { 'retry-after': after } }));
    await expect(collect(open())).rejects.toMatchObject({ kind: 'overloaded', retryAfterS });
  });

  it('reads only the beginning of an endless one', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(97)),
          }),
          { status: 500 },
        ),
    );
    await expect(collect(open())).rejects.toMatchObject({ kind: 'upstream' });
  });
});

describe('faults of the connection', () => {
  it.each([
    [
      'cut in a body of known length',
      'HTTP/1.1 200 OK\r\ncontent-type: audio/pcm\r\ncontent-length: 100\r\n\r\nabcd',
    ],
    [
      'cut in a chunked body',
      'HTTP/1.1 200 OK\r\ncontent-type: audio/pcm\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n',
    ],
    [
      'half a sample at the end',
      'HTTP/1.1 200 OK\r\ncontent-type: audio/pcm\r\ncontent-length: 3\r\n\r\nabc',
    ],
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['nothing', ''],
  ])('%s', async (_, bytes) => {
    const server = startRawServer(bytes);
    onTestFinished(() => server.close());
    await expect(collect(open({ baseUrl: server.baseUrl }))).rejects.toMatchObject({
      kind: 'upstream',
      code: 'upstream_error',
    });
  });

  it.each([
    ['to begin', () => new Promise<Response>(() => undefined)],
    [
      'to go on',
      () =>
        new Response(new ReadableStream({ start: (controller) => controller.enqueue(Uint8Array.of(1, 0)) })),
    ],
  ])('an upstream that takes too long %s', async (_, answer) => {
    upstream.answer(answer);
    const engine = open({}, { firstByteMs: 100, idleMs: 100 });
    await expect(collect(engine)).rejects.toMatchObject({ kind: 'upstream', message: /too long/ });
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('an upstream that never stops', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(2 * 1024 * 1024)) }),
        ),
    );
    const consume = async () => {
      for await (const _ of open().synthesize(REQUEST, never));
    };
    await expect(consume()).rejects.toMatchObject({ message: /more than 600 s/ });
  });
});

describe('leaving', () => {
  const endless = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await Bun.sleep(5);
          controller.enqueue(new Uint8Array(4800));
        },
      }),
    );

  it('by abort tells the upstream to stop', async () => {
    upstream.answer(endless);
    const controller = new AbortController();
    const reason = new Error('hung up');
    const consume = async () => {
      for await (const _ of open().synthesize(REQUEST, controller.signal)) controller.abort(reason);
    };
    await expect(consume()).rejects.toBe(reason);
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('by leaving the loop tells the upstream to stop', async () => {
    upstream.answer(endless);
    for await (const _ of open().synthesize(REQUEST, never)) break;
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('by close ends what is running', async () => {
    upstream.answer(endless);
    const engine = open();
    const consume = async () => {
      for await (const _ of engine.synthesize(REQUEST, never)) void engine.close();
    };
    await expect(consume()).rejects.toMatchObject({ kind: 'overloaded' });
  });
});

describe('readiness', () => {
  it('is off while the upstream is away, and on again when it answers', async () => {
    const dead = open({ baseUrl: await deadBaseUrl() }, { probeMs: 20 });
    expect(dead.ready().ready).toBe(true);
    await expect(collect(dead)).rejects.toMatchObject({ kind: 'upstream' });
    expect(dead.ready().ready).toBe(false);

    const flaky = open({}, { firstByteMs: 50, probeMs: 20 });
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

  it('does not change with a refused request', async () => {
    upstream.answer(() => Response.json({}, { status: 400 }));
    const engine = open();
    await expect(collect(engine)).rejects.toMatchObject({ kind: 'upstream' });
    expect(engine.ready().ready).toBe(true);
  });
});
