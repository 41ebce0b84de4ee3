/** Converts the items of a conversation to the messages of a language model, within its context. */

import type { ChatMessage, FunctionTool, ToolCall, UserPart } from '../../contract/engines/text.ts';
import { textTokens } from '../../kit/text/token-estimate.ts';
import type { Item, UserItem } from './item.ts';
import type { ItemList } from './item-list.ts';

/** Result of a function call whose output has not arrived when the user speaks again. */
export const PENDING_OUTPUT =
  'The function has not returned yet. Do not guess its result; if the user needs it, say that you are waiting for it.';

/** Tokens that a chat template adds to each message, with a reserve. */
const MESSAGE_TOKENS = 8;
/** Estimates of the tokens of a text are too low by up to this factor. */
const ESTIMATE_RESERVE = 1.25;

export interface PromptLimits {
  /** Maximum estimated tokens of the prompt. */
  readonly maxTokens: number;
  /**
   * Share of {@link maxTokens} to which the oldest items are removed if the prompt exceeds it, so that the start of the
   * prompt, which the model caches, stays the same for several turns.
   */
  readonly retentionRatio: number;
}

/**
 * Messages for the items, oldest first. Items without text are left out. Consecutive calls form one message, with the text of
 * the assistant before them, and their outputs follow it.
 */
export function promptMessages(instructions: string, items: ItemList): ChatMessage[] {
  const messages: ChatMessage[] = instructions.trim() === '' ? [] : [{ role: 'system', text: instructions }];
  const outputs = new Map(
    items.flatMap((item) => (item.type === 'function_call_output' ? [[item.call_id, item.output]] : [])),
  );
  let calls: ToolCall[] = [];
  const endCalls = () => {
    if (calls.length === 0) return;
    const last = messages.at(-1);
    const text = last?.role === 'assistant' && last.toolCalls.length === 0 ? last.text : undefined;
    if (text !== undefined) messages.pop();
    messages.push({ role: 'assistant', text, toolCalls: calls });
    for (const { id } of calls) {
      messages.push({ role: 'tool', toolCallId: id, text: outputs.get(id) ?? PENDING_OUTPUT });
    }
    calls = [];
  };
  for (const item of items) {
    if (item.type === 'function_call') {
      const { call_id: id, name } = item;
      if (item.status === 'completed') calls.push({ id, name, arguments: item.arguments });
    } else {
      endCalls();
      if (item.type === 'message') messages.push(...messageOf(item));
    }
  }
  endCalls();
  return messages;
}

function messageOf(item: Extract<Item, { type: 'message' }>): ChatMessage[] {
  switch (item.role) {
    case 'system': {
      const text = item.content.map((part) => part.text).join('\n');
      return text.trim() === '' ? [] : [{ role: 'system', text }];
    }
    case 'assistant': {
      const text = item.content
        .map((part) => (part.type === 'output_text' ? part.text : part.transcript))
        .join('');
      return text.trim() === '' ? [] : [{ role: 'assistant', text, toolCalls: [] }];
    }
    case 'user': {
      const parts = item.content.flatMap(userParts);
      return parts.length === 0 ? [] : [{ role: 'user', parts }];
    }
  }
}

function userParts(part: UserItem['content'][number]): UserPart[] {
  if (part.type === 'input_image') return [{ kind: 'image', url: part.image_url, detail: part.detail }];
  const text = part.type === 'input_text' ? part.text : (part.transcript ?? '');
  return text.trim() === '' ? [] : [{ kind: 'text', text }];
}

/** Estimated tokens of the prompt. */
export function promptTokens(instructions: string, tools: readonly FunctionTool[], items: ItemList): number {
  const fixed = textTokens(instructions) + (tools.length === 0 ? 0 : textTokens(JSON.stringify(tools)));
  return Math.ceil(ESTIMATE_RESERVE * fixed) + items.reduce((sum, item) => sum + itemTokens(item), 0);
}

function itemTokens(item: Item): number {
  return Math.ceil(ESTIMATE_RESERVE * textTokens(textOf(item))) + MESSAGE_TOKENS;
}

function textOf(item: Item): string {
  if (item.type === 'function_call') return item.name + item.arguments;
  if (item.type === 'function_call_output') return item.output;
  const texts = item.content.map((part) => {
    if (part.type === 'input_image') return '';
    return 'text' in part ? part.text : (part.transcript ?? '');
  });
  return texts.join('');
}

/**
 * Removes the oldest items of a prompt that is too long. The output of a function stays with its call, and the last item stays.
 * @returns the items, or undefined if even the last one is too long.
 */
export function limitItems(
  instructions: string,
  tools: readonly FunctionTool[],
  items: ItemList,
  { maxTokens, retentionRatio }: PromptLimits,
): ItemList | undefined {
  let tokens = promptTokens(instructions, tools, items);
  if (tokens <= maxTokens) return items;
  let first = 0;
  while (first < items.length - 1 && tokens > maxTokens * retentionRatio) {
    const item = items[first];
    if (item !== undefined) tokens -= itemTokens(item);
    first += 1;
  }
  if (tokens > maxTokens) return undefined;
  const retained = items.slice(first);
  const calls = new Set(retained.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])));
  return retained.filter((item) => item.type !== 'function_call_output' || calls.has(item.call_id));
}
