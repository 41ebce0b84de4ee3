/** Actions and state of a response in progress. */

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

/** A stream event in wire form. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

/** An action that changes a response. */
export type ResponseAction =
  | Exclude<TextEvent, { kind: 'end' }>
  /** The model calls a built-in tool. */
  | { readonly kind: 'tool_named'; readonly type: BuiltInType; readonly container: Id<'cntr_'> }
  /** The model has written the query or the code, and the tool is started. */
  | { readonly kind: 'tool_started'; readonly input: string }
  | { readonly kind: 'tool_finished'; readonly result: BuiltInResult; readonly forModel: ForModel }
  | {
      readonly kind: 'finished';
      readonly reason: 'stop' | 'length' | 'content_filter';
      readonly tokens: TokenUsage;
      /** Unix time in seconds. */
      readonly at: number;
    }
  | { readonly kind: 'failed'; readonly error: ResponseFailure }
  /** The client disconnected. */
  | { readonly kind: 'disconnected' };

export type TextPart = { readonly type: 'output_text' | 'refusal'; readonly text: string };

/** The item in progress. */
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
  /** Sequence number of the next event. */
  readonly sequence: number;
  /** Finished items. */
  readonly output: readonly OutputItem[];
  readonly open: OpenItem;
  /** Pages found by searches, for citations. */
  readonly sources: readonly SearchSource[];
  /** The final response; undefined while it is in progress. */
  readonly response: ResponseObject | undefined;
}

export interface Step {
  readonly state: ResponseState;
  readonly events: readonly ResponseEvent[];
}
