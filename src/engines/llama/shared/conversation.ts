/** A conversation as chat templates expect it. */

/** A message in OpenAI's format, which chat templates expect. */
export interface ChatTemplateMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly tool_calls?: readonly ChatTemplateCall[];
  readonly tool_call_id?: string;
}

export interface ChatTemplateCall {
  readonly id: string;
  readonly type: 'function';
  /** @property arguments JSON. */
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatTemplateTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** Arguments of the chat template. */
export interface Conversation {
  readonly messages: readonly ChatTemplateMessage[];
  readonly tools: readonly ChatTemplateTool[];
}
