import { describe, expect, test } from 'vitest';
import { parseResponse } from '../../../plugins/responses/responses/schema.ts';
import {
  bodyOf,
  EXAMPLE_FUNCTIONS,
  EXAMPLE_SCHEMA,
  fieldOf,
  functionNames,
  NEW_FORM,
  type ResponseForm,
} from './response-form.ts';

const ASK = { input: 'Name three birds.', previous: undefined };

function created(changes: Partial<ResponseForm>, question: Parameters<typeof bodyOf>[1] = ASK) {
  return bodyOf({ ...NEW_FORM, model: 'm', ...changes }, question);
}
function body(changes: Partial<ResponseForm>, question?: Parameters<typeof bodyOf>[1]) {
  const result = created(changes, question);
  if ('fieldErrors' in result) throw new Error(JSON.stringify(result.fieldErrors));
  return result.body;
}

test('a new form sends only required fields', () => {
  expect(body({})).toEqual({ model: 'm', input: ASK.input, stream: true });
  expect(body({ stream: false })).toEqual({ model: 'm', input: ASK.input });
});

test('chosen settings are sent', () => {
  const sent = body(
    {
      instructions: 'Be brief.',
      temperature: 0,
      maxOutputTokens: 20,
      store: false,
      functions: EXAMPLE_FUNCTIONS,
      toolChoice: 'function:get_weather',
      codeInterpreter: true,
      webSearch: true,
      maxToolCalls: 3,
      format: 'json_schema',
      schema: EXAMPLE_SCHEMA,
    },
    { input: [{ role: 'user', content: 'And now?' }], previous: 'resp_1' },
  );
  expect(sent).toEqual({
    model: 'm',
    input: [{ role: 'user', content: 'And now?' }],
    instructions: 'Be brief.',
    previous_response_id: 'resp_1',
    tools: [
      ...JSON.parse(EXAMPLE_FUNCTIONS),
      { type: 'web_search' },
      { type: 'code_interpreter', container: { type: 'auto' } },
    ],
    tool_choice: { type: 'function', name: 'get_weather' },
    max_tool_calls: 3,
    include: ['web_search_call.action.sources', 'code_interpreter_call.outputs'],
    text: {
      format: { type: 'json_schema', name: 'answer', schema: JSON.parse(EXAMPLE_SCHEMA), strict: true },
    },
    temperature: 0,
    max_output_tokens: 20,
    stream: true,
    store: false,
  });
});

test.each<[string, Partial<ResponseForm>]>([
  ['functions', { functions: EXAMPLE_FUNCTIONS }],
  ['a function by name', { functions: EXAMPLE_FUNCTIONS, toolChoice: 'function:get_weather' }],
  ['one function without a list or a type', { functions: '{"name":"f"}' }],
  ['built-in tools', { webSearch: true, codeInterpreter: true, maxToolCalls: 1, toolChoice: 'required' }],
  ['a built-in tool', { codeInterpreter: true, toolChoice: 'code_interpreter' }],
  ['any object', { format: 'json_object' }],
  ['a schema', { format: 'json_schema', schema: EXAMPLE_SCHEMA }],
  ['all numbers', { temperature: 2, maxOutputTokens: 1 }],
])('the service accepts %s', (_, changes) => {
  expect(() => parseResponse(body(changes))).not.toThrow();
});

describe('an invalid form has an error at the field', () => {
  test.each<[string, Partial<ResponseForm>, string, RegExp]>([
    ['no model', { model: '' }, 'model', /Select a model/],
    ['functions that are not JSON', { functions: '[{' }, 'functions', /^Invalid JSON: ./],
    ['functions without a name', { functions: '[{"name":"a"},{}]' }, 'functions', /Item 2 .*"name"/],
    ['functions that are not objects', { functions: '[1]' }, 'functions', /Item 1 .* not an object/],
    ['a schema that is not JSON', { format: 'json_schema', schema: '{' }, 'schema', /Invalid JSON/],
    ['no schema', { format: 'json_schema', schema: '' }, 'schema', /Invalid JSON/],
    ['a schema that is a list', { format: 'json_schema', schema: '[]' }, 'schema', /must be an object/],
    [
      'a schema without a name',
      { format: 'json_schema', schema: '{}', schemaName: '' },
      'schemaName',
      /a name/,
    ],
  ])('%s', (_, changes, field, error) => {
    expect(created(changes)).toEqual({ fieldErrors: { [field]: expect.stringMatching(error) } });
  });

  test.each<[string, string | []]>([
    ['no text', ''],
    ['no items', []],
  ])('%s', (_, input) => {
    expect(created({}, { input, previous: undefined })).toHaveProperty('fieldErrors.input');
  });

  test('an unused schema is not validated', () => {
    expect(created({ format: 'text', schema: '{' })).toHaveProperty('body');
  });
});

test('function names are listed once the functions are valid JSON', () => {
  expect(functionNames(EXAMPLE_FUNCTIONS)).toEqual(['get_weather']);
  expect(functionNames('[{"na')).toEqual([]);
});

describe('an error of the service is shown at the field that it names', () => {
  const form = (changes: Partial<ResponseForm>) => ({ ...NEW_FORM, ...changes });
  const tools = { functions: EXAMPLE_FUNCTIONS, webSearch: true, codeInterpreter: true };
  test.each<[string | null, string | undefined, Partial<ResponseForm>]>([
    ['model', 'model', {}],
    ['tools[0].name', 'functions', tools],
    ['tools[1].type', 'webSearch', tools],
    ['tools[2]', 'codeInterpreter', tools],
    ['tools[0]', 'codeInterpreter', { codeInterpreter: true }],
    ['tools', 'functions', { functions: EXAMPLE_FUNCTIONS }],
    ['text.format.schema.properties', 'schema', { format: 'json_schema' }],
    ['text.format.name', 'schemaName', { format: 'json_schema' }],
    ['text.format', 'format', { format: 'json_object' }],
    ['input[0].content', 'input', {}],
    ['max_output_tokens', 'maxOutputTokens', {}],
    ['max_tool_calls', 'maxToolCalls', {}],
    ['previous_response_id', 'previous', {}],
    ['tool_choice', 'toolChoice', {}],
    ['metadata', undefined, {}],
    [null, undefined, {}],
  ])('%s: %s', (param, field, changes) => {
    expect(fieldOf(param, form(changes))).toBe(field);
  });
});
