import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { textEngineCases } from '../../../../test/contract/text-engine.cases.ts';
import { drippingResponse } from '../../../../test/doubles/dripping-response.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import {
  collectResponse,
  textRequest,
  wholeAnswer,
} from '../../../../tools/harness/models/text-responses.ts';
import {
  chatChunk,
  eventText,
  portionAnswer,
  startFakeChatUpstream,
  usageChunk,
} from '../../../../tools/harness/upstreams/fake-chat-upstream.ts';
import {
  deadBaseUrl,
  type FakeUpstream,
  startRawServer,
} from '../../../../tools/harness/upstreams/fake-upstream.ts';
import { Secret } from '../../../contract/core/secret.ts';
import type { TextEngine, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { upstreamTextEngine } from './engine.ts';

const never = new AbortController().signal;

let upstream: FakeUpstream;
let log: RecordingLogger;
let counted: string[];
beforeEach(() => {
  upstream = startFakeChatUpstream();
  log = new RecordingLogger();
  counted = [];
});
afterEach(() => upstream.close());

const meter: UpstreamMeter = {
  call: (outcome) => counted.push(outcome),
  circuit: (state) => counted.push(state),
  close: () => counted.push('meter closed'),
  request: (_method, send) => send({}),
};

function createEngine(
  fields: { baseUrl?: string; apiKey?: Secret; contextTokens?: number; imageUrls?: 'any' } = {},
  timeouts: { firstPartMs?: number; idleMs?: number; probeMs?: number } = {},
): TextEngine {
  const engine = upstreamTextEngine({
    settings: {
      kind: 'upstream',
      baseUrl: upstream.baseUrl,
      apiKey: undefined,
      model: 'secret-upstream-model',
      ...fields,
    },
    log,
    meter,
    ...timeouts,
  });
  onTestFinished(() => engine.close());
  return engine;
}

textEngineCases('an upstream', async () => {
  const server = startFakeChatUpstream();
  const engine = upstreamTextEngine({
    settings: { kind: 'upstream', baseUrl: server.baseUrl, apiKey: undefined, model: 'm' },
    log: new RecordingLogger(),
  });
  return {
    engine,
    refusedParts: [],
    async close() {
      await engine.close();
      await server.close();
    },
  };
});

async function bodyOf(fields: Partial<TextRequest>) {
  await collectResponse(createEngine(), fields);
  return upstream.seen.at(-1)?.body ?? {};
}

describe('the URL of an image', () => {
  const withImage = (url: string): Partial<TextRequest> => ({
    messages: [{ role: 'user', parts: [{ kind: 'image', url }] }],
  });

  it('of a file or an internal host is not sent', async () => {
    for (const url of ['file:///etc/passwd', 'https://127.0.0.1/a.png', 'http://169.254.169.254/']) {
      await expect(collectResponse(createEngine(), withImage(url))).rejects.toMatchObject({
        kind: 'invalid_request',
      });
    }
    expect(upstream.seen).toEqual([]);
  });

  it('is sent unchanged if the configuration allows any', async () => {
    await collectResponse(createEngine({ imageUrls: 'any' }), withImage('http://images.internal/a.png'));
    expect(upstream.seen.at(-1)?.body).toMatchObject({
      messages: [{ content: [{ image_url: { url: 'http://images.internal/a.png' } }] }],
    });
  });
});

describe('the upstream request', () => {
  it('is a stream with usage, with the model name and key of the configuration', async () => {
    await collectResponse(createEngine({ apiKey: new Secret('key-of-upstream') }));
    const [asked] = upstream.seen;
    expect(asked?.path).toBe('/v1/chat/completions');
    expect(asked?.headers.authorization).toBe('Bearer key-of-upstream');
    expect(asked?.body).toEqual({
      model: 'secret-upstream-model',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      seed: 5,
      max_tokens: 8,
    });
  });

  it('contains every kind of message', async () => {
    const { messages } = await bodyOf({
      messages: [
        { role: 'system', text: 'Be short.' },
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'What is it?' },
            { kind: 'image', url: 'data:image/png;base64,AAAA', detail: 'low' },
            { kind: 'audio', base64: 'AAAA', format: 'wav' },
            { kind: 'file', base64: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
          ],
        },
        { role: 'assistant', text: undefined, toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'c', text: '42' },
        { role: 'assistant', text: 'A cat.', toolCalls: [] },
      ],
    });
    expect(messages).toEqual([
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '42' },
      { role: 'assistant', content: 'A cat.' },
    ]);
  });

  it('contains tools, tool choice and response format', async () => {
    const tools = [{ name: 'set_color', parameters: { type: 'object' }, strict: true }];
    const body = await bodyOf({
      tools,
      toolChoice: { name: 'set_color' },
      parallelToolCalls: false,
      output: { kind: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
      stop: ['.'],
      reasoningEffort: 'low',
    });
    expect(body).toMatchObject({
      tools: [
        {
          type: 'function',
          function: { name: 'set_color', parameters: { type: 'object' }, strict: true },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'set_color' } },
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: { type: 'object' }, strict: true },
      },
      stop: ['.'],
      reasoning_effort: 'low',
    });
  });

  it("contains no tools if the choice is 'none'", async () => {
    const body = await bodyOf({ tools: [{ name: 'f', strict: false }], toolChoice: 'none' });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });
});

describe('the response', () => {
  it('is streamed while it is generated', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(Buffer.from(`data: ${chatChunk({ content: 'One' })}\n\n`));
              await gate.promise;
              controller.enqueue(Buffer.from(eventText(chatChunk({ content: ' two' }, 'stop'))));
              controller.close();
            },
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    );
    const events = createEngine().generate(textRequest(), never)[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ kind: 'text', text: 'One' });
    gate.resolve();
    expect((await events.next()).value).toEqual({ kind: 'text', text: ' two' });
    expect((await events.next()).value).toMatchObject({ kind: 'end' });
    expect((await events.next()).done).toBe(true);
  });

  it.each([
    [
      'several events in one chunk',
      [eventText(chatChunk({ content: 'Yes' }), chatChunk({}, 'stop'), usageChunk(3, 1))],
    ],
    ['a stream without [DONE]', [`data: ${chatChunk({ content: 'Yes' }, 'stop')}\n\n`]],
    ['single characters', [...`: ping\n\n${eventText(chatChunk({ content: 'Yes' }, 'stop'))}`]],
    ['CRLF line ends', [eventText(chatChunk({ content: 'Yes' }, 'stop')).replaceAll('\n', '\r\n')]],
  ])('may consist of %s', async (_, chunks) => {
    upstream.answer(() => portionAnswer(chunks));
    expect((await collectResponse(createEngine())).text).toBe('Yes');
  });

  it('may be complete JSON instead of a stream', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }];
    upstream.answer(() => Response.json({ choices, usage: { prompt_tokens: 4, completion_tokens: 1 } }));
    const { text, end } = await collectResponse(createEngine());
    expect(text).toBe('Yes');
    expect(end.tokens).toMatchObject({ input: 4, output: 1 });
  });

  it('has estimated tokens if the upstream reports no usage', async () => {
    upstream.answer(() => portionAnswer([eventText(chatChunk({ content: 'Hello you' }, 'stop'))]));
    const messages = [{ role: 'user', parts: [{ kind: 'text', text: 'Say something.' }] }] as const;
    const { end } = await collectResponse(createEngine(), { messages });
    expect(end.tokens).toEqual({ input: 4, output: 3, cached: 0, reasoning: 0 });
  });

  it('leaves its connection open for the next request', async () => {
    const engine = createEngine();
    for (let turn = 0; turn < 3; turn += 1) await collectResponse(engine);
    expect(upstream.cancelled).toBe(0);
    expect(counted).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('ends at [DONE], even if the upstream keeps the stream open', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) =>
              controller.enqueue(Buffer.from(eventText(chatChunk({ content: 'Yes' }, 'stop')))),
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    );
    expect((await collectResponse(createEngine())).text).toBe('Yes');
    await expect.poll(() => upstream.cancelled).toBe(1);
  });
});

it('stream options are omitted after the upstream rejected them', async () => {
  upstream.answer((body) =>
    'stream_options' in body
      ? Response.json({ detail: 'extra_forbidden: stream_options' }, { status: 422 })
      : portionAnswer([eventText(chatChunk({ content: 'Yes' }, 'stop'))]),
  );
  const engine = createEngine();
  await collectResponse(engine);
  await collectResponse(engine);
  expect(upstream.seen.map(({ body }) => 'stream_options' in (body ?? {}))).toEqual([true, false, false]);
});

describe('rejections of the upstream', () => {
  const MESSAGE = 'secret-upstream-model cannot read: My private diary.';
  const error = (fields: object) => ({ error: { message: MESSAGE, ...fields } });

  it.each([
    ['vLLM', 400, error({ type: 'BadRequestError', code: 400 }), 'invalid_request', undefined],
    [
      'vLLM, context exceeded',
      400,
      error({ message: "This model's maximum context length is 2048 tokens. My private diary." }),
      'invalid_request',
      'context_length_exceeded',
    ],
    [
      'llama.cpp, context exceeded',
      400,
      error({ type: 'exceed_context_size_error' }),
      'invalid_request',
      'context_length_exceeded',
    ],
    [
      'llama.cpp, unsupported content',
      501,
      error({ type: 'not_supported_error' }),
      'invalid_request',
      undefined,
    ],
    ['FastAPI', 422, { detail: [{ msg: MESSAGE }] }, 'invalid_request', undefined],
    ['invalid key', 401, error({}), 'upstream', 'upstream_error'],
    ['access denied', 403, error({}), 'upstream', 'upstream_error'],
    ['unknown model', 404, error({ type: 'not_found_error' }), 'upstream', 'upstream_error'],
    ['server error', 500, error({ type: 'api_error' }), 'upstream', 'upstream_error'],
  ])('%s: the error does not contain the message of the upstream', async (_, status, body, kind, code) => {
    upstream.answer(() => Response.json(body, { status }));
    const thrown = await collectResponse(createEngine()).catch((each: unknown) => each);
    expect(thrown).toMatchObject({ kind, code });
    expect(String(thrown)).not.toMatch(/secret-upstream-model|diary/);
    expect(JSON.stringify(log.lines)).not.toMatch(/diary/);
  });

  it.each([429, 503])('%d is reported with a retry delay', async (status) => {
    upstream.answer(() => new Response('busy', { status, headers: { 'retry-after': '7' } }));
    await expect(collectResponse(createEngine())).rejects.toMatchObject({
      kind: 'overloaded',
      retryAfterS: 7,
    });
  });

  it('do not open the circuit', async () => {
    upstream.answer(() => Response.json({}, { status: 500 }));
    const engine = createEngine();
    for (let turn = 0; turn < 8; turn += 1) await collectResponse(engine).catch(() => undefined);
    expect(counted).toEqual(new Array(8).fill('failed'));
    expect(engine.ready().ready).toBe(true);
  });
});

describe('connection errors', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
  it.each([
    [
      'body shorter than its content length',
      `${head}content-length: 1000\r\n\r\ndata: ${chatChunk({ content: 'a' })}\n\n`,
    ],
    [
      'connection closed before [DONE]',
      `${head}connection: close\r\n\r\ndata: ${chatChunk({ content: 'a' })}\n\n`,
    ],
    ['response is not HTTP', 'hello\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const server = startRawServer(bytes);
    onTestFinished(() => server.close());
    await expect(collectResponse(createEngine({ baseUrl: server.baseUrl }))).rejects.toMatchObject({
      kind: 'upstream',
      code: 'upstream_error',
    });
  });

  it('a request is not repeated after the response started', async () => {
    upstream.answer(() => portionAnswer(['data: {"cho']));
    await expect(collectResponse(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
    expect(upstream.seen).toHaveLength(1);
  });

  it('an endless event is aborted', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(1 << 20, 'a')) }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    );
    await expect(collectResponse(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
  });
});

describe('an unavailable upstream', () => {
  it('opens the circuit, and the circuit closes after a successful health check', async () => {
    const baseUrl = await deadBaseUrl();
    const engine = createEngine({ baseUrl }, { probeMs: 40 });
    await expect(collectResponse(engine)).rejects.toMatchObject({ kind: 'upstream' });
    // Failed health checks count as well.
    await expect.poll(() => counted).toContain('open');
    expect(engine.ready().ready).toBe(false);
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: new URL(baseUrl).port,
      fetch: (request) =>
        request.url.endsWith('/models')
          ? new Response('{}')
          : portionAnswer([eventText(chatChunk({ content: 'Back' }, 'stop'))]),
    });
    onTestFinished(() => server.stop(true));
    await expect.poll(() => engine.ready().ready).toBe(true);
    expect(counted.slice(-2)).toEqual(['half-open', 'closed']);
    expect((await collectResponse(engine)).text).toBe('Back');
  });

  it('fails calls immediately while the circuit is open', async () => {
    upstream.modelsStatus = 503;
    upstream.answer(() => new Response(null, { status: 502 }));
    const engine = createEngine({}, { probeMs: 60_000 });
    for (let turn = 0; turn < 5; turn += 1) {
      await expect(collectResponse(engine)).rejects.toMatchObject({ kind: 'upstream' });
    }
    await expect(collectResponse(engine)).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 30 });
    expect(upstream.seen).toHaveLength(5);
    expect(counted).toEqual([...new Array(4).fill('failed'), 'open', 'failed', 'rejected']);
    expect(engine.ready().ready).toBe(false);
    await engine.close();
    expect(counted.at(-1)).toBe('meter closed');
  });

  it('is not detected from calls that their callers aborted', async () => {
    upstream.answer(() => new Promise<Response>(() => undefined));
    const engine = createEngine();
    for (let turn = 0; turn < 6; turn += 1) {
      const controller = new AbortController();
      const left = collectResponse(engine, {}, controller.signal).catch(() => undefined);
      await expect.poll(() => upstream.seen.length).toBe(turn + 1);
      controller.abort();
      await left;
    }
    expect(engine.ready().ready).toBe(true);
    expect(counted).toEqual([]);
  });
});

describe('a server that only drips', () => {
  const SSE = 'text/event-stream';
  it.each([
    ['comments before the first event', SSE, '', ': ping\n\n'],
    ['comments after an event', SSE, `data: ${chatChunk({ content: 'la' })}\n\n`, ': ping\n\n'],
    ['bytes of one event', SSE, 'data: "', ' '],
    ['white space instead of JSON', 'application/json', '', ' '],
  ])('is left: %s', async (_, contentType, start, drip) => {
    upstream.answer(() => drippingResponse(contentType, start, drip));
    const engine = createEngine({}, { firstPartMs: 100, idleMs: 100 });
    await expect(Array.fromAsync(engine.generate(textRequest(), never))).rejects.toMatchObject({
      kind: 'upstream',
      message: expect.stringContaining('timed out'),
    });
    await expect.poll(() => upstream.cancelled).toBe(1);
  });
});

describe('cancellation', () => {
  const endless = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await Bun.sleep(5);
          controller.enqueue(Buffer.from(`data: ${chatChunk({ content: 'la ' })}\n\n`));
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    );

  it('by the signal closes the connection', async () => {
    upstream.answer(endless);
    const controller = new AbortController();
    const reason = new Error('hung up');
    const consume = async () => {
      for await (const _ of createEngine().generate(textRequest(), controller.signal))
        controller.abort(reason);
    };
    await expect(consume()).rejects.toBe(reason);
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('by ending the iteration closes the connection', async () => {
    upstream.answer(endless);
    for await (const _ of createEngine().generate(textRequest(), never)) break;
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('before the first byte closes the connection', async () => {
    upstream.answer(() => new Promise<Response>(() => undefined));
    const controller = new AbortController();
    const consumed = Array.fromAsync<TextEvent>(createEngine().generate(textRequest(), controller.signal));
    const outcome = expect(consumed).rejects.toBe('left');
    await expect.poll(() => upstream.seen.length).toBe(1);
    controller.abort('left');
    await outcome;
    await expect.poll(() => upstream.cancelled).toBe(1);
  });
});

it('concurrent responses are independent', async () => {
  upstream.answer((body) => {
    const request = JSON.stringify(body.messages);
    const letters = [...request].map((content) => `data: ${chatChunk({ content })}\n\n`);
    return portionAnswer([...letters, eventText(chatChunk({}, 'stop'))]);
  });
  const engine = createEngine();
  await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const messages = [{ role: 'system', text: `number ${at}` }] as const;
      const events = await Array.fromAsync(engine.generate(textRequest({ messages }), never));
      expect(JSON.parse(wholeAnswer(events).text)).toEqual([{ role: 'system', content: `number ${at}` }]);
    }),
  );
});

it.each([
  [
    'text response',
    eventText(chatChunk({ content: 'x'.repeat(256 * 1024) })).replace('data: [DONE]\n\n', ''),
  ],
  ['event', `data: ${'x'.repeat(256 * 1024)}`],
  ['event of empty lines', 'data:\n'.repeat(64 * 1024)],
  ['line', 'x'.repeat(256 * 1024)],
])('an endless %s is aborted with an error about its length', async (_, chunk) => {
  const bytes = new TextEncoder().encode(chunk);
  const headers = { 'content-type': 'text/event-stream' };
  upstream.answer(() => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(bytes) });
    return new Response(body, { headers });
  });
  const engine = createEngine();
  await expect(collectResponse(engine)).rejects.toMatchObject({ kind: 'upstream', message: /is too long/ });
  expect(engine.ready().ready).toBe(true);
});

it('has the context length of the configuration, if there is one', () => {
  expect(createEngine().contextTokens).toBeUndefined();
  expect(createEngine({ contextTokens: 8192 }).contextTokens).toBe(8192);
});
