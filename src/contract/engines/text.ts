/** What the text family may ask of a language model, whatever runs it. */

import type { Priority, ReadyReport } from './engine.ts';

/** A JSON Schema as a client sent it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface TextRequest {
  /** The whole conversation, oldest first. */
  readonly messages: readonly ChatMessage[];
  /** Functions that the model may call; their names are unique. */
  readonly tools: readonly FunctionTool[];
  /** `required`: at least one call; a name: a call of that tool. Without tools it is `none`. */
  readonly toolChoice: ToolChoice;
  /** Whether one answer may hold several calls. */
  readonly parallelToolCalls: boolean;
  readonly output: OutputFormat;
  readonly sampling: Sampling;
  /** Texts that end the answer; they are not part of it. At most four. */
  readonly stop: readonly string[];
  /** Most tokens of the answer; absent: as many as fit. */
  readonly maxTokens?: number | undefined;
  /** `low`, `high` and the like, for models that think first; others ignore it. */
  readonly reasoningEffort?: string | undefined;
  readonly priority: Priority;
  /** API key for which the work is done: owners take turns (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
}

export type ChatMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly parts: readonly UserPart[] }
  | {
      readonly role: 'assistant';
      readonly text: string | undefined;
      readonly toolCalls: readonly ToolCall[];
    }
  /** What a call gave. */
  | { readonly role: 'tool'; readonly toolCallId: string; readonly text: string };

export type UserPart =
  | { readonly kind: 'text'; readonly text: string }
  /** @property url `https:` or `data:`. */
  | { readonly kind: 'image'; readonly url: string; readonly detail?: string | undefined }
  | { readonly kind: 'audio'; readonly base64: string; readonly format: string }
  | { readonly kind: 'file'; readonly base64: string; readonly filename: string };

/** @property arguments JSON as the model wrote it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface FunctionTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: JsonSchema | undefined;
  /** Whether arguments must be valid against the parameters. */
  readonly strict: boolean;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export type OutputFormat =
  | { readonly kind: 'text' }
  /** Any JSON object. */
  | { readonly kind: 'json' }
  | {
      readonly kind: 'json_schema';
      readonly name: string;
      readonly schema: JsonSchema;
      readonly strict: boolean;
    };

/** Absent means the model's own default. */
export interface Sampling {
  /** 0–2. */
  readonly temperature?: number | undefined;
  /** 0–1. */
  readonly topP?: number | undefined;
  readonly seed?: number | undefined;
  /** -2–2. */
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
}

/** Why an answer ended. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  /** Of the input: those that did not have to be computed again. */
  readonly cached: number;
  /** Of the output: those of thoughts. */
  readonly reasoning: number;
}

/** An answer as it comes. `end` is the last and comes exactly once; a call's arguments follow its `tool_call`. */
export type TextEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'refusal'; readonly text: string }
  /** @property index counts the calls of the answer from 0. */
  | { readonly kind: 'tool_call'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly kind: 'tool_arguments'; readonly index: number; readonly text: string }
  | { readonly kind: 'end'; readonly reason: FinishReason; readonly tokens: TokenUsage };

/** A language model. */
export interface TextEngine {
  /** Tokens that question and answer may have together; undefined when only the engine's server knows. */
  readonly contextTokens: number | undefined;
  /**
   * Answers a conversation, with no more than fits the model or than the engine lets a server say. Not consuming
   * stops the work soon; so does `return()` or an abort, which throws the signal's reason.
   * @throws ServiceError `invalid_request` for what the model cannot take (a part, a schema, a conversation that
   *   is too long: code `context_length_exceeded`), `overloaded` when the queue is full, `rate_limited` when the
   *   owner has taken its share of it, `internal` when the process died, `upstream` when a remote engine failed.
   */
  generate(request: TextRequest, signal: AbortSignal): AsyncIterable<TextEvent>;
  ready(): ReadyReport;
  /** Idempotent; frees processes and sockets. */
  close(): Promise<void>;
}
