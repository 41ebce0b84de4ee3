import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeAnswer } from '../../../../test/contract/text-engine.cases.ts';
import { chatChunk, eventText, usageChunk } from '../../../../tools/harness/upstreams/fake-chat-upstream.ts';
import type { TextEvent } from '../../../contract/engines/text.ts';
import { eventData } from '../client/event-stream.ts';
import { ChatAnswer, MAX_ANSWER, MAX_CALLS } from './chat-response.ts';

/** The events of an answer of these chunks. */
function eventsOf(...data: readonly string[]): TextEvent[] {
  const answer = new ChatAnswer(() => 7);
  return [...data.flatMap((each) => answer.read(each)), answer.end()];
}

const calls = (delta: object) => chatChunk({ tool_calls: [delta] });
const named = (name: string, fields: object = {}) => ({
  ...fields,
  type: 'function',
  function: { name, arguments: '' },
});
const args = (text: string, fields: object = {}) => ({ ...fields, function: { arguments: text } });

describe('text', () => {
  it('comes in the pieces of the server', () => {
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

  it('may come with the end in one chunk', () => {
    const events = eventsOf(chatChunk({ content: 'Yes' }, 'length'));
    expect(events.map(({ kind }) => kind)).toEqual(['text', 'end']);
    expect(events.at(-1)).toMatchObject({ reason: 'length' });
  });

  it.each(['reasoning_content', 'reasoning'])('of thoughts is told apart in %s', (field) => {
    const events = eventsOf(
      chatChunk({ [field]: 'Hm.' }),
      chatChunk({ content: 'Yes', [field]: null }, 'stop'),
    );
    expect(events.slice(0, 2)).toEqual([
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'text', text: 'Yes' },
    ]);
  });

  it('of a refusal is told apart', () => {
    expect(eventsOf(chatChunk({ refusal: 'No.' }, 'stop'))[0]).toEqual({ kind: 'refusal', text: 'No.' });
  });

  it('of other choices is passed over', () => {
    const other = JSON.stringify({
      choices: [{ index: 1, delta: { content: 'B' }, finish_reason: 'length' }],
    });
    expect(wholeAnswer(eventsOf(chatChunk({ content: 'A' }, 'stop'), other)).text).toBe('A');
  });
});

describe('the end', () => {
  it.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
  ])('%s is %s', (word, reason) => {
    expect(eventsOf(chatChunk({ content: 'a' }, word)).at(-1)).toMatchObject({ reason });
  });

  it('after a call is one of calls, whatever the server says', () => {
    const events = eventsOf(calls(named('f', { index: 0, id: 'c' })), chatChunk({}, 'stop'));
    expect(events.at(-1)).toMatchObject({ reason: 'tool_calls' });
  });

  it('may be missing before the mark of the end, after which nothing follows', () => {
    expect(eventsOf(chatChunk({ content: 'a' }), '[DONE]').at(-1)).toMatchObject({ reason: 'stop' });
  });

  it.each([
    ['nothing', []],
    ['only the mark', ['[DONE]']],
    ['half an answer', [chatChunk({ content: 'a' })]],
    ['an error', [chatChunk({ content: 'a' }), '{"error":{"message":"My private diary."}}']],
    ['an answer that was given up', [chatChunk({ content: 'a' }, 'abort')]],
    ['no JSON', ['My private diary.']],
    ['JSON of another kind', ['3', '[]', 'null', '"a"']],
  ])('of %s is a failure', (_, data) => {
    const read = () => eventsOf(...data);
    expect(read).toThrow(/behind this model failed/);
    expect(read).not.toThrow(/diary/);
  });
});

it('a refusal in a stream is one of the caller, without its words', () => {
  const refusal = (code: unknown) => () =>
    eventsOf(JSON.stringify({ error: { message: 'My diary.', code } }));
  expect(refusal(400)).toThrow(expect.objectContaining({ kind: 'invalid_request' }));
  expect(refusal(400)).not.toThrow(/diary/);
  expect(refusal(500)).toThrow(expect.objectContaining({ kind: 'upstream' }));
  expect(refusal('400')).toThrow(expect.objectContaining({ kind: 'upstream' }));
});

describe('usage', () => {
  const tokens = (...data: string[]) => {
    const end = eventsOf(...data).at(-1);
    return end?.kind === 'end' ? end.tokens : undefined;
  };

  it('may come before the end, with every chunk, and with its details', () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }], usage });
    expect(tokens(chunk, chatChunk({}, 'stop'))).toEqual({ input: 9, output: 4, cached: 8, reasoning: 2 });
  });

  it('is estimated when the server does not count', () => {
    expect(tokens(chatChunk({ content: 'abcdefgh' }, 'stop'))).toEqual({
      input: 7,
      output: 2,
      cached: 0,
      reasoning: 0,
    });
  });

  it.each([-1, 1.5, '3', 1e300, null])('of %j is not believed', (count) => {
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

describe('calls', () => {
  const answerOf = (...data: string[]) => wholeAnswer(eventsOf(...data, chatChunk({}, 'tool_calls')));

  it('come in pieces, by their index', () => {
    const { calls: told } = answerOf(
      calls(named('f', { index: 0, id: 'a' })),
      calls(args('{"x"', { index: 0 })),
      calls(args(':1}', { index: 0 })),
      calls(named('g', { index: 1, id: 'b' })),
      calls(args('{}', { index: 1 })),
    );
    expect(told).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{}' },
    ]);
  });

  it('may repeat their id and name with every piece', () => {
    const piece = (text: string) =>
      calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: text } });
    expect(answerOf(piece('{'), piece('}')).calls).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  it('may be whole, all of them at index 0', () => {
    const whole = (id: string) => calls({ index: 0, id, function: { name: 'f', arguments: `{"${id}":1}` } });
    expect(answerOf(whole('a'), whole('b')).calls.map((call) => call.arguments)).toEqual([
      '{"a":1}',
      '{"b":1}',
    ]);
  });

  it('may have no index, and their arguments as an object', () => {
    const whole = (id: string, x: number) => calls({ id, function: { name: 'f', arguments: { x } } });
    expect(answerOf(whole('a', 1), whole('b', 2)).calls.map((call) => call.arguments)).toEqual([
      '{"x":1}',
      '{"x":2}',
    ]);
  });

  it('get an id when they have none', () => {
    const { calls: told } = answerOf(
      calls(named('f', { index: 0 })),
      calls(named('g', { index: 1, id: '' })),
    );
    expect(told.map(({ id }) => /^call_/.test(id))).toEqual([true, true]);
  });

  it('get an id when theirs is taken', () => {
    const { calls: told } = answerOf(
      calls(named('f', { index: 0, id: 'same' })),
      calls(named('g', { index: 1, id: 'same' })),
    );
    expect(new Set(told.map(({ id }) => id)).size).toBe(2);
  });

  it('may have their name late', () => {
    const { calls: told } = answerOf(
      calls({ index: 0, id: 'a', function: { arguments: '{' } }),
      calls({ index: 0, function: { name: 'f', arguments: '}' } }),
    );
    expect(told).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });
});

it('a whole answer gives the same events as its stream', () => {
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

describe('an answer without an end', () => {
  it.each([
    ['text', { content: 'x'.repeat(MAX_ANSWER / 4) }],
    ['thoughts', { reasoning: 'x'.repeat(MAX_ANSWER / 4) }],
    ['a refusal', { refusal: 'x'.repeat(MAX_ANSWER / 4) }],
    ['arguments', { tool_calls: [args('x'.repeat(MAX_ANSWER / 4), { index: 0 })] }],
  ])('of %s is given up when it is too long', (_, delta) => {
    const answer = new ChatAnswer(() => 0);
    for (let at = 0; at < 4; at += 1) answer.read(chatChunk(delta));
    expect(() => answer.read(calls(named('f', { index: 0 })))).toThrow('its answer is too long');
  });

  it('of calls is given up when they are too many', () => {
    const answer = new ChatAnswer(() => 0);
    for (let index = 0; index < MAX_CALLS; index += 1) answer.read(calls(args('', { index })));
    expect(() => answer.read(calls(args('', { index: MAX_CALLS })))).toThrow('too many calls');
  });
});

it('wherever its bytes are cut, an answer is the same', async () => {
  const stream = eventText(
    chatChunk({ role: 'assistant', content: '' }),
    chatChunk({ content: 'Grüße 😀\n' }),
    chatChunk({ content: '\u2028end' }),
    calls(named('f', { index: 0, id: 'a' })),
    calls(args('{"ü":"\\n"}', { index: 0 })),
    chatChunk({}, 'tool_calls'),
    usageChunk(3, 4),
  );
  // Keep-alives, as servers and proxies send them.
  const bytes = Buffer.from(`: keep-alive\n\n${stream.replaceAll('\n\n', '\n\n: ping\n\n')}`);
  const whole = await read([bytes]);
  expect(whole.map(({ kind }) => kind)).toEqual(['text', 'text', 'tool_call', 'tool_arguments', 'end']);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
      const ends = [...cuts.sort((a, b) => a - b), bytes.length];
      const portions = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
      expect(await read(portions)).toEqual(whole);
    }),
    { numRuns: 200 },
  );

  async function read(portions: readonly Uint8Array[]): Promise<TextEvent[]> {
    async function* body() {
      yield* portions;
    }
    return eventsOf(...(await Array.fromAsync(eventData(body()))));
  }
});
