/** The body of POST /v1/responses in wire names, and how it becomes a request (spec 4.5; openai-wire 6.2). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import type { OutputFormat, Sampling } from '../../../src/contract/engines/text.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { checkMetadata, MetadataSchema } from '../../../src/http/request/metadata.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { rejectFields } from '../shared/json-body.ts';
import { InputItem } from './items/input-items.ts';
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

/** Most runs of tools of the service inside one response. */
const MAX_TOOL_CALLS = 100;
const DEFAULT_TOOL_CALLS = 8;

/** The rules, and what Swagger shows. Null is as good as absent. */
export const ResponseBody = Type.Object(
  {
    model: Type.String({ description: 'Id of a language model.', examples: ['smollm2-135m-instruct'] }),
    input: Type.Union([Type.String(), Type.Array(InputItem, { minItems: 1 })], {
      description: 'A text, or items: messages, function calls and what they gave.',
      examples: ['Name three birds.'],
    }),
    instructions: optional(
      Type.String({ description: 'System message of this response alone.', examples: ['Be brief.'] }),
    ),
    tools: optional(
      Type.Array(ToolSchema, { maxItems: 128, description: 'Functions, `web_search`, `code_interpreter`.' }),
    ),
    tool_choice: optional({
      ...ChoiceSchema,
      description: 'Whether tools are called, and which; `auto` when there are tools.',
    }),
    parallel_tool_calls: optional(
      Type.Boolean({ default: true, description: 'Whether one turn may have several calls.' }),
    ),
    max_tool_calls: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TOOL_CALLS,
        description: `Most runs of \`web_search\` and \`code_interpreter\`; ${DEFAULT_TOOL_CALLS} when absent.`,
      }),
    ),
    stream: optional(Type.Boolean({ default: false, description: 'Server-sent events.' })),
    stream_options: optional({
      ...open({ include_obfuscation: nullable(Type.Boolean()) }),
      description: 'Taken, and without effect.',
    }),
    previous_response_id: optional(
      Type.String({ minLength: 1, description: 'The stored response that this one continues.' }),
    ),
    conversation: optional(
      Type.Union([Type.String(), open({ id: Type.String() })], {
        description: 'There are no conversations here.',
      }),
    ),
    temperature: optional(
      Type.Number({ minimum: 0, maximum: 2, default: 1, description: '0: always the likeliest token.' }),
    ),
    top_p: optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 1,
        description: 'Share of the likeliest tokens to choose from.',
      }),
    ),
    max_output_tokens: optional(
      Type.Integer({ minimum: 1, description: 'Most tokens of the output; beyond them it is `incomplete`.' }),
    ),
    metadata: optional(MetadataSchema),
    reasoning: optional({ ...Reasoning, description: 'For models that reason.' }),
    text: optional({
      ...Text,
      description: '`format`: text, any JSON object, or JSON that fits a schema.',
    }),
    store: optional(
      Type.Boolean({ default: true, description: 'Whether it can be read and continued later.' }),
    ),
    include: optional(Type.Array(oneOf(INCLUDABLE), { description: 'What of tools to show too.' })),
    truncation: optional(
      oneOf(['auto', 'disabled'], {
        default: 'disabled',
        description: '`auto` leaves out the oldest items when all are too much for the model.',
      }),
    ),
    background: optional(Type.Literal(false, { description: 'Answers come while the client waits.' })),
    top_logprobs: optional(
      Type.Integer({ minimum: 0, maximum: 20, description: 'Taken, and without effect.' }),
    ),
    service_tier: optional(Type.String({ description: 'Taken, and without effect.' })),
    user: optional(Type.String({ description: 'Taken, and without effect.' })),
    safety_identifier: optional(Type.String({ description: 'Taken, and without effect.' })),
    prompt_cache_key: optional(Type.String({ description: 'Taken, and without effect.' })),
    prompt_cache_options: optional({ ...open({}), description: 'Taken, and without effect.' }),
    prompt_cache_retention: optional(Type.String({ description: 'Taken, and without effect.' })),
  },
  { additionalProperties: false },
);
type ResponseBody = Static<typeof ResponseBody>;

const checker = TypeCompiler.Compile(ResponseBody);

/** Not here, and not harmless to ignore. */
const UNSUPPORTED = ['prompt', 'moderation', 'context_management', 'access_programs', 'image'] as const;

/** A checked request. */
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
  /** Whether the oldest items may be left out when all are too much for the model. */
  readonly truncates: boolean;
  readonly store: boolean;
  readonly include: readonly Includable[];
  readonly echo: RequestEcho;
}

/**
 * Checks a body against every rule that needs no look at models and stored responses.
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parseResponse(body: unknown): ResponseParams {
  if (isRecord(body)) refuseEarly(body);
  const fields = checkedBody<ResponseBody>(body, checker, bracketed);
  refuseConversation(fields);
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

/** What other services take, or what has a code of its own, before the general rules. */
function refuseEarly(body: Readonly<Record<string, unknown>>): void {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  rejectFields(given, UNSUPPORTED, 'is not supported');
  if (given.background === true) {
    const message = "'background' must be false: responses are answered while the client waits.";
    throw invalidRequest(message, 'background', 'unsupported_parameter');
  }
  rejectOtherTools(given.tools);
}

function refuseConversation({ conversation, previous_response_id }: ResponseBody): void {
  if (conversation === undefined) return;
  if (previous_response_id !== undefined) {
    throw invalidRequest(
      "'previous_response_id' and 'conversation' exclude each other; send one of them.",
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

/** A dotted field as OpenAI names it: `input[0].content`. */
function bracketed(field: string): string {
  return field.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
}
