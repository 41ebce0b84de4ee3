/** Converts the form to the body of POST /v1/responses. Pure. */

import { isJsonObject, readJson } from '../../components/json-text.ts';
import type { InputItem } from './response-wire.ts';

/** State of the form; empty numbers select the default of the service. */
export interface ResponseForm {
  readonly model: string;
  readonly instructions: string;
  readonly temperature: number | '';
  readonly maxOutputTokens: number | '';
  readonly stream: boolean;
  readonly store: boolean;
  /** JSON list of function definitions. */
  readonly functions: string;
  readonly webSearch: boolean;
  readonly codeInterpreter: boolean;
  readonly maxToolCalls: number | '';
  /** `auto`, `required`, `none`, the name of a built-in tool, or `function:<name>`. */
  readonly toolChoice: string;
  readonly format: 'text' | 'json_object' | 'json_schema';
  readonly schemaName: string;
  /** A JSON schema. */
  readonly schema: string;
}

export const NEW_FORM: ResponseForm = {
  model: '',
  instructions: '',
  temperature: '',
  maxOutputTokens: '',
  stream: true,
  store: true,
  functions: '',
  webSearch: false,
  codeInterpreter: false,
  maxToolCalls: '',
  toolChoice: 'auto',
  format: 'text',
  schemaName: 'answer',
  schema: '',
};

/** An example that users can adapt. */
export const EXAMPLE_FUNCTIONS = JSON.stringify(
  [
    {
      type: 'function',
      name: 'get_weather',
      description: 'The weather of a city, now.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      },
    },
  ],
  null,
  2,
);

export const EXAMPLE_SCHEMA = JSON.stringify(
  {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 40 },
      legs: { type: 'integer', minimum: 0, maximum: 8 },
      flies: { type: 'boolean' },
    },
    required: ['name', 'legs', 'flies'],
    additionalProperties: false,
  },
  null,
  2,
);

/** Field at which an error is shown. */
export type FormField = keyof ResponseForm | 'input' | 'previous';
export type FormErrors = Partial<Record<FormField, string>>;

export type RequestBody = Readonly<Record<string, unknown>> & { readonly model: string };

/** Input of one turn. */
export interface TurnInput {
  readonly input: string | readonly InputItem[];
  /** Id of the response that this turn continues. */
  readonly previous: string | undefined;
}

/**
 * The request body, or the errors by field. Only errors that the service would not report at a field are
 * checked here.
 */
export function bodyOf(
  form: ResponseForm,
  { input, previous }: TurnInput,
): { readonly body: RequestBody } | { readonly fieldErrors: FormErrors } {
  const functions = functionsOf(form.functions);
  const format = formatOf(form);
  const fieldErrors: FormErrors = {
    ...(form.model === '' ? { model: 'Select a model.' } : {}),
    ...(input === '' || input.length === 0 ? { input: 'Enter a message.' } : {}),
    ...('error' in functions ? { functions: functions.error } : {}),
    ...('error' in format ? { [format.field]: format.error } : {}),
  };
  if ('error' in functions || 'error' in format || Object.keys(fieldErrors).length > 0)
    return { fieldErrors };
  const { builtIn, include } = builtInTools(form);
  const tools = [...functions.tools, ...builtIn];
  return {
    body: {
      model: form.model,
      input,
      ...(form.instructions === '' ? {} : { instructions: form.instructions }),
      ...(previous === undefined ? {} : { previous_response_id: previous }),
      ...(tools.length === 0 ? {} : { tools, tool_choice: choiceOf(form.toolChoice) }),
      ...(builtIn.length === 0 || form.maxToolCalls === '' ? {} : { max_tool_calls: form.maxToolCalls }),
      ...(include.length === 0 ? {} : { include }),
      ...('format' in format ? { text: { format: format.format } } : {}),
      ...(form.temperature === '' ? {} : { temperature: form.temperature }),
      ...(form.maxOutputTokens === '' ? {} : { max_output_tokens: form.maxOutputTokens }),
      ...(form.stream ? { stream: true } : {}),
      ...(form.store ? {} : { store: false }),
    },
  };
}

/** Names of the functions for the tool choice; empty while the text is not a valid list. */
export function functionNames(text: string): string[] {
  const functions = functionsOf(text);
  return 'error' in functions ? [] : functions.tools.map(({ name }) => name);
}

/** Form field of an error's `param`; undefined if it does not belong to a field. */
export function fieldOf(param: string | null, form: ResponseForm): FormField | undefined {
  if (param === null) return undefined;
  const [, name = ''] = /^([a-z_]+)/.exec(param) ?? [];
  switch (name) {
    case 'text':
      if (form.format !== 'json_schema') return 'format';
      return /schema\.name|format\.name/.test(param) ? 'schemaName' : 'schema';
    case 'tools':
      return toolField(param, form);
    case 'tool_choice':
      return 'toolChoice';
    case 'max_output_tokens':
      return 'maxOutputTokens';
    case 'max_tool_calls':
      return 'maxToolCalls';
    case 'previous_response_id':
      return 'previous';
    case 'model':
    case 'input':
    case 'instructions':
    case 'temperature':
    case 'store':
    case 'stream':
      return name;
    default:
      return undefined;
  }
}

/** Functions precede the built-in tools in `tools`. */
function toolField(param: string, { functions, webSearch, codeInterpreter }: ResponseForm): FormField {
  const [, index = '0'] = /^tools\[(\d+)\]/.exec(param) ?? [];
  const builtIn = [
    ...(webSearch ? ['webSearch' as const] : []),
    ...(codeInterpreter ? ['codeInterpreter' as const] : []),
  ];
  return builtIn[Number(index) - functionNames(functions).length] ?? 'functions';
}

type FunctionTool = Readonly<Record<string, unknown>> & { readonly name: string };

function functionsOf(text: string): { readonly tools: readonly FunctionTool[] } | { readonly error: string } {
  if (text.trim() === '') return { tools: [] };
  const read = readJson(text);
  if ('error' in read) return read;
  const list = Array.isArray(read.value) ? read.value : [read.value];
  const tools: FunctionTool[] = [];
  for (const [index, each] of list.entries()) {
    if (!isJsonObject(each)) return { error: `Item ${index + 1} of the list is not an object.` };
    const { name } = each;
    if (typeof name !== 'string') return { error: `Item ${index + 1} of the list has no "name".` };
    tools.push({ type: 'function', ...each, name });
  }
  return { tools };
}

function formatOf({
  format,
  schemaName,
  schema,
}: ResponseForm):
  | { readonly format: object }
  | { readonly plain: true }
  | { readonly error: string; readonly field: 'schema' | 'schemaName' } {
  if (format === 'text') return { plain: true };
  if (format === 'json_object') return { format: { type: format } };
  if (schemaName === '') return { error: 'Enter a schema name.', field: 'schemaName' };
  const read = readJson(schema);
  if ('error' in read) return { ...read, field: 'schema' };
  if (!isJsonObject(read.value))
    return { error: 'The schema must be an object, such as {"type": "object"}.', field: 'schema' };
  return { format: { type: format, name: schemaName, schema: read.value, strict: true } };
}

/** The enabled built-in tools, and the `include` values for their details. */
function builtInTools({ webSearch, codeInterpreter }: ResponseForm) {
  const search = webSearch ? [{ type: 'web_search' }] : [];
  const code = codeInterpreter ? [{ type: 'code_interpreter', container: { type: 'auto' } }] : [];
  return {
    builtIn: [...search, ...code],
    include: [
      ...search.map(() => 'web_search_call.action.sources'),
      ...code.map(() => 'code_interpreter_call.outputs'),
    ],
  };
}

function choiceOf(choice: string): string | object {
  if (choice.startsWith('function:')) return { type: 'function', name: choice.slice('function:'.length) };
  return choice === 'web_search' || choice === 'code_interpreter' ? { type: choice } : choice;
}
