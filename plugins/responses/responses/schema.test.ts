import { describe, expect, it, test } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { parseResponse } from './schema.ts';

const HELLO = { model: 'm', input: 'Hello.' };
const WEATHER = { type: 'function', name: 'weather', parameters: { type: 'object' } };
const TIME = { type: 'function', name: 'time', description: 'Now.', parameters: null, strict: false };
const CODE = { type: 'code_interpreter', container: { type: 'auto' } };

const parse = (fields: object = {}) => parseResponse({ ...HELLO, ...fields });

function refusal(body: unknown) {
  try {
    parseResponse(body);
  } catch (error) {
    if (error instanceof ServiceError) {
      const { status, param, code, message } = error;
      return { status, param, code, message };
    }
  }
  throw new Error('the body was accepted');
}

test('treats null as absent', () => {
  const nothing = [
    'instructions',
    'previous_response_id',
    'conversation',
    'temperature',
    'top_p',
    'max_output_tokens',
    'metadata',
    'reasoning',
    'text',
    'store',
    'include',
    'tools',
    'background',
    'prompt',
  ];
  expect(parse(Object.fromEntries(nothing.map((name) => [name, null])))).toEqual(parse());
});

test('ignores blank optional fields and fields of other servers', () => {
  const others = {
    client_metadata: {},
    lang_code: 'a',
    seed: 1,
    top_k: 2,
    conversation_id: 'c',
    extra_body: {},
  };
  const blank = { instructions: '', previous_response_id: '', temperature: '', user: ' ', conversation: '' };
  expect(parse({ ...others, ...blank })).toEqual(parse());
});

test('recognizes replayed items without a type', () => {
  const items = [
    { role: 'user', content: 'Hello.' },
    { call_id: 'c1', name: 'f', arguments: '{}' },
    { type: null, call_id: 'c1', output: 'Rain.' },
    { type: null, role: 'user', content: 'Thanks.' },
    { id: 'msg_1' },
  ];
  const types = (parse({ input: items }).input as { type?: string }[]).map(({ type }) => type);
  expect(types).toEqual(['message', 'function_call', 'function_call_output', 'message', undefined]);
  expect(refusal({ ...HELLO, input: [{ call_id: 'c', name: 'f' }] })).toMatchObject({
    param: 'input[0].arguments',
  });
});

test('accepts fields without effect', () => {
  const { echo } = parse({
    service_tier: 'flex',
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    top_logprobs: 3,
    stream_options: { include_obfuscation: false },
    reasoning: { effort: 'high', generate_summary: 'auto', mode: 'x' },
    include: ['reasoning.encrypted_content'],
    text: { verbosity: 'low' },
  });
  expect(echo).toMatchObject({
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    top_logprobs: 3,
    reasoning: { effort: 'high', summary: 'auto' },
    text: { format: { type: 'text' }, verbosity: 'low' },
  });
});

describe('tools', () => {
  it('are echoed with all fields, and are strict by default', () => {
    const { tools, echo } = parse({ tools: [WEATHER, TIME, CODE] });
    expect(echo.tools).toEqual([
      { ...WEATHER, description: null, strict: true },
      { ...TIME, strict: false },
      CODE,
    ]);
    expect(tools.functions).toEqual([
      { name: 'weather', description: undefined, parameters: { type: 'object' }, strict: true },
      { name: 'time', description: 'Now.', parameters: undefined, strict: false },
    ]);
    expect(tools.builtIn).toEqual([{ type: 'code_interpreter', settings: {}, field: 'tools[2]' }]);
    expect(tools.choice).toBe('auto');
  });

  it.each(['web_search', 'web_search_2025_08_26', 'web_search_preview'])(
    '%s enables the web search',
    (type) => {
      const tool = {
        type,
        search_context_size: 'low',
        user_location: { type: 'approximate', country: 'CH' },
        filters: { allowed_domains: ['birds.test'] },
      };
      expect(parse({ tools: [tool] }).tools.builtIn).toEqual([
        {
          type: 'web_search',
          settings: { contextSize: 'low', country: 'CH', allowedDomains: ['birds.test'] },
          field: 'tools[0]',
        },
      ]);
    },
  );

  it.each<[unknown, unknown, unknown]>([
    ['auto', 'auto', 'auto'],
    ['required', 'required', 'required'],
    ['none', 'none', 'none'],
    [{ type: 'function', name: 'time' }, { name: 'time' }, { type: 'function', name: 'time' }],
    [{ type: 'function', function: { name: 'time' } }, { name: 'time' }, { type: 'function', name: 'time' }],
    [{ type: 'code_interpreter' }, { builtIn: 'code_interpreter' }, { type: 'code_interpreter' }],
  ])('choice %j', (tool_choice, choice, shown) => {
    const { tools, echo } = parse({ tools: [WEATHER, TIME, CODE], tool_choice });
    expect(tools.choice).toEqual(choice);
    expect(tools.functions).toHaveLength(choice === 'none' ? 0 : 2);
    expect(echo.tool_choice).toEqual(shown);
    expect(echo.tools).toHaveLength(3);
  });

  it('may be restricted', () => {
    const tool_choice = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'time' }, { type: 'code_interpreter' }],
    };
    const { tools, echo } = parse({ tools: [WEATHER, TIME, CODE], tool_choice });
    expect(tools).toMatchObject({
      choice: 'required',
      functions: [{ name: 'time' }],
      builtIn: [{ type: 'code_interpreter' }],
    });
    expect(echo.tool_choice).toEqual(tool_choice);
  });
});

test('output formats', () => {
  const format = (given: object) => {
    const { output, echo } = parse({ text: { format: given } });
    return [output, echo.text.format];
  };
  expect(format({ type: 'text' })).toEqual([{ kind: 'text' }, { type: 'text' }]);
  expect(format({ type: 'json_object' })).toEqual([{ kind: 'json' }, { type: 'json_object' }]);
  const schema = { type: 'object' };
  expect(format({ type: 'json_schema', name: 'bird', schema })).toEqual([
    { kind: 'json_schema', name: 'bird', schema, strict: false },
    { type: 'json_schema', name: 'bird', description: null, schema, strict: false },
  ]);
});

describe('errors name the field', () => {
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

  it.each<[object, string, string]>([
    [{ model: undefined }, 'model', 'missing_required_parameter'],
    [{ input: undefined }, 'input', 'missing_required_parameter'],
    [{ input: null }, 'input', 'missing_required_parameter'],
    [{ input: [] }, 'input', 'invalid_value'],
    [{ input: 5 }, 'input', 'invalid_type'],
    [{ input: [{ type: 'birds' }] }, 'input[0].type', 'invalid_value'],
    [{ input: [{ role: 'bird', content: 'x' }] }, 'input[0].role', 'invalid_value'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_song' }] }] },
      'input[0].content[0].type',
      'invalid_value',
    ],
    [
      { input: [{ type: 'function_call', call_id: 'c', name: 'f' }] },
      'input[0].arguments',
      'missing_required_parameter',
    ],
    [{ max_output_token: 1 }, 'max_output_token', 'unknown_parameter'],
    [{ instrutions: 'x' }, 'instrutions', 'unknown_parameter'],
    [{ temperature: 2.1 }, 'temperature', 'invalid_value'],
    [{ top_p: -0.1 }, 'top_p', 'invalid_value'],
    [{ max_output_tokens: 0 }, 'max_output_tokens', 'invalid_value'],
    [{ max_tool_calls: 0 }, 'max_tool_calls', 'invalid_value'],
    [{ top_logprobs: 21 }, 'top_logprobs', 'invalid_value'],
    [{ truncation: 'some' }, 'truncation', 'invalid_value'],
    [{ include: ['birds'] }, 'include[0]', 'invalid_value'],
    [{ reasoning: { effort: 'huge' } }, 'reasoning.effort', 'invalid_value'],
    [{ text: { verbosity: 'loud' } }, 'text.verbosity', 'invalid_value'],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type', 'invalid_value'],
    [
      { text: { format: { type: 'json_schema', schema: {} } } },
      'text.format.name',
      'missing_required_parameter',
    ],
    [{ metadata: pairs(17) }, 'metadata', 'invalid_value'],
    [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata', 'string_above_max_length'],
    [{ metadata: { k: 'v'.repeat(513) } }, 'metadata.k', 'string_above_max_length'],
    [{ metadata: { k: 1 } }, 'metadata.k', 'invalid_type'],
    [{ background: true }, 'background', 'unsupported_parameter'],
    [{ prompt: { id: 'x' } }, 'prompt', 'unsupported_parameter'],
    [{ moderation: {} }, 'moderation', 'unsupported_parameter'],
    [{ context_management: [] }, 'context_management', 'unsupported_parameter'],
    [{ conversation: 'c', previous_response_id: 'r' }, 'conversation', 'mutually_exclusive_parameters'],
    [{ tools: [{ type: 'mcp' }] }, 'tools[0].type', 'unsupported_value'],
    [{ tools: [WEATHER, { type: 'file_search' }] }, 'tools[1].type', 'unsupported_value'],
    [
      { tools: [{ type: 'web_search', filters: { allowed_domains: ['a.test', `${'b'.repeat(254)}`] } }] },
      'tools[0].filters.allowed_domains[1]',
      'string_above_max_length',
    ],
    [{ tools: [{ type: 'function', name: 'a b' }] }, 'tools[0].name', 'invalid_value'],
    [{ tools: [WEATHER, WEATHER] }, 'tools[1].name', 'invalid_value'],
    [{ tools: [{ type: 'web_search' }, { type: 'web_search_preview' }] }, 'tools[1]', 'invalid_value'],
    [{ tools: [{ type: 'code_interpreter' }] }, 'tools[0].container', 'missing_required_parameter'],
    [{ tools: [{ ...CODE, container: 'cntr_1' }] }, 'tools[0].container', 'unsupported_value'],
    [
      { tools: [{ ...CODE, container: { type: 'auto', file_ids: ['f'] } }] },
      'tools[0].container.file_ids',
      'unsupported_value',
    ],
    [{ tool_choice: 'required' }, 'tool_choice', 'invalid_value'],
    [{ tool_choice: { type: 'function', name: 'x' }, tools: [WEATHER] }, 'tool_choice', 'invalid_value'],
    [{ tool_choice: { type: 'web_search' }, tools: [WEATHER] }, 'tool_choice', 'invalid_value'],
  ])('%j', (fields, param, code) => {
    const body = JSON.parse(JSON.stringify({ ...HELLO, ...fields }));
    expect(refusal(body)).toMatchObject({ status: 400, param, code });
  });

  it('for each field with rules', () => {
    for (const body of [null, [], 'x']) expect(refusal(body).status).toBe(400);
  });

  it('for conversations, which are not supported', () => {
    for (const conversation of ['conv_1', { id: 'conv_1' }]) {
      expect(refusal({ ...HELLO, conversation })).toMatchObject({
        status: 404,
        message: "Conversation with id 'conv_1' not found.",
      });
    }
  });
});
