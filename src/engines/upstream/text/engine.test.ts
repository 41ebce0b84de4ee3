import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  answerOf,
  textEngineCases,
  textRequest,
  wholeAnswer,
} from '../../../../test/contract/text-engine.cases.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
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
  close: () => counted.push('nobody'),
  request: (_method, send) => send({}),
};

function open(
  fields: { baseUrl?: string; apiKey?: Secret; contextTokens?: number } = {},
  patience: { firstByteMs?: number; idleMs?: number; probeMs?: number } = {},
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
    ...patience,
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
  await answerOf(open(), fields);
  return upstream.seen.at(-1)?.body ?? {};
}

describe('what the upstream is asked', () => {
  it('is a stream with its usage, by its own name and key', async () => {
    await answerOf(open({ apiKey: new Secret('key-of-upstream') }));
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

  it('has every kind of message', async () => {
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

  it('has tools, their choice and the form of the answer', async () => {
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

  it('has no tools when none may be called', async () => {
    const body = await bodyOf({ tools: [{ name: 'f', strict: false }], toolChoice: 'none' });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });
});

describe('the answer', () => {
  it('comes while it is being made', async () => {
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
    const events = open().generate(textRequest(), never)[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ kind: 'text', text: 'One' });
    gate.resolve();
    expect((await events.next()).value).toEqual({ kind: 'text', text: ' two' });
    expect((await events.next()).value).toMatchObject({ kind: 'end' });
    expect((await events.next()).done).toBe(true);
  });

  it.each([
    [
      'several events at once',
      [eventText(chatChunk({ content: 'Yes' }), chatChunk({}, 'stop'), usageChunk(3, 1))],
    ],
    ['no mark of the end', [`data: ${chatChunk({ content: 'Yes' }, 'stop')}\n\n`]],
    ['single characters', [...`: ping\n\n${eventText(chatChunk({ content: 'Yes' }, 'stop'))}`]],
    ['other line ends', [eventText(chatChunk({ content: 'Yes' }, 'stop')).replaceAll('\n', '\r\n')]],
  ])('may come as %s', async (_, portions) => {
    upstream.answer(() => portionAnswer(portions));
    expect((await answerOf(open())).text).toBe('Yes');
  });

  it('may be whole, although a stream was asked for', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }];
    upstream.answer(() => Response.json({ choices, usage: { prompt_tokens: 4, completion_tokens: 1 } }));
    const { text, end } = await answerOf(open());
    expect(text).toBe('Yes');
    expect(end.tokens).toMatchObject({ input: 4, output: 1 });
  });

  it('has estimated tokens when the upstream does not count', async () => {
    upstream.answer(() => portionAnswer([eventText(chatChunk({ content: 'Hello you' }, 'stop'))]));
    const messages = [{ role: 'user', parts: [{ kind: 'text', text: 'Say something.' }] }] as const;
    const { end } = await answerOf(open(), { messages });
    expect(end.tokens).toEqual({ input: 4, output: 3, cached: 0, reasoning: 0 });
  });

  it('leaves its connection to the next one', async () => {
    const engine = open();
    for (let turn = 0; turn < 3; turn += 1) await answerOf(engine);
    expect(upstream.cancelled).toBe(0);
    expect(counted).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('ends at its mark, even when the upstream goes on', async () => {
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
    expect((await answerOf(open())).text).toBe('Yes');
    await expect.poll(() => upstream.cancelled).toBe(1);
  });
});

it('stream options are not asked for again where they are refused', async () => {
  upstream.answer((body) =>
    'stream_options' in body
      ? Response.json({ detail: 'extra_forbidden: stream_options' }, { status: 422 })
      : portionAnswer([eventText(chatChunk({ content: 'Yes' }, 'stop'))]),
  );
  const engine = open();
  await answerOf(engine);
  await answerOf(engine);
  expect(upstream.seen.map(({ body }) => 'stream_options' in (body ?? {}))).toEqual([true, false, false]);
});

describe('refusals of the upstream', () => {
  const MESSAGE = 'secret-upstream-model cannot read: My private diary.';
  const error = (fields: object) => ({ error: { message: MESSAGE, ...fields } });

  it.each([
    ['vLLM', 400, error({ type: 'BadRequestError', code: 400 }), 'invalid_request', undefined],
    [
      'vLLM, of a long one',
      400,
      error({ message: "This model's maximum context length is 2048 tokens. My private diary." }),
      'invalid_request',
      'context_length_exceeded',
    ],
    [
      'llama.cpp, of a long one',
      400,
      error({ type: 'exceed_context_size_error' }),
      'invalid_request',
      'context_length_exceeded',
    ],
    ['llama.cpp, of a part', 501, error({ type: 'not_supported_error' }), 'invalid_request', undefined],
    ['FastAPI', 422, { detail: [{ msg: MESSAGE }] }, 'invalid_request', undefined],
    ['a key', 401, error({}), 'upstream', 'upstream_error'],
    ['access', 403, error({}), 'upstream', 'upstream_error'],
    ['a model', 404, error({ type: 'not_found_error' }), 'upstream', 'upstream_error'],
    ['a failure', 500, error({ type: 'api_error' }), 'upstream', 'upstream_error'],
  ])('%s, without its words', async (_, status, body, kind, code) => {
    upstream.answer(() => Response.json(body, { status }));
    const thrown = await answerOf(open()).catch((each: unknown) => each);
    expect(thrown).toMatchObject({ kind, code });
    expect(String(thrown)).not.toMatch(/secret-upstream-model|diary/);
    expect(JSON.stringify(log.lines)).not.toMatch(/diary/);
  });

  it.each([429, 503])('%d asks to wait', async (status) => {
    upstream.answer(() => new Response('busy', { status, headers: { 'retry-after': '7' } }));
    await expect(answerOf(open())).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 7 });
  });

  it('do not open its circuit', async () => {
    upstream.answer(() => Response.json({}, { status: 500 }));
    const engine = open();
    for (let turn = 0; turn < 8; turn += 1) await answerOf(engine).catch(() => undefined);
    expect(counted).toEqual(new Array(8).fill('failed'));
    expect(engine.ready().ready).toBe(true);
  });
});

describe('faults of the connection', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
  it.each([
    ['cut', `${head}content-length: 1000\r\n\r\ndata: ${chatChunk({ content: 'a' })}\n\n`],
    ['ended before its end', `${head}connection: close\r\n\r\ndata: ${chatChunk({ content: 'a' })}\n\n`],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const server = startRawServer(bytes);
    onTestFinished(() => server.close());
    await expect(answerOf(open({ baseUrl: server.baseUrl }))).rejects.toMatchObject({
      kind: 'upstream',
      code: 'upstream_error',
    });
  });

  it('a request that was heard is not sent again', async () => {
    upstream.answer(() => portionAnswer(['data: {"cho']));
    await expect(answerOf(open())).rejects.toMatchObject({ kind: 'upstream' });
    expect(upstream.seen).toHaveLength(1);
  });

  it('an event without an end', async () => {
    upstream.answer(
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(1 << 20, 'a')) }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    );
    await expect(answerOf(open())).rejects.toMatchObject({ kind: 'upstream' });
  });
});

describe('an upstream that is away', () => {
  it('is left alone after some calls, tried again, and then let through', async () => {
    const baseUrl = await deadBaseUrl();
    const engine = open({ baseUrl }, { probeMs: 40 });
    await expect(answerOf(engine)).rejects.toMatchObject({ kind: 'upstream' });
    // Looks at the server count as well.
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
    expect((await answerOf(engine)).text).toBe('Back');
  }, 15_000);

  it('refuses at once while it is left alone', async () => {
    upstream.modelsStatus = 503;
    upstream.answer(() => new Response(null, { status: 502 }));
    const engine = open({}, { probeMs: 60_000 });
    for (let turn = 0; turn < 5; turn += 1) {
      await expect(answerOf(engine)).rejects.toMatchObject({ kind: 'upstream' });
    }
    await expect(answerOf(engine)).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 30 });
    expect(upstream.seen).toHaveLength(5);
    expect(counted).toEqual([...new Array(4).fill('failed'), 'open', 'failed', 'rejected']);
    expect(engine.ready().ready).toBe(false);
    await engine.close();
    expect(counted.at(-1)).toBe('nobody');
  });

  it('is not so because callers left', async () => {
    upstream.answer(() => new Promise<Response>(() => undefined));
    const engine = open();
    for (let turn = 0; turn < 6; turn += 1) {
      const controller = new AbortController();
      const left = answerOf(engine, {}, controller.signal).catch(() => undefined);
      await expect.poll(() => upstream.seen.length).toBe(turn + 1);
      controller.abort();
      await left;
    }
    expect(engine.ready().ready).toBe(true);
    expect(counted).toEqual([]);
  });
});

describe('leaving', () => {
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

  it('by abort closes the connection', async () => {
    upstream.answer(endless);
    const controller = new AbortController();
    const reason = new Error('hung up');
    const consume = async () => {
      for await (const _ of open().generate(textRequest(), controller.signal)) controller.abort(reason);
    };
    await expect(consume()).rejects.toBe(reason);
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('by leaving the loop closes the connection', async () => {
    upstream.answer(endless);
    for await (const _ of open().generate(textRequest(), never)) break;
    await expect.poll(() => upstream.cancelled).toBe(1);
  });

  it('before the first byte closes the connection', async () => {
    upstream.answer(() => new Promise<Response>(() => undefined));
    const controller = new AbortController();
    const consumed = Array.fromAsync<TextEvent>(open().generate(textRequest(), controller.signal));
    const outcome = expect(consumed).rejects.toBe('left');
    await expect.poll(() => upstream.seen.length).toBe(1);
    controller.abort('left');
    await outcome;
    await expect.poll(() => upstream.cancelled).toBe(1);
  });
});

it('many answers at once do not mix', async () => {
  upstream.answer((body) => {
    const said = JSON.stringify(body.messages);
    const letters = [...said].map((content) => `data: ${chatChunk({ content })}\n\n`);
    return portionAnswer([...letters, eventText(chatChunk({}, 'stop'))]);
  });
  const engine = open();
  await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const messages = [{ role: 'system', text: `number ${at}` }] as const;
      const events = await Array.fromAsync(engine.generate(textRequest({ messages }), never));
      expect(JSON.parse(wholeAnswer(events).text)).toEqual([{ role: 'system', content: `number ${at}` }]);
    }),
  );
});

it.each([
  ['answer', eventText(chatChunk({ content: 'x'.repeat(256 * 1024) })).replace('data: [DONE]\n\n', '')],
  ['event', `data: ${'x'.repeat(256 * 1024)}`],
  ['event of empty lines', 'data:\n'.repeat(64 * 1024)],
  ['line', 'x'.repeat(256 * 1024)],
])('an %s that never ends is given up, and says so', async (_, portion) => {
  const bytes = new TextEncoder().encode(portion);
  const headers = { 'content-type': 'text/event-stream' };
  upstream.answer(() => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(bytes) });
    return new Response(body, { headers });
  });
  const engine = open();
  await expect(answerOf(engine)).rejects.toMatchObject({ kind: 'upstream', message: /is too long/ });
  expect(engine.ready().ready).toBe(true);
});

it('knows how much fits its model when it is told', () => {
  expect(open().contextTokens).toBeUndefined();
  expect(open({ contextTokens: 8192 }).contextTokens).toBe(8192);
});
