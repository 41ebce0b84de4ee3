/** Tools of POST /v1/responses: their flat form, and the tools that the model may call (openai-wire 6.5). */

import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { invalidRequest } from '../../../../src/contract/core/error.ts';
import type { FunctionTool, ToolChoice } from '../../../../src/contract/engines/text.ts';
import { isRecord } from '../../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../../src/kit/validation/type-errors.ts';
import type { BuiltInType, SearchSettings } from '../items/built-in-tools.ts';

function open<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: true });
}

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const AnyObject = Type.Unsafe<Record<string, unknown>>(Type.Object({}));

/** Names of functions and formats. */
export const TOOL_NAME = '^[A-Za-z0-9_-]{1,64}$';

/** Tool types that clients use for the web search. */
const SEARCH_TYPES = [
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
] as const;
const TOOL_TYPES: readonly unknown[] = ['function', 'code_interpreter', ...SEARCH_TYPES];

const FunctionSchema = open({
  type: Type.Literal('function'),
  name: Type.String({ pattern: TOOL_NAME }),
  description: nullable(Type.String()),
  parameters: nullable(AnyObject),
  strict: nullable(Type.Boolean({ default: true })),
});
/** Maximum length of a host name (RFC 1035). */
const HostName = Type.String({ minLength: 1, maxLength: 253 });
const SearchSchema = open({
  type: oneOf(SEARCH_TYPES),
  search_context_size: nullable(oneOf(['low', 'medium', 'high'])),
  user_location: nullable(open({ country: nullable(Type.String({ maxLength: 2 })) })),
  filters: nullable(open({ allowed_domains: nullable(Type.Array(HostName, { maxItems: 100 })) })),
});
const CodeSchema = open({
  type: Type.Literal('code_interpreter'),
  container: Type.Union([
    Type.String(),
    open({ type: Type.Literal('auto'), file_ids: nullable(Type.Array(Type.String())) }),
  ]),
});
export const ToolSchema = Type.Union([FunctionSchema, SearchSchema, CodeSchema]);
type ToolSchema = Static<typeof ToolSchema>;

/** Selects a function, in the notation of this endpoint or of chat completions. */
const NamedFunction = open({
  type: Type.Literal('function'),
  name: Type.Optional(Type.String()),
  function: Type.Optional(open({ name: Type.String() })),
});
const HostedTool = open({ type: oneOf(['code_interpreter', ...SEARCH_TYPES]) });
export const ChoiceSchema = Type.Union([
  oneOf(['auto', 'required', 'none']),
  NamedFunction,
  HostedTool,
  open({
    type: Type.Literal('allowed_tools'),
    mode: oneOf(['auto', 'required']),
    tools: Type.Array(Type.Union([NamedFunction, HostedTool]), { minItems: 1 }),
  }),
]);
type ChoiceSchema = Static<typeof ChoiceSchema>;

/** A built-in tool that a request enables. */
export interface WantedTool {
  readonly type: BuiltInType;
  readonly settings: SearchSettings;
  /** Field of the request, for error messages. */
  readonly field: string;
}

export interface AskedTools {
  /** The tools as echoed in the response. */
  readonly shown: readonly object[];
  readonly shownChoice: string | object;
  /** Functions that the model may call. */
  readonly functions: readonly FunctionTool[];
  readonly builtIn: readonly WantedTool[];
  /** May name a function or a built-in tool. */
  readonly choice: ToolChoice | { readonly builtIn: BuiltInType };
}

/** Rejects unsupported tool types before further validation. */
export function rejectOtherTools(tools: unknown): void {
  if (!Array.isArray(tools)) return;
  for (const [index, tool] of tools.entries()) {
    const type = isRecord(tool) ? tool.type : undefined;
    if (typeof type !== 'string' || TOOL_TYPES.includes(type)) continue;
    const field = `tools[${index}].type`;
    const allowed = TOOL_TYPES.join(', ');
    throw invalidRequest(`'${field}' must be one of ${allowed}.`, field, 'unsupported_value');
  }
}

/** @throws ServiceError `invalid_request` for duplicate tool names, and for a choice that names no tool. */
export function toolsOf(tools: readonly ToolSchema[], choice: ChoiceSchema = 'auto'): AskedTools {
  const functions: FunctionTool[] = [];
  const builtIn: WantedTool[] = [];
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const name = tool.type === 'function' ? tool.name : builtInOf(tool.type);
    if (names.has(name)) {
      const field = `tools[${index}]${tool.type === 'function' ? '.name' : ''}`;
      throw invalidRequest(`'${field}' must differ from the other tools.`, field, 'invalid_value');
    }
    names.add(name);
    if (tool.type === 'function') functions.push(functionOf(tool));
    else builtIn.push(wantedOf(tool, index));
  }
  const shown = tools.map(shownTool);
  return { shown, ...chosen(choice, functions, builtIn) };
}

function functionOf({ name, description, parameters, strict }: Static<typeof FunctionSchema>): FunctionTool {
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: strict ?? true,
  };
}

function wantedOf(tool: Exclude<ToolSchema, { type: 'function' }>, index: number): WantedTool {
  const field = `tools[${index}]`;
  if (tool.type === 'code_interpreter') {
    const { container } = tool;
    if (typeof container === 'string') {
      const message = `'${field}.container' must be {"type": "auto"}: a container lives as long as its response.`;
      throw invalidRequest(message, `${field}.container`, 'unsupported_value');
    }
    if (container.file_ids?.length) {
      const message = `'${field}.container.file_ids' must be empty: files are not supported.`;
      throw invalidRequest(message, `${field}.container.file_ids`, 'unsupported_value');
    }
    return { type: 'code_interpreter', settings: {}, field };
  }
  const { search_context_size: contextSize, user_location, filters } = tool;
  const settings = {
    contextSize: contextSize ?? undefined,
    country: user_location?.country ?? undefined,
    allowedDomains: filters?.allowed_domains ?? undefined,
  };
  return { type: 'web_search', settings, field };
}

function shownTool(tool: ToolSchema): object {
  if (tool.type !== 'function') return tool;
  const { name, description = null, parameters = null, strict } = tool;
  return { type: 'function', name, description, parameters, strict: strict ?? true };
}

function builtInOf(type: string): BuiltInType {
  return type === 'code_interpreter' ? type : 'web_search';
}

type Chosen = Omit<AskedTools, 'shown'>;

function chosen(
  choice: ChoiceSchema,
  functions: readonly FunctionTool[],
  builtIn: readonly WantedTool[],
): Chosen {
  const none = functions.length + builtIn.length === 0;
  if (typeof choice === 'string') {
    if (choice === 'required' && none)
      throw noSuchTool("'tool_choice' is only allowed to be 'required' with 'tools'.");
    if (none || choice === 'none') return { shownChoice: choice, choice: 'none', functions: [], builtIn: [] };
    return { shownChoice: choice, choice, functions, builtIn };
  }
  if (choice.type !== 'allowed_tools') {
    const one = oneTool(choice, functions, builtIn);
    return { ...one, functions, builtIn };
  }
  const allowed = choice.tools.map((tool) => oneTool(tool, functions, builtIn));
  const shownChoice = {
    type: choice.type,
    mode: choice.mode,
    tools: allowed.map((tool) => tool.shownChoice),
  };
  const allows = (wanted: AskedTools['choice']) =>
    allowed.some((tool) => JSON.stringify(tool.choice) === JSON.stringify(wanted));
  return {
    shownChoice,
    choice: choice.mode,
    functions: functions.filter(({ name }) => allows({ name })),
    builtIn: builtIn.filter(({ type }) => allows({ builtIn: type })),
  };
}

type OneTool = Static<typeof NamedFunction> | Static<typeof HostedTool>;

function oneTool(
  wire: OneTool,
  functions: readonly FunctionTool[],
  builtIn: readonly WantedTool[],
): Pick<Chosen, 'shownChoice' | 'choice'> {
  if (wire.type === 'function') {
    const name = wire.name ?? wire.function?.name;
    if (name === undefined || !functions.some((tool) => tool.name === name)) {
      throw noSuchTool("'tool_choice' must name functions of 'tools'.");
    }
    return { shownChoice: { type: 'function', name }, choice: { name } };
  }
  const type = builtInOf(wire.type);
  if (!builtIn.some((tool) => tool.type === type))
    throw noSuchTool("'tool_choice' must name one of 'tools'.");
  return { shownChoice: { type: wire.type }, choice: { builtIn: type } };
}

function noSuchTool(message: string) {
  return invalidRequest(message, 'tool_choice', 'invalid_value');
}
