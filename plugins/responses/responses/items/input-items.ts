/** Input items of POST /v1/responses: validation rules, and the stored form (openai-wire 6.3, 6.4). */

import { type Static, type TProperties, type TUnsafe, Type } from '@sinclair/typebox';
import type { Id } from '../../../../src/contract/core/id.ts';
import { isRecord } from '../../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../../src/kit/validation/type-errors.ts';
import type { OutputItem } from './output-items.ts';
import { partId } from './part-id.ts';

/** Items and parts may contain further fields, which are ignored. */
function open<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: true });
}

const optional = Type.Optional;
const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const id = nullable(Type.String({ minLength: 1, maxLength: 200 }));
const status = nullable(Type.String());

const InputText = open({ type: Type.Literal('input_text'), text: Type.String() });
const InputImage = open({
  type: Type.Literal('input_image'),
  image_url: nullable(Type.String({ minLength: 1, description: '`https:` or `data:`.' })),
  file_id: nullable(Type.String()),
  detail: nullable(oneOf(['auto', 'low', 'high', 'original'])),
});
const InputFile = open({
  type: Type.Literal('input_file'),
  file_data: nullable(Type.String()),
  filename: nullable(Type.String()),
  file_id: nullable(Type.String()),
  file_url: nullable(Type.String()),
});
const OutputTextPart = open({ type: Type.Literal('output_text'), text: Type.String() });
const RefusalPart = open({ type: Type.Literal('refusal'), refusal: Type.String() });

/** The type of an item that may omit it. {@link withItemTypes} adds it before the validation, so that items always have it. */
function omissibleType<Name extends string>(name: Name) {
  return nullable(Type.Literal(name)) as unknown as TUnsafe<Name>;
}

const message = optional(omissibleType('message'));
const UserMessage = open({
  type: message,
  id,
  role: Type.Literal('user'),
  content: Type.Union([Type.String(), Type.Array(Type.Union([InputText, InputImage, InputFile]))]),
  status,
});
const SystemMessage = open({
  type: message,
  id,
  role: oneOf(['system', 'developer']),
  content: Type.Union([Type.String(), Type.Array(InputText)]),
  status,
});
const AssistantMessage = open({
  type: message,
  id,
  role: Type.Literal('assistant'),
  content: Type.Union([Type.String(), Type.Array(Type.Union([OutputTextPart, RefusalPart, InputText]))]),
  status,
});
const FunctionCall = open({
  type: omissibleType('function_call'),
  id,
  call_id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  arguments: Type.String(),
  status,
});
const FunctionCallOutput = open({
  type: omissibleType('function_call_output'),
  id,
  call_id: Type.String({ minLength: 1 }),
  output: Type.Union([Type.String(), Type.Array(Type.Union([InputText, InputImage, InputFile]))]),
  status,
});
/** Accepted but not passed to the model. */
const Reasoning = open({ type: Type.Literal('reasoning'), id });
const SearchCall = open({ type: Type.Literal('web_search_call'), id, action: optional(open({})) });
const CodeCall = open({ type: Type.Literal('code_interpreter_call'), id });
const ItemReference = Type.Object(
  { type: nullable(Type.Literal('item_reference')), id: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);

export const InputItem = Type.Union([
  UserMessage,
  SystemMessage,
  AssistantMessage,
  FunctionCall,
  FunctionCallOutput,
  Reasoning,
  SearchCall,
  CodeCall,
  ItemReference,
]);
export type InputItem = Static<typeof InputItem>;
type ItemReference = Static<typeof ItemReference>;
type InputMessage = Static<typeof UserMessage | typeof SystemMessage | typeof AssistantMessage>;

/** An item of a conversation: input or output of the model. */
export type ConversationItem = OutputItem | (Exclude<InputItem, ItemReference> & { readonly id: string });

/**
 * Adds the type of items that lost it when a client replayed them: calls and their results are known by their fields.
 * @param input the `input` of a request, before it is validated.
 */
export function withItemTypes(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  return input.map((item: unknown) => {
    if (!isRecord(item) || item.type != null) return item;
    if (item.role != null) return { ...item, type: 'message' };
    if (typeof item.call_id !== 'string') return item;
    return { ...item, type: item.output == null ? 'function_call' : 'function_call_output' };
  });
}

/** Returns whether an item is a reference to another item. */
export function isReference(item: InputItem): item is ItemReference {
  return item.type === 'item_reference' || (item.type == null && !('role' in item));
}

/** Decided by the type, because other items may have a `role` as well. */
function isMessage(item: Exclude<InputItem, ItemReference>): item is InputMessage {
  return item.type === undefined || item.type === 'message';
}

/** Converts an input item to its stored form: with its type, an id, and content as a list of parts. */
export function storedItem(
  item: Exclude<InputItem, ItemReference>,
  response: Id<'resp_'>,
  position: number,
): ConversationItem {
  const part = `i${position}`;
  if (isMessage(item)) {
    const { role, content, id: given, ...more } = item;
    return {
      ...more,
      id: given ?? partId('msg_', response, part),
      type: 'message',
      role,
      status: 'completed',
      content: typeof content === 'string' ? [wholePart(role, content)] : content,
    } as ConversationItem;
  }
  // Internal field that only the service writes.
  const { for_model: _, ...given } = item as typeof item & { readonly for_model?: unknown };
  return {
    ...(given.type === 'web_search_call' ? { action: NO_SEARCH } : {}),
    ...given,
    id: item.id ?? partId(PREFIX[item.type], response, part),
    status: 'completed',
  } as ConversationItem;
}

const NO_SEARCH = { type: 'search', query: '', queries: [] } as const;

const PREFIX = {
  function_call: 'fc_',
  function_call_output: 'fco_',
  reasoning: 'rs_',
  web_search_call: 'ws_',
  code_interpreter_call: 'ci_',
} as const;

function wholePart(role: InputMessage['role'], text: string) {
  if (role === 'assistant') return { type: 'output_text' as const, text, annotations: [] };
  return { type: 'input_text' as const, text };
}
