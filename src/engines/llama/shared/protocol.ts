/** IPC messages between the engine of a language model and its worker. A number identifies a response. */

import type { OrtProvider } from '../../../contract/core/settings.ts';
import type { TextEvent } from '../../../contract/engines/text.ts';
import type { AudioLoadLevel } from '../../../inference/audio-load.ts';
import type { Conversation } from './conversation.ts';
import type { TokenBounds, TokenCount } from './token-bounds.ts';
import type { ToolCallSyntax } from './tool-call-syntax.ts';

export interface LoadLlama {
  /** Path of a GGUF file. */
  readonly model: string;
  readonly provider: OrtProvider;
  /** Number of concurrent responses. */
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
  readonly tokenBounds: TokenBounds;
  /** `cpu` instead of the configured `cuda` if the GPUs cannot run llama.cpp. */
  readonly provider: OrtProvider;
  /** In this case, the reason as a sentence. */
  readonly providerProblem: string | undefined;
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
}

/** How the output is converted to events. */
export interface ResponseFormat {
  /** `text_or_calls`: tool calls if the output starts like one, otherwise text. */
  readonly kind: 'text' | 'calls' | 'text_or_calls';
  readonly syntax: ToolCallSyntax;
  /** Other syntaxes of calls, by which a response is one only if it names one of these tools. */
  readonly bareCalls: readonly ToolCallSyntax[];
  readonly toolNames: readonly string[];
  /** Stop sequences of text. */
  readonly stop: readonly string[];
}

export type LlamaCommand =
  /** Converts a conversation to tokens. Reply: `tokenized`, `too_long` or `unsupported`. */
  | { readonly kind: 'tokenize'; readonly id: number; readonly conversation: Conversation }
  /**
   * Generates the response to a prompt. Replies: any number of `events`, then `finished` or `failed`.
   * @property rank priority; lower ranks are served first.
   * @property scope only responses of one scope share cached prompts.
   */
  | {
      readonly kind: 'generate';
      readonly id: number;
      readonly prompt: Uint32Array;
      readonly rank: number;
      readonly scope: string;
      readonly sampling: LlamaSampling;
      readonly format: ResponseFormat;
    }
  /** Cancels a response. Reply: `cancelled`, unless the response has ended. */
  | { readonly kind: 'cancel'; readonly id: number }
  /** What audio inference needs of the cores. No reply. */
  | { readonly kind: 'audio_load'; readonly level: AudioLoadLevel };

export type LlamaReply =
  | {
      readonly kind: 'tokenized';
      readonly id: number;
      readonly prompt: Uint32Array;
    }
  /** The conversation does not fit into the context. */
  | {
      readonly kind: 'too_long';
      readonly id: number;
      readonly inputTokens: TokenCount;
    }
  /** The chat template does not support these messages. */
  | { readonly kind: 'unsupported'; readonly id: number }
  | { readonly kind: 'events'; readonly id: number; readonly events: readonly TextEvent[] }
  /** @property events the rest of the response and its end. */
  | { readonly kind: 'finished'; readonly id: number; readonly events: readonly TextEvent[] }
  /** The response is cancelled, and the model has completed the step that was running. */
  | { readonly kind: 'cancelled'; readonly id: number }
  /** llama.cpp failed. */
  | { readonly kind: 'failed'; readonly id: number };
