/** The request of a reply: what the language model receives and how the reply is delivered. */

import type { ChatMessage, PromptStart } from '../../contract/engines/text.ts';
import type { ErrorBody } from '../events/server-events.ts';
import type { ItemList } from '../items/item-list.ts';
import { limitItems, promptMessages, promptTokens } from '../items/prompt.ts';
import type { ResponseSettings, Truncation } from '../settings.ts';
import type { ResponseParams } from './response.ts';

export type ReplyRequest =
  | {
      readonly kind: 'generate';
      readonly messages: readonly ChatMessage[];
      readonly settings: ResponseSettings;
    }
  /** Speak the configured fallback message, then fail. */
  | { readonly kind: 'failure'; readonly error: ErrorBody; readonly settings: ResponseSettings };

/** What the next prompt starts with, before the words of the user. */
export type NextPrompt = Pick<PromptStart, 'messages' | 'tools'>;

/** Share of the context of the model that the retained items may use after a truncation. */
export const DEFAULT_RETENTION_RATIO = 0.8;

const TOO_LONG: ErrorBody = {
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  message:
    "This conversation exceeds the model's maximum context length. Delete items, or enable truncation.",
};

/** @param maxTokens maximum tokens of the prompt; undefined: unknown. */
export function replyRequest(
  { settings }: Pick<ResponseParams, 'settings'>,
  items: ItemList,
  truncation: Truncation,
  maxTokens: number | undefined,
): ReplyRequest {
  const retained = retainedItems(settings, items, truncation, maxTokens ?? Number.POSITIVE_INFINITY);
  if (retained === undefined) return { kind: 'failure', error: TOO_LONG, settings };
  return { kind: 'generate', messages: promptMessages(settings.instructions, retained), settings };
}

function retainedItems(
  { instructions, tools }: ResponseSettings,
  items: ItemList,
  truncation: Truncation,
  maxTokens: number,
): ItemList | undefined {
  if (truncation.kind === 'disabled') {
    return promptTokens(instructions, tools, items) <= maxTokens ? items : undefined;
  }
  const fixed = promptTokens(instructions, tools, []);
  const limits = {
    maxTokens: Math.min(maxTokens, fixed + (truncation.maxTokens ?? Number.POSITIVE_INFINITY)),
    retentionRatio: truncation.retentionRatio,
  };
  return limitItems(instructions, tools, items, limits);
}
