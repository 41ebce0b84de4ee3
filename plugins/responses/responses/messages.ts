/** Converts items of responses to messages for a model. Pure. */

import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { ChatMessage, ToolCall, UserPart } from '../../../src/contract/engines/text.ts';
import type { ConversationItem } from './items/input-items.ts';
import type { ForModel } from './items/output-items.ts';

type Message = Extract<ConversationItem, { role: string }>;
type Output = Extract<ConversationItem, { type: 'function_call_output' }>;

/** An item of a conversation with its field in the request, for error messages. */
export interface LocatedItem {
  readonly item: ConversationItem;
  /**
   * Field of the request, such as `input[2]`. Items of previous responses have the field that names the
   * response.
   */
  readonly field: string;
}

/**
 * Returns the messages of a conversation, oldest first.
 * @throws ServiceError `invalid_request` for tool results without a call, and for files that are not included
 *   in the request.
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
 * Removes the oldest quarter of the removable messages. The first and the last messages stay, and no tool
 * result stays without its call. Returns undefined if nothing more can be removed.
 * @param prefixLength number of messages at the start that are not removable.
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

/** Adds a call to the preceding assistant message, or to a new one. */
function addCall(messages: ChatMessage[], call: ToolCall): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', text: undefined, toolCalls: [call] });
  // The list was created by this function. Copying it for each call would be quadratic.
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
      throw invalidRequest(`'${at}' must be "input_text": a tool result is a text.`, at, 'unsupported_value');
    })
    .join('');
}

function missingContent(field: string) {
  return invalidRequest(
    `'${field}' is required: images and files must be included in the message.`,
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
