/** Output items of a response in wire form, and their client view (openai-wire 6.8). */

import type { Id } from '../../../../src/contract/core/id.ts';
import type { CodeOutput } from './built-in-tools.ts';

export interface Citation {
  readonly type: 'url_citation';
  readonly url: string;
  readonly title: string;
  /** Offset in the text, in UTF-16 code units. */
  readonly start_index: number;
  readonly end_index: number;
}

export interface OutputText {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly Citation[];
  readonly logprobs: readonly never[];
}

export interface OutputRefusal {
  readonly type: 'refusal';
  readonly refusal: string;
}

export type OutputPart = OutputText | OutputRefusal;
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface OutputMessage {
  readonly id: Id<'msg_'>;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly status: ItemStatus;
  readonly content: readonly OutputPart[];
}

export interface CallItem {
  readonly id: Id<'fc_'>;
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: ItemStatus;
}

export interface ReasoningItem {
  readonly id: Id<'rs_'>;
  readonly type: 'reasoning';
  readonly summary: readonly never[];
  readonly content: readonly { readonly type: 'reasoning_text'; readonly text: string }[];
  readonly status: ItemStatus;
}

/**
 * The arguments that the model wrote for a built-in tool, and the result that it received. Stored but not
 * returned to clients.
 */
export interface ForModel {
  readonly name: string;
  readonly arguments: string;
  readonly text: string;
}

export interface SearchItem {
  readonly id: Id<'ws_'>;
  readonly type: 'web_search_call';
  readonly status: 'in_progress' | 'searching' | 'completed' | 'failed';
  readonly action: {
    readonly type: 'search';
    readonly query: string;
    readonly queries: readonly string[];
    readonly sources?: readonly { readonly type: 'url'; readonly url: string }[] | undefined;
  };
  readonly for_model?: ForModel | undefined;
}

export interface CodeItem {
  readonly id: Id<'ci_'>;
  readonly type: 'code_interpreter_call';
  readonly status: 'in_progress' | 'interpreting' | 'completed' | 'incomplete' | 'failed';
  readonly code: string;
  readonly container_id: string;
  readonly outputs: readonly CodeOutput[] | null;
  readonly for_model?: ForModel | undefined;
}

export type OutputItem = OutputMessage | CallItem | ReasoningItem | SearchItem | CodeItem;

/** Values of `include`. Values for items that this service does not have are accepted without effect. */
export const INCLUDABLE = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
] as const;
export type Includable = (typeof INCLUDABLE)[number];

/** Returns the client view of an item: tool results are omitted unless `include` names them. */
export function shownItem(item: OutputItem, include: readonly Includable[]): OutputItem {
  switch (item.type) {
    case 'web_search_call': {
      const { for_model: _, action, ...shown } = item;
      if (include.includes('web_search_call.action.sources')) return { ...shown, action };
      const { sources: __, ...search } = action;
      return { ...shown, action: search };
    }
    case 'code_interpreter_call': {
      const { for_model: _, ...shown } = item;
      return include.includes('code_interpreter_call.outputs') ? shown : { ...shown, outputs: null };
    }
    default:
      return item;
  }
}
