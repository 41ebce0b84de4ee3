/** Request schema and parsing of POST /v1/responses (spec 4.5; openai-wire 6.2). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import type { OutputFormat, Sampling } from '../../../src/contract/engines/text.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { checkMetadata, MetadataSchema } from '../../../src/http/request/metadata.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { rejectFields } from '../shared/json-body.ts';
import { SAMPLING } from '../shared/sampling.ts';
import { InputItem, withItemTypes } from './items/input-items.ts';
import { INCLUDABLE, type Includable } from './items/output-items.ts';
import type { RequestEcho } from './items/response-object.ts';
import {
  type AskedTools,
  ChoiceSchema,
  rejectOtherTools,
  TOOL_NAME,
  ToolSchema,
  toolsOf,
} from './tools/schema.ts';

const optional = Type.Optional;
const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const open = (properties: Parameters<typeof Type.Object>[0]) =>
  Type.Object(properties, { additionalProperties: true });

const Format = Type.Union([
  Type.Object({ type: Type.Literal('text') }, { additionalProperties: true }),
  Type.Object({ type: Type.Literal('json_object') }, { additionalProperties: true }),
  Type.Object(
    {
      type: Type.Literal('json_schema'),
      name: Type.String({ pattern: TOOL_NAME }),
      schema: Type.Unsafe<Record<string, unknown>>(Type.Object({})),
      description: nullable(Type.String()),
      strict: nullable(Type.Boolean()),
    },
    { additionalProperties: true },
  ),
]);

const Text = Type.Object(
  { format: nullable(Format), verbosity: nullable(oneOf(['low', 'medium', 'high'])) },
  { additionalProperties: true },
);

const Reasoning = Type.Object(
  {
    effort: nullable(oneOf(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
    summary: nullable(oneOf(['auto', 'concise', 'detailed'])),
    generate_summary: nullable(oneOf(['auto', 'concise', 'detailed'])),
  },
  { additionalProperties: true },
);

/** Maximum number of built-in tool calls per response. */
const MAX_TOOL_CALLS = 100;
const DEFAULT_TOOL_CALLS = 8;

/** Validation rules, also used for the OpenAPI document. Null is equivalent to absent. */
export const ResponseBody = Type.Object({
  model: Type.String({ description: 'Id of a language model.', examples: ['smollm2-135m-instruct'] }),
  input: Type.Union([Type.String(), Type.Array(InputItem, { minItems: 1 })], {
    description: 'A text, or items: messages, function calls and their results.',
    examples: ['Name three birds.'],
  }),
  instructions: optional(
    Type.String({ description: 'System message for this response only.', examples: ['Be brief.'] }),
  ),
  tools: optional(
    Type.Array(ToolSchema, { maxItems: 128, description: 'Functions, `web_search`, `code_interpreter`.' }),
  ),
  tool_choice: optional({
    ...ChoiceSchema,
    description: 'Whether tools are called, and which. Default: `auto` if there are tools.',
  }),
  parallel_tool_calls: optional(
    Type.Boolean({
      default: true,
      description: 'Whether the model may call several tools in one message.',
    }),
  ),
  max_tool_calls: optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_TOOL_CALLS,
      description: `Maximum number of \`web_search\` and \`code_interpreter\` calls. Default: ${DEFAULT_TOOL_CALLS}.`,
    }),
  ),
  stream: optional(Type.Boolean({ default: false, description: 'Return server-sent events.' })),
  stream_options: optional({
    ...open({ include_obfuscation: nullable(Type.Boolean()) }),
    description: 'Accepted without effect.',
  }),
  previous_response_id: optional(Type.String({ description: 'The stored response to continue.' })),
  conversation: optional(
    Type.Union([Type.String(), open({ id: Type.String() })], {
      description: 'Not supported.',
    }),
  ),
  ...SAMPLING,
  max_output_tokens: optional(
    Type.Integer({
      minimum: 1,
      description: 'Maximum number of output tokens. A longer response is `incomplete`.',
    }),
  ),
  metadata: optional(MetadataSchema),
  reasoning: optional({ ...Reasoning, description: 'For reasoning models.' }),
  text: optional({
    ...Text,
    description: '`format`: text, any JSON object, or JSON that matches a schema.',
  }),
  store: optional(
    Type.Boolean({
      default: true,
      description: 'Whether the response can be retrieved and continued later.',
    }),
  ),
  include: optional(Type.Array(oneOf(INCLUDABLE), { description: 'Additional tool data to include.' })),
  truncation: optional(
    oneOf(['auto', 'disabled'], {
      default: 'disabled',
      description: '`auto` removes the oldest items if the input exceeds the context size of the model.',
    }),
  ),
  background: optional(Type.Literal(false, { description: 'Not supported: only false.' })),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20, description: 'Accepted without effect.' })),
  service_tier: optional(Type.String({ description: 'Accepted without effect.' })),
  user: optional(Type.String({ description: 'Accepted without effect.' })),
  safety_identifier: optional(Type.String({ description: 'Accepted without effect.' })),
  prompt_cache_key: optional(Type.String({ description: 'Accepted without effect.' })),
  prompt_cache_options: optional({ ...open({}), description: 'Accepted without effect.' }),
  prompt_cache_retention: optional(Type.String({ description: 'Accepted without effect.' })),
});
type ResponseBody = Static<typeof ResponseBody>;

const checker = TypeCompiler.Compile(ResponseBody);

/** Unsupported fields that must not be ignored. */
const UNSUPPORTED = ['prompt', 'moderation', 'context_management', 'access_programs', 'image'] as const;

/** A validated request. */
export interface ResponseParams {
  readonly model: string;
  readonly stream: boolean;
  readonly input: string | readonly InputItem[];
  readonly instructions: string | undefined;
  readonly previous: string | undefined;
  readonly tools: AskedTools;
  readonly parallelToolCalls: boolean;
  readonly maxToolCalls: number;
  readonly output: OutputFormat;
  readonly sampling: Sampling;
  readonly maxTokens: number | undefined;
  readonly reasoningEffort: string | undefined;
  /** Whether the oldest items may be removed if the input exceeds the context size of the model. */
  readonly truncates: boolean;
  readonly store: boolean;
  readonly include: readonly Includable[];
  readonly echo: RequestEcho;
}

/**
 * Validates a body except for rules that depend on the model or on stored responses.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseResponse(body: unknown): ResponseParams {
  const fields = checkedBody<ResponseBody>(body, checker, { shown: bracketed, prepare: preparedFields });
  rejectConversation(fields);
  const { metadata = {} } = fields;
  checkMetadata(metadata);
  const tools = toolsOf(fields.tools ?? [], fields.tool_choice);
  const format = fields.text?.format ?? { type: 'text' };
  const { temperature = 1, top_p = 1, parallel_tool_calls = true, store = true } = fields;
  const effort = fields.reasoning?.effort ?? null;
  return {
    model: fields.model,
    stream: fields.stream ?? false,
    input: fields.input,
    instructions: fields.instructions,
    previous: fields.previous_response_id,
    tools,
    parallelToolCalls: parallel_tool_calls,
    maxToolCalls: fields.max_tool_calls ?? DEFAULT_TOOL_CALLS,
    output: outputOf(format),
    sampling: { temperature, topP: top_p },
    maxTokens: fields.max_output_tokens,
    reasoningEffort: effort ?? undefined,
    truncates: fields.truncation === 'auto',
    store,
    include: fields.include ?? [],
    echo: {
      model: fields.model,
      instructions: fields.instructions ?? null,
      max_output_tokens: fields.max_output_tokens ?? null,
      max_tool_calls: fields.max_tool_calls ?? null,
      parallel_tool_calls,
      previous_response_id: fields.previous_response_id ?? null,
      prompt_cache_key: fields.prompt_cache_key ?? null,
      reasoning: { effort, summary: fields.reasoning?.summary ?? fields.reasoning?.generate_summary ?? null },
      safety_identifier: fields.safety_identifier ?? null,
      store,
      temperature,
      text: { format: shownFormat(format), verbosity: fields.text?.verbosity ?? 'medium' },
      tool_choice: tools.shownChoice,
      tools: tools.shown,
      top_logprobs: fields.top_logprobs ?? 0,
      top_p,
      truncation: fields.truncation ?? 'disabled',
      user: fields.user ?? null,
      metadata,
    },
  };
}

function preparedFields(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  rejectUnsupported(given);
  return Object.hasOwn(given, 'input') ? { ...given, input: withItemTypes(given.input) } : given;
}

/** Checks for unsupported features, and for errors with their own code, which precede the general rules. */
function rejectUnsupported(given: Readonly<Record<string, unknown>>): void {
  rejectFields(given, UNSUPPORTED, 'is not supported');
  if (given.background === true) {
    const message = "'background' must be false: background responses are not supported.";
    throw invalidRequest(message, 'background', 'unsupported_parameter');
  }
  rejectOtherTools(given.tools);
}

function rejectConversation({ conversation, previous_response_id }: ResponseBody): void {
  if (conversation === undefined) return;
  if (previous_response_id !== undefined) {
    throw invalidRequest(
      "'previous_response_id' and 'conversation' are mutually exclusive.",
      'conversation',
      'mutually_exclusive_parameters',
    );
  }
  const id = typeof conversation === 'string' ? conversation : String(conversation.id);
  throw new ServiceError('not_found', `Conversation with id '${id.slice(0, 100)}' not found.`, {
    param: 'conversation',
  });
}

type Format = Static<typeof Format>;

function outputOf(format: Format): OutputFormat {
  switch (format.type) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return {
        kind: 'json_schema',
        name: format.name,
        schema: format.schema,
        strict: format.strict ?? false,
      };
  }
}

function shownFormat(format: Format) {
  if (format.type !== 'json_schema') return { type: format.type };
  const { type, name, description = null, schema, strict } = format;
  return { type, name, description, schema, strict: strict ?? false };
}

/** Converts a dotted field name to the notation of OpenAI: `input[0].content`. */
function bracketed(field: string): string {
  return field.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
}
