import { describe, expect, it } from 'vitest';
import type { UsageAmounts } from '../../../src/contract/accounts/calls.ts';
import type { TextEvent } from '../../../src/contract/engines/text.ts';
import { called, FAKE_TOKENS, type FakeTextOptions, said } from '../../../test/doubles/fake-text-engine.ts';
import { legalStream } from '../../../test/generators/legal-stream.ts';
import { RESPONSES, type ResponseAppOptions, responseApp } from '../../../test/harness/response-app.ts';
import type { BuiltInResult, BuiltInTool } from './items/built-in-tools.ts';
import { MAX_RESULT_CHARACTERS } from './tool-loop.ts';

const CODE = { type: 'code_interpreter', container: { type: 'auto' } };
const SEARCH = { type: 'web_search' };
const WEATHER = { type: 'function', name: 'weather', parameters: { type: 'object' } };

const OUR_CALL = expect.stringMatching(/^call_[0-9a-f]{32}$/);

/** A tool with a fixed result that records its inputs. */
class FakeTool implements BuiltInTool {
  readonly tool;
  readonly inputs: string[] = [];
  closed = 0;

  constructor(
    readonly type: BuiltInTool['type'],
    readonly give: (input: string, signal: AbortSignal) => BuiltInResult | Promise<BuiltInResult>,
    name: string = type,
  ) {
    this.tool = { name, strict: true };
  }

  async run(input: string, signal: AbortSignal): Promise<BuiltInResult> {
    this.inputs.push(input);
    return this.give(input, signal);
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

async function toolApp(
  options: FakeTextOptions,
  more: Partial<Pick<ResponseAppOptions, 'opening' | 'holds'>> = {},
) {
  const code = new FakeTool('code_interpreter', (input) => ({
    status: 'completed',
    text: `ran ${input}`,
    outputs: [{ type: 'logs', logs: '4\n' }],
  }));
  const search = new FakeTool('web_search', () => ({
    status: 'completed',
    text: 'found',
    sources: [{ url: 'https://birds.test', title: 'Birds' }],
  }));
  const tools = { code_interpreter: () => code, web_search: () => search };
  return { code, search, ...(await responseApp(options, { tools, ...more })) };
}

const runs = (code: string, index = 0) => called(index, 'code_interpreter', JSON.stringify({ code }));
const searches = (query: string, index = 0) => called(index, 'web_search', JSON.stringify({ query }));
/** The first output contains the calls, later ones contain text. */
const once = (...events: TextEvent[]): FakeTextOptions => ({
  answer: (_, at) => (at === 0 ? events : said('Four.')),
});

describe('a built-in tool', () => {
  it('runs, and the model continues with the result in one response with one usage row', async () => {
    const { stream, engine, code, rows } = await toolApp(once(...runs('2+2')));
    const events = await stream({ input: 'How much?', tools: [CODE] });
    legalStream(events);
    expect(events.at(-1)?.response).toMatchObject({
      status: 'completed',
      output: [
        { type: 'code_interpreter_call', status: 'completed', code: '2+2', outputs: null },
        { type: 'message', content: [{ text: 'Four.' }] },
      ],
      usage: { input_tokens: 2 * FAKE_TOKENS.input, output_tokens: 2 * FAKE_TOKENS.output },
    });
    expect(code.inputs).toEqual(['2+2']);
    expect(code.closed).toBe(1);
    expect(engine.requests[1]?.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        text: undefined,
        toolCalls: [{ id: OUR_CALL, name: 'code_interpreter', arguments: '{"code":"2+2"}' }],
      },
      { role: 'tool', toolCallId: OUR_CALL, text: 'ran 2+2' },
    ]);
    expect(rows).toMatchObject([{ status: 'completed', inputTokens: 24, outputTokens: 10 }]);
  });

  it('for web search adds citations of its pages', async () => {
    const { stream } = await toolApp({
      answer: (_, at) => (at === 0 ? searches('birds') : said('See https://', 'birds.test.')),
    });
    const include = ['web_search_call.action.sources'];
    const events = await stream({ input: 'Birds?', tools: [SEARCH], include });
    legalStream(events);
    expect(events.at(-1)?.response.output).toMatchObject([
      { type: 'web_search_call', action: { query: 'birds', sources: [{ url: 'https://birds.test' }] } },
      {
        content: [
          {
            annotations: [{ type: 'url_citation', url: 'https://birds.test', start_index: 4, end_index: 22 }],
          },
        ],
      },
    ]);
  });

  it('has its result in later turns, and in the response if the client includes it', async () => {
    const { create, engine, send } = await toolApp(once(...runs('2+2')));
    const { id } = await create({ input: 'How much?', tools: [CODE] });
    await create({ input: 'Sure?', previous_response_id: id });
    expect(engine.requests[2]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', toolCalls: [{ name: 'code_interpreter' }] },
      { role: 'tool', text: 'ran 2+2' },
      { role: 'assistant', text: 'Four.' },
      { role: 'user' },
    ]);
    const stored = await (await send(`${RESPONSES}/${id}?include[]=code_interpreter_call.outputs`)).json();
    expect(stored.output[0].outputs).toEqual([{ type: 'logs', logs: '4\n' }]);
    expect(JSON.stringify(stored)).not.toContain('ran 2+2');
    expect((await (await send(`${RESPONSES}/${id}`)).json()).output[0].outputs).toBe(null);
  });

  it('runs all calls of an output in order, and preserves the text between them', async () => {
    const { stream, code, search, engine } = await toolApp(
      once(...said('Let me see.'), ...runs('1'), ...said('And:'), ...searches('two', 1), ...runs('3', 2)),
    );
    const events = await stream({ input: 'x', tools: [CODE, SEARCH] });
    legalStream(events);
    expect(events.at(-1)?.response.output.map(({ type }: { type: string }) => type)).toEqual([
      'message',
      'code_interpreter_call',
      'message',
      'web_search_call',
      'code_interpreter_call',
      'message',
    ]);
    expect([code.inputs, search.inputs]).toEqual([['1', '3'], ['two']]);
    const [, asked, ...results] = engine.requests[1]?.messages ?? [];
    const ids = asked?.role === 'assistant' ? asked.toolCalls.map(({ id }) => id) : [];
    expect(asked).toMatchObject({ role: 'assistant', text: 'Let me see.And:' });
    expect(new Set(ids).size).toBe(3);
    expect(results).toMatchObject(ids.map((toolCallId) => ({ role: 'tool', toolCallId })));
  });

  it('runs before client functions, which end the response', async () => {
    const { stream, engine } = await toolApp(once(...runs('1'), ...called(1, 'weather', '{"a":', '1}')));
    const events = await stream({ input: 'x', tools: [CODE, WEATHER] });
    legalStream(events);
    expect(events.at(-1)?.response).toMatchObject({
      status: 'completed',
      output: [{ type: 'code_interpreter_call' }, { type: 'function_call', arguments: '{"a":1}' }],
    });
    expect(engine.requests).toHaveLength(1);
  });

  it('is not run with invalid arguments, and the model is informed', async () => {
    const { stream, code, engine } = await toolApp(once(...called(0, 'code_interpreter', '{"code": 5}')));
    const events = await stream({ input: 'x', tools: [CODE] });
    legalStream(events);
    expect(code.inputs).toEqual([]);
    expect(events.at(-1)?.response.output[0]).toMatchObject({ status: 'failed', code: '' });
    expect(engine.requests[1]?.messages.at(-1)).toMatchObject({
      text: "The arguments must be a JSON object with the string 'code'.",
    });
  });

  it('that fails is reported to the model, which continues', async () => {
    const broken = new FakeTool('web_search', () => {
      throw new Error('private words');
    });
    const { stream, engine, log } = await responseApp(once(...searches('birds')), {
      tools: { web_search: () => broken },
    });
    const events = await stream({ input: 'x', tools: [SEARCH] });
    legalStream(events);
    expect(events.at(-1)?.response).toMatchObject({
      status: 'completed',
      output: [{ type: 'web_search_call', status: 'failed' }, { type: 'message' }],
    });
    expect(engine.requests[1]?.messages.at(-1)).toMatchObject({ text: 'The tool failed.' });
    expect(log.lines).toMatchObject([{ level: 'error', fields: { tool: 'web_search' } }]);
  });

  it('passes results of limited length to the model', async () => {
    const long = new FakeTool('web_search', () => ({ status: 'completed', text: 'x'.repeat(50_000) }));
    const { create, engine } = await responseApp(once(...searches('birds')), {
      tools: { web_search: () => long },
    });
    await create({ input: 'x', tools: [SEARCH] });
    const last = engine.requests[1]?.messages.at(-1);
    expect(last?.role === 'tool' && last.text.length).toBe(MAX_RESULT_CHARACTERS);
  });
});

describe('tool calls end', () => {
  it('at the call limit', async () => {
    const { create, engine, code } = await toolApp({
      answer: ({ tools }) => (tools.length > 0 ? [...runs('1'), ...runs('2', 1)] : said('Enough.')),
    });
    const response = await create({ input: 'x', tools: [CODE], max_tool_calls: 3 });
    expect(code.inputs).toEqual(['1', '2', '1']);
    expect(response.output.map(({ type }: { type: string }) => type)).toEqual([
      'code_interpreter_call',
      'code_interpreter_call',
      'code_interpreter_call',
      'message',
    ]);
    expect(engine.requests.at(-1)).toMatchObject({ tools: [], toolChoice: 'none' });
    expect(engine.requests.at(-1)?.messages.at(-1)).toMatchObject({
      text: expect.stringContaining('was not made'),
    });
  });

  it('when the model calls a tool again after the limit', async () => {
    const { stream, code, engine } = await toolApp({ answer: () => runs('1') });
    const events = await stream({ input: 'x', tools: [CODE], max_tool_calls: 2 });
    legalStream(events);
    expect(events.at(-1)?.response).toMatchObject({
      status: 'completed',
      // The client does not receive the call, because it does not know the function.
      output: [{ type: 'code_interpreter_call' }, { type: 'code_interpreter_call' }],
    });
    expect(code.inputs).toEqual(['1', '1']);
    expect(engine.requests).toHaveLength(4);
    expect(engine.requests.map(({ tools }) => tools.length)).toEqual([1, 1, 0, 0]);
  });

  it('with text if the model is informed of the limit', async () => {
    const { create, engine } = await toolApp({
      answer: (_, at) => (at < 2 ? [...said('Well.'), ...runs('1')] : said('Four.')),
    });
    const { output, output_text } = await create({ input: 'x', tools: [CODE, WEATHER], max_tool_calls: 1 });
    expect(output.map(({ type }: { type: string }) => type)).toEqual([
      'message',
      'code_interpreter_call',
      'message',
    ]);
    expect(output_text).toBe('Well.Well.Four.');
    expect(engine.requests.at(-1)?.messages.at(-1)).toMatchObject({
      role: 'tool',
      text: expect.stringContaining('was not made'),
    });
  });

  it('when the token limit is reached', async () => {
    const { create, engine } = await toolApp(once(...runs('1')));
    const response = await create({ input: 'x', tools: [CODE], max_output_tokens: FAKE_TOKENS.output });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect(engine.requests).toHaveLength(1);
    const longer = await toolApp(once(...runs('1')));
    await longer.create({ input: 'x', tools: [CODE], max_output_tokens: 7 });
    expect(longer.engine.requests.map(({ maxTokens }) => maxTokens)).toEqual([7, 7 - FAKE_TOKENS.output]);
  });

  it('when the token limit interrupts a call', async () => {
    const { stream, code } = await toolApp({
      answer: () => [
        ...called(0, 'code_interpreter', '{"code": "pri'),
        { kind: 'end', reason: 'length', tokens: FAKE_TOKENS },
      ],
    });
    const events = await stream({ input: 'x', tools: [CODE] });
    legalStream(events);
    expect(events.at(-1)?.response).toMatchObject({
      status: 'incomplete',
      output: [{ status: 'incomplete' }],
    });
    expect(code.inputs).toEqual([]);
  });
});

describe('a tool choice', () => {
  it('of a built-in tool selects its function for the first generation', async () => {
    const { create, engine } = await toolApp(once(...runs('1')));
    await create({ input: 'x', tools: [CODE, WEATHER], tool_choice: { type: 'code_interpreter' } });
    expect(engine.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      { name: 'code_interpreter' },
      'auto',
    ]);
  });

  it('of required applies only to the first generation', async () => {
    const { create, engine } = await toolApp(once(...runs('1')));
    await create({ input: 'x', tools: [CODE], tool_choice: 'required' });
    expect(engine.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', 'auto']);
  });
});

describe('a request', () => {
  it('for a tool that is not configured is rejected with the name of the field', async () => {
    const { create, rows } = await responseApp();
    const { error } = await create({ input: 'x', tools: [WEATHER, SEARCH] }, 400);
    expect(error).toMatchObject({ message: 'Set it up.', param: 'tools[1].type', code: 'unsupported_value' });
    expect(rows).toEqual([]);
  });

  it('with a function of the same name is rejected', async () => {
    const lookUp = new FakeTool('web_search', () => ({ status: 'completed', text: '' }), 'look_up');
    const { create } = await responseApp({}, { tools: { web_search: () => lookUp } });
    const { error } = await create({ input: 'x', tools: [{ ...WEATHER, name: 'look_up' }, SEARCH] }, 400);
    expect(error.param).toBe('tools');
    expect(lookUp.closed).toBe(1);
  });

  it('reserves credits for the maximum number of generations', async () => {
    const most: unknown[] = [];
    const { create } = await toolApp(
      { contextTokens: 100 },
      { opening: (call) => void most.push(call.maxUsage) },
    );
    await create({ input: 'x', tools: [CODE], max_tool_calls: 2 });
    await create({ input: 'x' });
    expect(most).toEqual([
      { inputTokens: 400, outputTokens: 400 },
      { inputTokens: 100, outputTokens: 100 },
    ]);
  });

  it('reserves credits for the growing input if the context size is unknown', async () => {
    const most: UsageAmounts[] = [];
    const { create } = await toolApp({}, { opening: (call) => void most.push(call.maxUsage) });
    await create({ input: 'x', tools: [CODE], max_tool_calls: 2, max_output_tokens: 10 });
    await create({ input: 'x', tools: [CODE], max_tool_calls: 2 });
    const [limited, unlimited] = most;
    expect(limited?.outputTokens).toBe(10);
    expect(limited?.inputTokens).toBeGreaterThan(4 * 2 * 3 * MAX_RESULT_CHARACTERS);
    expect(unlimited?.outputTokens).toBe(4 * 4096);
    expect(unlimited?.inputTokens).toBe((limited?.inputTokens ?? 0) + 4 * (4 * 4096 - 10));
  });

  it('limits each generation to its reservation', async () => {
    const limits = async (fields: object, holds: boolean, contextTokens?: number) => {
      const { create, engine } = await toolApp({ ...once(...runs('1')), contextTokens }, { holds });
      await create({ input: 'x', tools: [CODE], ...fields });
      return engine.requests.map(({ maxTokens }) => maxTokens);
    };
    expect(await limits({}, true)).toEqual([4096, 4096]);
    // Without a limit, the context size applies; upstream servers reject a limit that exceeds it.
    expect(await limits({}, true, 100)).toEqual([undefined, undefined]);
    expect(await limits({}, false)).toEqual([undefined, undefined]);
    expect(await limits({ max_output_tokens: 9000 }, true)).toEqual([9000, 9000 - FAKE_TOKENS.output]);
  });
});

it('a client that disconnects stops the running tool', async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const slow = new FakeTool('code_interpreter', (_, signal) => {
    started.resolve(signal);
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const { post, rows } = await responseApp(once(...runs('1')), { tools: { code_interpreter: () => slow } });
  const answer = await post({ input: 'x', tools: [CODE], stream: true });
  const reader = answer.body?.getReader();
  let seen = '';
  while (!seen.includes('.interpreting')) seen += new TextDecoder().decode((await reader?.read())?.value);
  const next = reader?.read();
  const signal = await started.promise;
  await reader?.cancel();
  await next;
  expect(signal.aborted).toBe(true);
  expect(slow.closed).toBe(1);
  expect(rows).toMatchObject([{ status: 'cancelled', inputTokens: FAKE_TOKENS.input }]);
});
