/** Request schema and parsing of POST /v1/chat/completions (openai-wire 4.1). */

import { isDeepStrictEqual } from 'node:util';
import { type ObjectOptions, type Static, type TProperties, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type {
  ChatMessage,
  FunctionTool,
  JsonSchema,
  OutputFormat,
  TextRequest,
  ToolChoice,
  UserPart,
} from '../../../src/contract/engines/text.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { rejectFields } from '../shared/json-body.ts';
import { SAMPLING } from '../shared/sampling.ts';

/** Clients send further fields; fields without effect are ignored. */
function open<Properties extends TProperties>(properties: Properties, options: ObjectOptions = {}) {
  return Type.Object(properties, { ...options, additionalProperties: true });
}

const NAME = '^[A-Za-z0-9_-]{1,64}$';
const AnyObject = Type.Unsafe<Record<string, unknown>>(Type.Object({}));
const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const Text = open({ type: Type.Literal('text'), text: Type.String() });
const Refusal = open({ type: Type.Literal('refusal'), refusal: Type.String() });
const Image = open({
  type: Type.Literal('image_url'),
  image_url: open({ url: Type.String({ minLength: 1 }), detail: Type.Optional(Type.String()) }),
});
const Audio = open({
  type: Type.Literal('input_audio'),
  input_audio: open({ data: Type.String(), format: oneOf(['wav', 'mp3']) }),
});
const File = open({
  type: Type.Literal('file'),
  file: open({
    file_data: Type.Optional(Type.String()),
    file_id: Type.Optional(Type.String()),
    filename: Type.Optional(Type.String()),
  }),
});

const SystemMessage = open({
  role: oneOf(['system', 'developer']),
  content: Type.Union([Type.String(), Type.Array(Text, { minItems: 1 })]),
});
const UserMessage = open({
  role: Type.Literal('user'),
  content: Type.Union([Type.String(), Type.Array(Type.Union([Text, Image, Audio, File]), { minItems: 1 })]),
});
const WireToolCall = open({
  id: Type.String({ minLength: 1 }),
  // Clients that replay the deltas of a stream may lose it.
  type: nullable(Type.Literal('function')),
  function: open({ name: Type.String(), arguments: Type.String() }),
});
const AssistantMessage = open({
  role: Type.Literal('assistant'),
  content: nullable(Type.Union([Type.String(), Type.Array(Type.Union([Text, Refusal]))])),
  refusal: nullable(Type.String()),
  tool_calls: nullable(Type.Array(WireToolCall)),
});
const ToolMessage = open({
  role: Type.Literal('tool'),
  tool_call_id: Type.String({ minLength: 1 }),
  content: Type.Union([Type.String(), Type.Array(Text)]),
});
const Message = Type.Union([SystemMessage, UserMessage, AssistantMessage, ToolMessage]);

const Tool = open({
  type: Type.Literal('function'),
  function: open({
    name: Type.String({ pattern: NAME }),
    description: nullable(Type.String()),
    parameters: nullable(AnyObject),
    strict: nullable(Type.Boolean()),
  }),
});
const NamedTool = open({ type: Type.Literal('function'), function: open({ name: Type.String() }) });
const AllowedTools = open({
  type: Type.Literal('allowed_tools'),
  allowed_tools: open({ mode: oneOf(['auto', 'required']), tools: Type.Array(NamedTool, { minItems: 1 }) }),
});

const ResponseFormat = Type.Union(
  [
    open({ type: Type.Literal('text') }),
    open({ type: Type.Literal('json_object') }),
    open({
      type: Type.Literal('json_schema'),
      json_schema: open({
        name: Type.String({ pattern: NAME }),
        description: nullable(Type.String()),
        schema: nullable(AnyObject),
        strict: nullable(Type.Boolean()),
      }),
    }),
  ],
  { description: 'Text, any JSON object, or JSON that matches a schema.' },
);

const optional = Type.Optional;
const limit = Type.Integer({ minimum: 1, description: 'Maximum number of output tokens.' });
const penalty = Type.Number({ minimum: -2, maximum: 2 });

/** Validation rules, also used for the OpenAPI document. */
export const ChatBody = open({
  model: Type.String({ description: 'Id of a chat model.', examples: ['smollm2-135m-instruct'] }),
  messages: Type.Array(Message, {
    minItems: 1,
    description: 'The conversation, oldest first.',
    examples: [[{ role: 'user', content: 'Name three birds.' }]],
  }),
  stream: optional(
    Type.Boolean({ default: false, description: 'Return server-sent events, ended by `[DONE]`.' }),
  ),
  stream_options: optional(
    open(
      { include_usage: nullable(Type.Boolean()) },
      { description: 'Only with `stream`. `include_usage` adds a chunk with the usage before the end.' },
    ),
  ),
  max_completion_tokens: optional(limit),
  max_tokens: optional({ ...limit, deprecated: true }),
  ...SAMPLING,
  seed: optional(Type.Integer({ description: 'The same seed produces the same output.' })),
  stop: optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { maxItems: 4 })], {
      description: 'Up to four texts at which generation stops.',
    }),
  ),
  presence_penalty: optional({ ...penalty, description: 'Penalizes tokens that already occurred.' }),
  frequency_penalty: optional({ ...penalty, description: 'Penalizes tokens by their frequency so far.' }),
  n: optional(Type.Integer({ minimum: 1, description: 'Number of choices: only 1.' })),
  tools: optional(Type.Array(Tool, { maxItems: 128, description: 'Functions that the model may call.' })),
  tool_choice: optional(
    Type.Union([oneOf(['none', 'auto', 'required']), NamedTool, AllowedTools], {
      description: 'Whether functions are called, and which. Default: `auto` if there are tools.',
    }),
  ),
  parallel_tool_calls: optional(
    Type.Boolean({
      default: true,
      description: 'Whether the model may call several functions in one message.',
    }),
  ),
  response_format: optional(ResponseFormat),
  logprobs: optional(Type.Boolean({ description: 'Not supported: only false.' })),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20, description: 'Not supported: only 0.' })),
  reasoning_effort: optional(Type.String({ description: 'For reasoning models.', examples: ['low'] })),
});
type ChatBody = Static<typeof ChatBody>;

const checker = TypeCompiler.Compile(ChatBody);

/** A validated request. */
export interface ChatParams {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly request: Omit<TextRequest, 'priority' | 'fairnessKey'>;
}

/** Unsupported fields that must not be ignored, with the values that have no effect. */
const UNSUPPORTED: Readonly<Record<string, readonly unknown[]>> = {
  audio: [],
  function_call: ['none', 'auto'],
  functions: [[]],
  modalities: [[], ['text']],
  moderation: [],
  web_search_options: [],
};

/**
 * Validates a body except for rules that depend on the model. Fields without effect are ignored.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseChat(body: unknown): ChatParams {
  const fields = checkedBody<ChatBody>(body, checker, { prepare: withoutUnsupported });
  rejectUnsupportedValues(fields);
  if (fields.stream_options && fields.stream !== true) {
    throw invalidRequest("'stream_options' is only allowed with 'stream': true.", 'stream_options');
  }
  const messages = fields.messages.map(toMessage);
  requireCalls(messages);
  const tools = toolsOf(fields.tools ?? []);
  const { choice, allowed } = choiceOf(fields.tool_choice, tools);
  const { temperature, top_p, seed, presence_penalty, frequency_penalty, stop = [] } = fields;
  return {
    model: fields.model,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    request: {
      messages,
      tools: allowed,
      toolChoice: choice,
      parallelToolCalls: fields.parallel_tool_calls ?? true,
      output: outputOf(fields.response_format),
      sampling: {
        temperature: temperature ?? 1,
        topP: top_p ?? 1,
        seed,
        presencePenalty: presence_penalty,
        frequencyPenalty: frequency_penalty,
      },
      stop: typeof stop === 'string' ? [stop] : stop,
      maxTokens: fields.max_completion_tokens ?? fields.max_tokens,
      reasoningEffort: fields.reasoning_effort,
    },
  };
}

/** Checked first, because the messages about tools assume functions. */
function rejectOtherTools(tools: unknown): void {
  if (!Array.isArray(tools)) return;
  for (const [index, tool] of tools.entries()) {
    const type = isRecord(tool) ? tool.type : undefined;
    if (typeof type === 'string' && type !== 'function')
      throw unsupported(`tools.${index}.type`, '"function"');
  }
}

/** @returns the fields. @throws ServiceError for a field that must not be ignored. */
function withoutUnsupported(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  rejectOtherTools(given.tools);
  const asksForNothing = (name: string) =>
    UNSUPPORTED[name]?.some((value) => isDeepStrictEqual(value, given[name]));
  const names = Object.keys(UNSUPPORTED).filter((name) => !asksForNothing(name));
  rejectFields(given, names, 'is not supported');
  return given;
}

function rejectUnsupportedValues(fields: ChatBody): void {
  const { n = 1, logprobs = false, top_logprobs = 0 } = fields;
  if (n > 1) throw unsupported('n', '1: only one choice is supported');
  if (logprobs) throw unsupported('logprobs', 'false');
  if (top_logprobs > 0) throw unsupported('top_logprobs', '0');
}

function unsupported(field: string, allowed: string) {
  return invalidRequest(`'${field}' must be ${allowed}.`, field, 'unsupported_value');
}

function toMessage(message: Static<typeof Message>, index: number): ChatMessage {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: textOf(message.content) };
    case 'user':
      return { role: 'user', parts: userParts(message.content, index) };
    case 'assistant':
      return {
        role: 'assistant',
        text: message.content == null ? (message.refusal ?? undefined) : textOf(message.content),
        toolCalls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
          id,
          name,
          arguments: given,
        })),
      };
    case 'tool':
      return { role: 'tool', toolCallId: message.tool_call_id, text: textOf(message.content) };
  }
}

type AnyText = Static<typeof Text> | Static<typeof Refusal>;

function textOf(content: string | readonly AnyText[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : part.refusal)).join('');
}

type UserContent = Static<typeof UserMessage>['content'];

function userParts(content: UserContent, message: number): UserPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return content.map((part, index) => userPart(part, `messages.${message}.content.${index}`));
}

function userPart(part: Exclude<UserContent, string>[number], place: string): UserPart {
  switch (part.type) {
    case 'text':
      return { kind: 'text', text: part.text };
    case 'image_url':
      return { kind: 'image', url: part.image_url.url, detail: part.image_url.detail };
    case 'input_audio':
      return { kind: 'audio', base64: part.input_audio.data, format: part.input_audio.format };
    case 'file': {
      const { file_data: base64, filename = 'file' } = part.file;
      if (base64 !== undefined) return { kind: 'file', base64, filename };
      const field = `${place}.file.file_data`;
      throw invalidRequest(`'${field}' is required: files must be included in the message.`, field);
    }
  }
}

/** Every tool result must refer to a call in an earlier message. */
function requireCalls(messages: readonly ChatMessage[]): void {
  const calls = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls) calls.add(id);
    if (message.role !== 'tool' || calls.has(message.toolCallId)) continue;
    const field = `messages.${index}.tool_call_id`;
    throw invalidRequest(
      `'${field}' must be the id of a tool call in a preceding assistant message.`,
      field,
      'invalid_value',
    );
  }
}

function toolsOf(tools: readonly Static<typeof Tool>[]): FunctionTool[] {
  const names = new Set<string>();
  return tools.map(({ function: { name, description, parameters, strict } }, index) => {
    if (names.has(name)) {
      const field = `tools.${index}.function.name`;
      throw invalidRequest(`'${field}' must differ from the names of the other tools.`, field);
    }
    names.add(name);
    return {
      name,
      description: description ?? undefined,
      parameters: parameters ?? undefined,
      strict: strict ?? false,
    };
  });
}

/** Resolves the tools that the model may call: a choice may name one tool or restrict the list. */
function choiceOf(
  wire: ChatBody['tool_choice'],
  tools: readonly FunctionTool[],
): { readonly choice: ToolChoice; readonly allowed: readonly FunctionTool[] } {
  const needed = wire !== undefined && wire !== 'none' && wire !== 'auto';
  if (needed && tools.length === 0) {
    throw invalidRequest("'tool_choice' is only allowed with 'tools'.", 'tool_choice');
  }
  if (tools.length === 0) return { choice: 'none', allowed: [] };
  if (wire === undefined || typeof wire === 'string') return { choice: wire ?? 'auto', allowed: tools };
  if (wire.type === 'function') {
    requireTool(tools, wire.function.name);
    return { choice: { name: wire.function.name }, allowed: tools };
  }
  const names = wire.allowed_tools.tools.map(({ function: { name } }) => name);
  for (const name of names) requireTool(tools, name);
  return { choice: wire.allowed_tools.mode, allowed: tools.filter(({ name }) => names.includes(name)) };
}

function requireTool(tools: readonly FunctionTool[], name: string): void {
  if (tools.some((tool) => tool.name === name)) return;
  throw invalidRequest("'tool_choice' must name one of 'tools'.", 'tool_choice', 'invalid_value');
}

function outputOf(format: ChatBody['response_format']): OutputFormat {
  switch (format?.type) {
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema': {
      const { name, schema, strict } = format.json_schema;
      const anything: JsonSchema = {};
      return { kind: 'json_schema', name, schema: schema ?? anything, strict: strict ?? false };
    }
    default:
      return { kind: 'text' };
  }
}
