import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeAnswer } from '../../../../tools/harness/models/text-responses.ts';
import { chatChunk, eventText, usageChunk } from '../../../../tools/harness/upstreams/fake-chat-upstream.ts';
import type { TextEvent } from '../../../contract/engines/text.ts';
import { readEvents } from '../client/event-stream.ts';
import { ChatResponseReader, MAX_CALLS, MAX_RESPONSE_LENGTH } from './chat-response.ts';

const EXPECTED = { estimatedInput: () => 7, maxInput: 1000, maxHiddenReasoning: 100 };

/** The events of a response with this data. */
function eventsOf(...data: readonly string[]): TextEvent[] {
  const reader = new ChatResponseReader(EXPECTED);
  return [...data.flatMap((each) => reader.readData(each)), reader.finish()];
}

const calls = (delta: object) => chatChunk({ tool_calls: [delta] });
const named = (name: string, fields: object = {}) => ({
  ...fields,
  type: 'function',
  function: { name, arguments: '' },
});
const args = (text: string, fields: object = {}) => ({ ...fields, function: { arguments: text } });

describe('text', () => {
  it('is passed on in the chunks of the server', () => {
    const events = eventsOf(
      chatChunk({ role: 'assistant', content: '' }),
      chatChunk({ content: 'Hel' }),
      chatChunk({ content: 'lo.' }),
      chatChunk({}, 'stop'),
      usageChunk(12, 3),
      '[DONE]',
    );
    expect(events).toEqual([
      { kind: 'text', text: 'Hel' },
      { kind: 'text', text: 'lo.' },
      { kind: 'end', reason: 'stop', tokens: { input: 12, output: 3, cached: 0, reasoning: 0 } },
    ]);
  });

  it('may be in the same chunk as the finish reason', () => {
    const events = eventsOf(chatChunk({ content: 'Yes' }, 'length'));
    expect(events.map(({ kind }) => kind)).toEqual(['text', 'end']);
    expect(events.at(-1)).toMatchObject({ reason: 'length' });
  });

  it.each(['reasoning_content', 'reasoning'])('in %s is reported as reasoning', (field) => {
    const events = eventsOf(
      chatChunk({ [field]: 'Hm.' }),
      chatChunk({ content: 'Yes', [field]: null }, 'stop'),
    );
    expect(events.slice(0, 2)).toEqual([
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'text', text: 'Yes' },
    ]);
  });

  it('in `refusal` is reported as a refusal', () => {
    expect(eventsOf(chatChunk({ refusal: 'No.' }, 'stop'))[0]).toEqual({ kind: 'refusal', text: 'No.' });
  });

  it('of other choices is ignored', () => {
    const other = JSON.stringify({
      choices: [{ index: 1, delta: { content: 'B' }, finish_reason: 'length' }],
    });
    expect(wholeAnswer(eventsOf(chatChunk({ content: 'A' }, 'stop'), other)).text).toBe('A');
  });
});

describe('the finish reason', () => {
  it.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
  ])('%s is mapped to %s', (word, reason) => {
    expect(eventsOf(chatChunk({ content: 'a' }, word)).at(-1)).toMatchObject({ reason });
  });

  it('is `tool_calls` after a tool call, even if the server reports another one', () => {
    const events = eventsOf(calls(named('f', { index: 0, id: 'c' })), chatChunk({}, 'stop'));
    expect(events.at(-1)).toMatchObject({ reason: 'tool_calls' });
  });

  it('may be missing if the stream ends with [DONE]', () => {
    expect(eventsOf(chatChunk({ content: 'a' }), '[DONE]').at(-1)).toMatchObject({ reason: 'stop' });
  });

  it.each([
    ['an empty stream', []],
    ['only [DONE]', ['[DONE]']],
    ['an incomplete response', [chatChunk({ content: 'a' })]],
    ['an error event', [chatChunk({ content: 'a' }), '{"error":{"message":"My private diary."}}']],
    ['an aborted response', [chatChunk({ content: 'a' }, 'abort')]],
    ['invalid JSON', ['My private diary.']],
    ['JSON that is not an object', ['3', '[]', 'null', '"a"']],
  ])('of %s is an upstream error', (_, data) => {
    const readAll = () => eventsOf(...data);
    expect(readAll).toThrow(/server of this model failed/);
    expect(readAll).not.toThrow(/diary/);
  });
});

it('a rejection in a stream is an error of the caller, without the message of the server', () => {
  const rejection = (code: unknown) => () =>
    eventsOf(JSON.stringify({ error: { message: 'My diary.', code } }));
  expect(rejection(400)).toThrow(expect.objectContaining({ kind: 'invalid_request' }));
  expect(rejection(400)).not.toThrow(/diary/);
  expect(rejection(500)).toThrow(expect.objectContaining({ kind: 'upstream' }));
  expect(rejection('400')).toThrow(expect.objectContaining({ kind: 'upstream' }));
});

describe('usage', () => {
  const readAll = (...data: readonly string[]) => {
    const reader = new ChatResponseReader(EXPECTED);
    for (const each of data) reader.readData(each);
    const end = reader.finish();
    return { tokens: end.kind === 'end' ? end.tokens : undefined, implausible: reader.hasImplausibleUsage };
  };
  const answer = chatChunk({ content: 'Yes' }, 'stop');

  it.each([
    ['a prompt that cannot have so many tokens', 1001, 1, { input: 7, output: 1 }],
    ['a response that cannot have so many tokens', 12, 9_007_199_254_740_991, { input: 12, output: 1 }],
    ['both', 9_007_199_254_740_991, 9_007_199_254_740_991, { input: 7, output: 1 }],
  ])('is estimated if the server reports %s', (_, prompt, completion, expected) => {
    expect(readAll(answer, usageChunk(prompt, completion))).toMatchObject({
      tokens: expected,
      implausible: true,
    });
  });

  it('may have more tokens than text: control tokens and reasoning without text', () => {
    expect(readAll(answer, usageChunk(1000, 60))).toMatchObject({
      tokens: { input: 1000, output: 60 },
      implausible: false,
    });
    const details = { completion_tokens_details: { reasoning_tokens: 90 } };
    const usage = JSON.stringify({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 150, ...details },
    });
    expect(readAll(answer, usage)).toMatchObject({
      tokens: { output: 150, reasoning: 90 },
      implausible: false,
    });
    const inflated = usage.replace('150', '1000000').replace('90', '999990');
    expect(readAll(answer, inflated)).toMatchObject({ tokens: { output: 101 }, implausible: true });
  });

  const tokens = (...data: string[]) => {
    const end = eventsOf(...data).at(-1);
    return end?.kind === 'end' ? end.tokens : undefined;
  };

  it('may be sent before the end, with every chunk and with details', () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }], usage });
    expect(tokens(chunk, chatChunk({}, 'stop'))).toEqual({ input: 9, output: 4, cached: 8, reasoning: 2 });
  });

  it('is estimated when the server does not report it', () => {
    expect(tokens(chatChunk({ content: 'abcdefgh' }, 'stop'))).toEqual({
      input: 7,
      output: 2,
      cached: 0,
      reasoning: 0,
    });
  });

  it.each([-1, 1.5, '3', 1e300, null])('of %j is ignored', (count) => {
    const usage = {
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: { cached_tokens: 99 },
    };
    const chunk = JSON.stringify({ choices: [], usage });
    expect(tokens(chatChunk({ content: 'abcd' }, 'stop'), chunk)).toEqual({
      input: 7,
      output: 1,
      cached: 7,
      reasoning: 0,
    });
  });
});

describe('tool calls', () => {
  const responseOf = (...data: string[]) => wholeAnswer(eventsOf(...data, chatChunk({}, 'tool_calls')));

  it('are assembled by their index', () => {
    const { calls: received } = responseOf(
      calls(named('f', { index: 0, id: 'a' })),
      calls(args('{"x"', { index: 0 })),
      calls(args(':1}', { index: 0 })),
      calls(named('g', { index: 1, id: 'b' })),
      calls(args('{}', { index: 1 })),
    );
    expect(received).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  it('may repeat their id and name in every chunk', () => {
    const piece = (text: string) =>
      calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: text } });
    expect(responseOf(piece('{'), piece('}')).calls).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  it('may be complete and all have index 0', () => {
    const whole = (id: string) => calls({ index: 0, id, function: { name: 'f', arguments: `{"${id}":1}` } });
    expect(responseOf(whole('a'), whole('b')).calls.map((call) => call.arguments)).toEqual([
      '{"a":1}',
      '{"b":1}',
    ]);
  });

  it('may have no index and arguments as an object', () => {
    const whole = (id: string, x: number) => calls({ id, function: { name: 'f', arguments: { x } } });
    expect(responseOf(whole('a', 1), whole('b', 2)).calls.map((call) => call.arguments)).toEqual([
      '{"x":1}',
      '{"x":2}',
    ]);
  });

  it('get an id if they have none', () => {
    const { calls: received } = responseOf(
      calls(named('f', { index: 0 })),
      calls(named('g', { index: 1, id: '' })),
    );
    expect(received.map(({ id }) => /^call_/.test(id))).toEqual([true, true]);
  });

  it('get a new id if theirs is not unique', () => {
    const { calls: received } = responseOf(
      calls(named('f', { index: 0, id: 'same' })),
      calls(named('g', { index: 1, id: 'same' })),
    );
    expect(new Set(received.map(({ id }) => id)).size).toBe(2);
  });

  it('may have arguments before the name', () => {
    const { calls: received } = responseOf(
      calls({ index: 0, id: 'a', function: { arguments: '{' } }),
      calls({ index: 0, function: { name: 'f', arguments: '}' } }),
    );
    expect(received).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });
});

it('a complete response gives the same events as a stream', () => {
  const message = {
    content: 'Ok.',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  };
  const whole = JSON.stringify({
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  });
  expect(wholeAnswer(eventsOf(whole))).toMatchObject({
    text: 'Ok.',
    calls: [{ id: 'a', name: 'f', arguments: '{}' }],
    end: { tokens: { input: 3, output: 2 } },
  });
});

describe('an endless response', () => {
  it.each([
    ['text', { content: 'x'.repeat(MAX_RESPONSE_LENGTH / 4) }],
    ['reasoning', { reasoning: 'x'.repeat(MAX_RESPONSE_LENGTH / 4) }],
    ['a refusal', { refusal: 'x'.repeat(MAX_RESPONSE_LENGTH / 4) }],
    ['arguments', { tool_calls: [args('x'.repeat(MAX_RESPONSE_LENGTH / 4), { index: 0 })] }],
  ])('of %s is aborted at the length limit', (_, delta) => {
    const reader = new ChatResponseReader(EXPECTED);
    for (let index = 0; index < 4; index += 1) reader.readData(chatChunk(delta));
    expect(() => reader.readData(calls(named('f', { index: 0 })))).toThrow('the response is too long');
  });

  it('of tool calls is aborted at the limit of calls', () => {
    const reader = new ChatResponseReader(EXPECTED);
    for (let index = 0; index < MAX_CALLS; index += 1) reader.readData(calls(args('', { index })));
    expect(() => reader.readData(calls(args('', { index: MAX_CALLS })))).toThrow('too many tool calls');
  });
});

it('a response is independent of the boundaries of its chunks', async () => {
  const stream = eventText(
    chatChunk({ role: 'assistant', content: '' }),
    chatChunk({ content: 'Grüße 😀\n' }),
    chatChunk({ content: '\u2028end' }),
    calls(named('f', { index: 0, id: 'a' })),
    calls(args('{"ü":"\\n"}', { index: 0 })),
    chatChunk({}, 'tool_calls'),
    usageChunk(3, 4),
  );
  // Servers and proxies send keep-alive comments.
  const bytes = Buffer.from(`: keep-alive\n\n${stream.replaceAll('\n\n', '\n\n: ping\n\n')}`);
  const whole = await eventsOfChunks([bytes]);
  expect(whole.map(({ kind }) => kind)).toEqual(['text', 'text', 'tool_call', 'tool_arguments', 'end']);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
      const offsets = [...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = offsets.map((end, index) => bytes.subarray(offsets[index - 1] ?? 0, end));
      expect(await eventsOfChunks(chunks)).toEqual(whole);
    }),
    { numRuns: 200 },
  );

  async function eventsOfChunks(chunks: readonly Uint8Array[]): Promise<TextEvent[]> {
    async function* body() {
      yield* chunks;
    }
    return eventsOf(...(await Array.fromAsync(readEvents(body()))));
  }
});
