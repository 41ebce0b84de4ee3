/** Items of responses as messages for a model. Pure. */

import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { ChatMessage, ToolCall, UserPart } from '../../../src/contract/engines/text.ts';
import type { ConversationItem } from './items/input-items.ts';
import type { ForModel } from './items/output-items.ts';

type Message = Extract<ConversationItem, { role: string }>;
type Output = Extract<ConversationItem, { type: 'function_call_output' }>;

/** Where the items of a conversation come from, for messages about them. */
export interface LocatedItem {
  readonly item: ConversationItem;
  /** Of the request: `input[2]`; that of what came before is the name of the response. */
  readonly field: string;
}

/**
 * The messages of a conversation, oldest first.
 * @throws ServiceError `invalid_request` for results of calls that nobody made, and for files that are not sent
 *   with the request.
 */
export function toMessages(instructions: string | undefined, items: readonly LocatedItem[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (instructions !== undefined) messages.push({ role: 'system', text: instructions });
  const calls = new Set<string>();
  for (const { item, field } of items) {
    switch (item.type) {
      case 'function_call':
        calls.add(item.call_id);
        addCall(messages, { id: item.call_id, name: item.name, arguments: item.arguments });
        break;
      case 'function_call_output':
        if (!calls.has(item.call_id)) throw unknownCall(item);
        messages.push({ role: 'tool', toolCallId: item.call_id, text: resultText(item, field) });
        break;
      case 'reasoning':
        break;
      case 'web_search_call':
      case 'code_interpreter_call':
        if ('for_model' in item && item.for_model) addToolRun(messages, item.id, item.for_model);
        break;
      default:
        messages.push(toMessage(item, field));
    }
  }
  return messages;
}

/**
 * The messages without the oldest quarter of those that may go: the instructions and the newest stay, and no
 * result stays without its call. Undefined when nothing is left to leave out.
 * @param prefixLength messages at the start that stay.
 */
export function withoutOldest(
  messages: readonly ChatMessage[],
  prefixLength: number,
): readonly ChatMessage[] | undefined {
  const removable = messages.length - prefixLength - 1;
  if (removable < 1) return undefined;
  let from = prefixLength + Math.ceil(removable / 4);
  while (from < messages.length - 1 && messages[from]?.role === 'tool') from += 1;
  const rest = messages.slice(from);
  if (rest[0]?.role === 'tool') return undefined;
  return [...messages.slice(0, prefixLength), ...rest];
}

/** A call belongs to the message before it, if the model said one. */
function addCall(messages: ChatMessage[], call: ToolCall): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', text: undefined, toolCalls: [call] });
  // The list belongs to the message that is being made here; copying it for each call would be quadratic.
  else (last.toolCalls as ToolCall[]).push(call);
}

function addToolRun(messages: ChatMessage[], id: string, { name, arguments: written, text }: ForModel): void {
  addCall(messages, { id, name, arguments: written });
  messages.push({ role: 'tool', toolCallId: id, text });
}

function toMessage(item: Message, field: string): ChatMessage {
  switch (item.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: joinText(item.content) };
    case 'assistant':
      return { role: 'assistant', text: joinText(item.content), toolCalls: [] };
    case 'user':
      return { role: 'user', parts: userParts(item.content, field) };
  }
}

type AnyText = { readonly text: string } | { readonly refusal: string };

function joinText(content: string | readonly AnyText[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => ('text' in part ? part.text : part.refusal)).join('');
}

type UserContent = Extract<Message, { role: 'user' }>['content'];
type UserContentPart = Exclude<UserContent, string>[number];

function userParts(content: UserContent, field: string): UserPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return content.map((part, index) => userPart(part, `${field}.content[${index}]`));
}

function userPart(part: UserContentPart, field: string): UserPart {
  switch (part.type) {
    case 'input_text':
      return { kind: 'text', text: part.text };
    case 'input_image':
      if (part.image_url == null) throw missingContent(`${field}.image_url`);
      return { kind: 'image', url: part.image_url, detail: part.detail ?? undefined };
    case 'input_file':
      if (part.file_data == null) throw missingContent(`${field}.file_data`);
      return { kind: 'file', base64: part.file_data, filename: part.filename ?? 'file' };
  }
}

function resultText({ output }: Output, field: string): string {
  if (typeof output === 'string') return output;
  return output
    .map((part, index) => {
      if (part.type === 'input_text') return part.text;
      const at = `${field}.output[${index}].type`;
      throw invalidRequest(`'${at}' must be "input_text": a result is a text.`, at, 'unsupported_value');
    })
    .join('');
}

function missingContent(field: string) {
  return invalidRequest(
    `'${field}' is required: images and files are sent with the message.`,
    field,
    'missing_required_parameter',
  );
}

function unknownCall({ call_id }: Output) {
  return invalidRequest(
    `No tool call found for function call output with call_id ${call_id.slice(0, 100)}.`,
    'input',
    'invalid_value',
  );
}
