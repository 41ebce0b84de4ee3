/** Types of the Responses API, with the fields that this page uses. */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'searching' | 'interpreting';

export interface Citation {
  readonly type: 'url_citation';
  readonly url: string;
  readonly title: string;
}

export interface TextPart {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly Citation[];
}

export interface RefusalPart {
  readonly type: 'refusal';
  readonly refusal: string;
}

export interface ThoughtPart {
  readonly type: 'reasoning_text';
  readonly text: string;
}

export type ContentPart = TextPart | RefusalPart | ThoughtPart;

export interface MessageItem {
  readonly id: string;
  readonly type: 'message';
  readonly status: ItemStatus;
  readonly content: readonly ContentPart[];
}

export interface ReasoningItem {
  readonly id: string;
  readonly type: 'reasoning';
  readonly status: ItemStatus;
  readonly content: readonly ContentPart[];
}

export interface CallItem {
  readonly id: string;
  readonly type: 'function_call';
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  /** JSON text, possibly incomplete. */
  readonly arguments: string;
}

export interface SearchItem {
  readonly id: string;
  readonly type: 'web_search_call';
  readonly status: ItemStatus;
  readonly action: { readonly query: string; readonly sources?: readonly { readonly url: string }[] };
}

export interface CodeItem {
  readonly id: string;
  readonly type: 'code_interpreter_call';
  readonly status: ItemStatus;
  readonly code: string | null;
  readonly outputs:
    | readonly (
        | { readonly type: 'logs'; readonly logs: string }
        | { readonly type: 'image'; readonly url: string }
      )[]
    | null;
}

export type OutputItem = MessageItem | ReasoningItem | CallItem | SearchItem | CodeItem;

export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

export interface ResponseBody {
  readonly id: string;
  readonly status: ResponseStatus;
  readonly model: string;
  readonly store: boolean;
  readonly previous_response_id: string | null;
  readonly output: readonly OutputItem[];
  readonly usage: ResponseUsage | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
}

/** A stream event; its fields depend on its type. */
export interface StreamEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

export interface FunctionOutput {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

/** An item of `input`: created by the form, or typed as JSON. */
export type InputItem = UserMessage | FunctionOutput | Readonly<Record<string, unknown>>;
