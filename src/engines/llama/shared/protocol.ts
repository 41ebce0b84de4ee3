/** IPC messages between the engine of a language model and its worker. A response is identified by a number (`answer`). */

import type { OrtProvider } from '../../../contract/core/settings.ts';
import type { Conversation } from './prompt.ts';
import type { ToolCallSyntax } from './tool-call-syntax.ts';

export interface LoadLlama {
  /** Path of a GGUF file. */
  readonly model: string;
  readonly provider: OrtProvider;
  readonly slots: number;
  /** Context length of one slot. */
  readonly contextTokens: number;
  readonly threads: number;
  /** Jinja template that replaces the template of the model file. */
  readonly chatTemplate: string | undefined;
  /** Whether to run at the lowest CPU priority. */
  readonly lowPriority: boolean;
}

export interface LoadedLlama {
  /** Context length for prompt and response: the configured one, or the model's maximum if it is less. */
  readonly contextTokens: number;
  /** Tool call syntax of the chat template; undefined if it does not support tools. */
  readonly toolCallSyntax: ToolCallSyntax | undefined;
  /** Prompt processing time of one token in ms. */
  readonly tokenMs: number;
}

/** Sampling parameters of a response. */
export interface LlamaSampling {
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly seed: number | undefined;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  /** GBNF that constrains the response. */
  readonly grammar: string | undefined;
  /** GBNF with which a truncated response is completed by the shortest possible end. */
  readonly ending: string | undefined;
  readonly stop: readonly string[];
}

export type LlamaCommand =
  /** Reply: `measured` or `unsupported`. */
  | { readonly kind: 'measure'; readonly answer: number; readonly conversation: Conversation }
  /** Replies: any number of `said`, then `ended`, `failed` or `unsupported`. */
  | {
      readonly kind: 'begin';
      readonly answer: number;
      readonly conversation: Conversation;
      readonly sampling: LlamaSampling;
    }
  /** Completes a response early. Reply: `ended`, unless it has already ended. */
  | { readonly kind: 'enough'; readonly answer: number }
  /** Cancels a response. Reply: `forgotten`. */
  | { readonly kind: 'forget'; readonly answer: number };

export type LlamaReply =
  /** Number of tokens of a conversation. */
  | { readonly kind: 'measured'; readonly answer: number; readonly tokens: number }
  /** The chat template does not support these messages. */
  | { readonly kind: 'unsupported'; readonly answer: number }
  /** A piece of the response, in complete characters. */
  | { readonly kind: 'said'; readonly answer: number; readonly text: string }
  | ({ readonly kind: 'ended'; readonly answer: number } & LlamaEnd)
  /** The response is cancelled, and the model has completed a step since then. */
  | { readonly kind: 'forgotten'; readonly answer: number }
  /** llama.cpp failed. */
  | { readonly kind: 'failed'; readonly answer: number };

export interface LlamaEnd {
  /** False if the response was truncated at its token limit. */
  readonly complete: boolean;
  /** Tokens of the prompt, of its cached part, and of the response. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}
