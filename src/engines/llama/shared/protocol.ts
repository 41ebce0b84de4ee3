/** Messages between the engine of a language model and its process. An answer is known by a number. */

import type { OrtProvider } from '../../../contract/core/settings.ts';
import type { Conversation } from './prompt.ts';
import type { CallWords } from './tool-call-syntax.ts';

export interface LoadLlama {
  /** Path of a GGUF file. */
  readonly model: string;
  readonly provider: OrtProvider;
  readonly slots: number;
  /** Of one slot. */
  readonly contextTokens: number;
  readonly threads: number;
  /** Jinja template in the place of the file's own. */
  readonly chatTemplate: string | undefined;
  /** Whether it leaves the cores to all others. */
  readonly nice: boolean;
}

export interface LoadedLlama {
  /** Tokens that question and answer may have together: as asked, or fewer when the model knows no more. */
  readonly contextTokens: number;
  /** Words of the template for calls; absent: it shows no tools. */
  readonly callWords: CallWords | undefined;
  /** How long it took to read a token. */
  readonly tokenMs: number;
}

/** How the tokens of an answer are chosen. */
export interface LlamaSampling {
  readonly maxTokens: number;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly seed: number | undefined;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  /** GBNF that the answer keeps to. */
  readonly grammar: string | undefined;
  /** GBNF of which an answer that is cut gets the shortest end that makes a whole of it. */
  readonly ending: string | undefined;
  readonly stop: readonly string[];
}

export type ToLlama =
  /** Answered by `measured` or `refused`. */
  | { readonly kind: 'measure'; readonly answer: number; readonly conversation: Conversation }
  /** Answered by any number of `said` and one `ended` or `refused`. */
  | {
      readonly kind: 'begin';
      readonly answer: number;
      readonly conversation: Conversation;
      readonly sampling: LlamaSampling;
    }
  /** Ends an answer here; answered by `ended` unless it had ended. */
  | { readonly kind: 'enough'; readonly answer: number }
  /** Ends an answer for which nobody waits. Answered by `forgotten`. */
  | { readonly kind: 'forget'; readonly answer: number };

export type FromLlama =
  /** How many tokens a conversation has. */
  | { readonly kind: 'measured'; readonly answer: number; readonly tokens: number }
  /** The model's template cannot take these messages. */
  | { readonly kind: 'refused'; readonly answer: number }
  /** Whole characters. */
  | { readonly kind: 'said'; readonly answer: number; readonly text: string }
  | ({ readonly kind: 'ended'; readonly answer: number } & LlamaEnd)
  /** Nothing of it goes on, and the model has computed something since it was told so. */
  | { readonly kind: 'forgotten'; readonly answer: number }
  /** The library gave up on it. */
  | { readonly kind: 'failed'; readonly answer: number };

export interface LlamaEnd {
  /** Whether it ended by itself, at a stop text or at `enough`, not at its limit. */
  readonly complete: boolean;
  /** Of the question, those that were known from before, and of the answer. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}
