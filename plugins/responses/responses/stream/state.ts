/** What may happen to a response that is being made, and how far it has come. */

import type { Id } from '../../../../src/contract/core/id.ts';
import type { TextEvent, TokenUsage } from '../../../../src/contract/engines/text.ts';
import type { BuiltInResult, BuiltInType, SearchSource } from '../items/built-in-tools.ts';
import type {
  CallItem,
  CodeItem,
  ForModel,
  Includable,
  OutputItem,
  OutputPart,
  SearchItem,
} from '../items/output-items.ts';
import type { ResponseFailure, ResponseHead, ResponseObject } from '../items/response-object.ts';

/** An event of the stream in wire form. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

/** What may happen to a response. */
export type ResponseAction =
  | Exclude<TextEvent, { kind: 'end' }>
  /** The model calls a tool of the service. */
  | { readonly kind: 'tool_named'; readonly type: BuiltInType; readonly container: Id<'container'> }
  /** It has written the query or the code: the tool runs. */
  | { readonly kind: 'tool_started'; readonly input: string }
  | { readonly kind: 'tool_finished'; readonly result: BuiltInResult; readonly forModel: ForModel }
  | {
      readonly kind: 'finished';
      readonly reason: 'stop' | 'length' | 'content_filter';
      readonly tokens: TokenUsage;
      /** Unix seconds. */
      readonly at: number;
    }
  | { readonly kind: 'failed'; readonly error: ResponseFailure }
  /** The client has left. */
  | { readonly kind: 'disconnected' };

export type TextPart = { readonly type: 'output_text' | 'refusal'; readonly text: string };

/** The item that is being made. */
export type OpenItem =
  | { readonly kind: 'none' }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'message'; readonly parts: readonly OutputPart[]; readonly part: TextPart }
  | { readonly kind: 'call'; readonly index: number; readonly item: CallItem }
  | { readonly kind: 'tool'; readonly item: SearchItem | CodeItem }
  | { readonly kind: 'running'; readonly item: SearchItem | CodeItem };

export interface ResponseState {
  readonly head: ResponseHead;
  readonly include: readonly Includable[];
  /** Number of the next event. */
  readonly sequence: number;
  /** Finished items. */
  readonly output: readonly OutputItem[];
  readonly open: OpenItem;
  /** What searches found, for citations. */
  readonly sources: readonly SearchSource[];
  /** The response, once it has ended. */
  readonly response: ResponseObject | undefined;
}

export interface Step {
  readonly state: ResponseState;
  readonly events: readonly ResponseEvent[];
}
