import { describe, expect, it, test } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { parseChat } from './schema.ts';

const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Hello.' }] };
const TOOL = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
const OTHER = { type: 'function', function: { name: 'time' } };

const parse = (fields: object = {}) => parseChat({ ...HELLO, ...fields });

function refusal(body: unknown): { param: string | undefined; code: string | undefined; message: string } {
  try {
    parseChat(body);
  } catch (error) {
    if (error instanceof ServiceError)
      return { param: error.param, code: error.code, message: error.message };
  }
  throw new Error('the body was accepted');
}

const refused = (fields: object) => refusal({ ...HELLO, ...fields });

test('accepts a minimal body', () => {
  expect(parse()).toEqual({
    model: 'm',
    stream: false,
    includeUsage: false,
    request: {
      messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello.' }] }],
      tools: [],
      toolChoice: 'none',
      parallelToolCalls: true,
      output: { kind: 'text' },
      sampling: { temperature: 1, topP: 1 },
      stop: [],
      maxTokens: undefined,
      reasoningEffort: undefined,
    },
  });
});

test('converts every message and part', () => {
  const { messages } = parse({
    messages: [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'brief.' },
        ],
      },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'See:' },
          { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_data: 'AAAA', filename: 'a.pdf' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Rain.' },
      { role: 'assistant', refusal: 'No.' },
    ],
  }).request;
  expect(messages).toEqual([
    { role: 'system', text: 'Be brief.' },
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'See:' },
        { kind: 'image', url: 'https://x.test/a.png', detail: 'low' },
        { kind: 'audio', base64: 'AAAA', format: 'wav' },
        { kind: 'file', base64: 'AAAA', filename: 'a.pdf' },
      ],
    },
    { role: 'assistant', text: undefined, toolCalls: [{ id: 'c1', name: 'weather', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'c1', text: 'Rain.' },
    { role: 'assistant', text: 'No.', toolCalls: [] },
  ]);
});

test.each([undefined, null])('accepts replayed tool calls of the type %s', (type) => {
  const call = {
    id: 'c1',
    ...(type === undefined ? {} : { type }),
    index: 0,
    function: { name: 'f', arguments: '{}' },
  };
  const messages = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'Rain.' },
  ];
  const { request } = parse({ messages: JSON.parse(JSON.stringify(messages)) });
  expect(request.messages[1]).toMatchObject({ toolCalls: [{ id: 'c1', name: 'f', arguments: '{}' }] });
});

test('ignores fields of other servers, and rejects misspelt ones', () => {
  const others = {
    user: 'u',
    metadata: {},
    top_k: 4,
    min_tokens: 1,
    store: true,
    models: ['a'],
    cache_prompt: true,
  };
  expect(parse({ ...others, stop: '', seed: '' })).toEqual(parse({}));
  expect(() => parse({ temperatur: 1 })).toThrow("(did you mean 'temperature'?)");
});

test('converts parameters; max_completion_tokens takes precedence', () => {
  const { request } = parse({
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    presence_penalty: -1,
    frequency_penalty: 1,
    stop: 'END',
    max_tokens: 5,
    max_completion_tokens: 9,
    reasoning_effort: 'low',
    parallel_tool_calls: false,
  });
  expect(request).toMatchObject({
    sampling: { temperature: 0.5, topP: 0.9, seed: 7, presencePenalty: -1, frequencyPenalty: 1 },
    stop: ['END'],
    maxTokens: 9,
    reasoningEffort: 'low',
    parallelToolCalls: false,
  });
  expect(parse({ max_tokens: 5 }).request.maxTokens).toBe(5);
});

test('ignores fields of the partner platform and SDKs, and treats null as absent', () => {
  expect(
    parse({ metadata: { call: 1 }, call: { id: 'x' }, user: 'u', store: true, temperature: null }),
  ).toEqual(parse());
});

test('accepts unsupported fields with values that have no effect', () => {
  const nothing = {
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    modalities: ['text'],
    functions: [],
    function_call: 'none',
    audio: null,
    moderation: null,
    web_search_options: null,
  };
  expect(parse(nothing)).toEqual(parse());
  expect(parse({ modalities: [], function_call: 'auto' })).toEqual(parse());
});

describe('tools', () => {
  it('may be called unless the request forbids it', () => {
    expect(parse({ tools: [TOOL] }).request).toMatchObject({
      tools: [{ name: 'weather', parameters: { type: 'object' }, strict: false }],
      toolChoice: 'auto',
    });
    expect(parse({ tools: [TOOL], tool_choice: 'none' }).request.toolChoice).toBe('none');
    expect(parse({ tools: [TOOL], tool_choice: 'required' }).request.toolChoice).toBe('required');
  });

  it('may be chosen by name or restricted', () => {
    const byName = { type: 'function', function: { name: 'weather' } };
    expect(parse({ tools: [TOOL, OTHER], tool_choice: byName }).request.toolChoice).toEqual({
      name: 'weather',
    });
    const narrowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [OTHER] } };
    expect(parse({ tools: [TOOL, OTHER], tool_choice: narrowed }).request).toMatchObject({
      toolChoice: 'required',
      tools: [{ name: 'time' }],
    });
  });

  it.each([
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [TOOL], tool_choice: { type: 'function', function: { name: 'other' } } }, 'tool_choice'],
    [{ tools: [TOOL, TOOL] }, 'tools.1.function.name'],
    [{ tools: [{ type: 'custom', custom: {} }] }, 'tools.0.type'],
    [{ tools: [TOOL, { type: 'function' }] }, 'tools.1.function'],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools.0.function.name'],
  ])('reject %j', (fields, param) => {
    expect(refused(fields).param).toBe(param);
  });
});

test('output formats', () => {
  expect(parse({ response_format: { type: 'text' } }).request.output).toEqual({ kind: 'text' });
  expect(parse({ response_format: { type: 'json_object' } }).request.output).toEqual({ kind: 'json' });
  const json_schema = { name: 'bird', schema: { type: 'object' }, strict: true };
  expect(parse({ response_format: { type: 'json_schema', json_schema } }).request.output).toEqual({
    kind: 'json_schema',
    ...json_schema,
  });
});

test.each<[unknown, string | undefined, string | undefined]>([
  [null, undefined, undefined],
  [[], undefined, undefined],
  [{ messages: HELLO.messages }, 'model', 'missing_required_parameter'],
  [{ model: 'm' }, 'messages', 'missing_required_parameter'],
  [{ model: 'm', messages: [] }, 'messages', 'invalid_value'],
  [{ ...HELLO, messages: [{ role: 'robot', content: '' }] }, 'messages.0.role', undefined],
  [{ ...HELLO, messages: [{ role: 'user' }] }, 'messages.0.content', 'missing_required_parameter'],
  [
    { ...HELLO, messages: [{ role: 'tool', tool_call_id: 'c', content: '' }] },
    'messages.0.tool_call_id',
    'invalid_value',
  ],
  [{ ...HELLO, temperature: 2.5 }, 'temperature', 'invalid_value'],
  [{ ...HELLO, temperature: 'hot' }, 'temperature', 'invalid_type'],
  [{ ...HELLO, n: 2 }, 'n', 'unsupported_value'],
  [{ ...HELLO, n: 0 }, 'n', 'invalid_value'],
  [{ ...HELLO, logprobs: true }, 'logprobs', 'unsupported_value'],
  [{ ...HELLO, top_logprobs: 3 }, 'top_logprobs', 'unsupported_value'],
  [{ ...HELLO, top_logprobs: 21 }, 'top_logprobs', 'invalid_value'],
  [{ ...HELLO, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', undefined],
  [{ ...HELLO, stream_options: { include_usage: true } }, 'stream_options', undefined],
  [{ ...HELLO, functions: [{ name: 'f' }] }, 'functions', 'unsupported_parameter'],
  [{ ...HELLO, function_call: { name: 'f' } }, 'function_call', 'unsupported_parameter'],
  [{ ...HELLO, modalities: ['text', 'audio'] }, 'modalities', 'unsupported_parameter'],
  [{ ...HELLO, modalities: 'text' }, 'modalities', 'unsupported_parameter'],
  [{ ...HELLO, audio: { voice: 'a', format: 'wav' } }, 'audio', 'unsupported_parameter'],
  [{ ...HELLO, web_search_options: {} }, 'web_search_options', 'unsupported_parameter'],
  [{ ...HELLO, moderation: {} }, 'moderation', 'unsupported_parameter'],
  [{ ...HELLO, max_tokens: 0 }, 'max_tokens', undefined],
  [
    { ...HELLO, response_format: { type: 'json_schema', json_schema: {} } },
    'response_format.json_schema.name',
    'missing_required_parameter',
  ],
  [
    { ...HELLO, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
    'messages.0.content.0.file.file_data',
    undefined,
  ],
])('rejects %j with the name of the field', (body, param, code) => {
  const fault = refusal(body);
  expect(fault.param).toBe(param);
  if (code !== undefined) expect(fault.code).toBe(code);
  expect(fault.message).not.toContain('Hello.');
});
