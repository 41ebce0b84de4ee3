/** Settings of a conversation. Immutable; an update replaces them. */

import type { VadSettings } from '../contract/engines/engine.ts';
import type { FunctionTool, ToolChoice } from '../contract/engines/text.ts';
import type { AudioFormat } from '../listen/audio-format.ts';
import type { TranscriptionParams } from '../listen/turn.ts';

/** Maximum size of the audio between commits (spec 8), and of the committed audio that is not transcribed yet. */
export const MAX_BUFFERED_BYTES = 25 * 1024 * 1024;

/** How soon a pause ends a turn. */
export type Eagerness = 'low' | 'medium' | 'high' | 'auto';

/** Longest pause inside a turn in ms, by eagerness (conversation.md). */
export const MAX_PAUSE_MS: Readonly<Record<Eagerness, number>> = {
  low: 8_000,
  medium: 4_000,
  high: 2_000,
  auto: 4_000,
};

interface TurnReactions {
  /** Whether a turn is answered automatically. */
  readonly createResponse: boolean;
  /** Whether speech of the user cancels a response. */
  readonly interruptResponse: boolean;
}

/** Detection of turns by voice activity, and for `semantic_vad` by an end-of-turn model. */
export type TurnDetection = TurnReactions &
  (
    | {
        readonly type: 'server_vad';
        readonly vad: VadSettings;
        /** Time without speech after a response until the model speaks again; undefined: never. */
        readonly idleTimeoutMs: number | undefined;
      }
    | { readonly type: 'semantic_vad'; readonly eagerness: Eagerness; readonly vad: VadSettings }
  );

/** Removal of old items from a prompt that exceeds the context of the model. */
export type Truncation =
  | { readonly kind: 'disabled' }
  /** @property retentionRatio share of the limit that remains. @property maxTokens of the items; undefined: the context. */
  | {
      readonly kind: 'oldest_first';
      readonly retentionRatio: number;
      readonly maxTokens: number | undefined;
    };

export type OutputModality = 'audio' | 'text';

/** Settings that a `response.create` can replace for one response. */
export interface ResponseSettings {
  readonly modality: OutputModality;
  readonly instructions: string;
  readonly tools: readonly FunctionTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  /** Undefined: the default of the model. */
  readonly maxOutputTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly reasoningEffort: string | undefined;
  readonly outputFormat: AudioFormat;
  /** Id of a stored voice; undefined: the voice of the model. */
  readonly voice: string | undefined;
  /** Speaking rate; 1 is natural. */
  readonly speed: number;
  /** Undefined: the language of the voice. */
  readonly language: ReplyLanguage | undefined;
}

/** Language in which replies are spoken. */
export interface ReplyLanguage {
  /** BCP 47. */
  readonly tag: string;
  /** `transcription`: the language of the user, which is used if the speech model speaks it. */
  readonly source: 'session' | 'transcription';
}

export interface ConversationSettings extends ResponseSettings {
  readonly inputFormat: AudioFormat;
  /** Undefined: the client commits turns. */
  readonly turnDetection: TurnDetection | undefined;
  readonly transcription: Pick<TranscriptionParams, 'language' | 'languages' | 'prompt' | 'keywords'>;
  readonly truncation: Truncation;
  /** Whether the events of transcripts report log probabilities. */
  readonly includesLogprobs: boolean;
  /** Whether the end of a response reports the times of its turn. */
  readonly includesTiming: boolean;
}
