/** What a feature may ask of a model, whatever runs it: a local ONNX graph or an upstream server. */

import type { Id } from '../core/id.ts';
import type { Float32Samples } from './audio.ts';
import type { SpokenVoice } from './spoken-voice.ts';

/**
 * Who waits for the result. Passes of a higher class run before those of a lower one, at every pass
 * boundary: a live conversation before an HTTP request before a batch line.
 */
export type Priority = 'realtime' | 'interactive' | 'batch';

/** State of a part of the service, for `/readyz`. */
export interface ReadyReport {
  readonly ready: boolean;
  /** Why it is not ready, or what it runs on; free of private content. */
  readonly detail?: string;
}

export interface SynthesisRequest {
  /** Text of one pass: a sentence or a clause of at most 600 characters (spec 4.3, rule 2). */
  readonly text: string;
  /** A stored voice; absent means the engine's configured default. */
  readonly voice?: SpokenVoice | undefined;
  /** 0.25–4, 1 is natural; a hint that an engine may ignore (spec 4.3). */
  readonly speed: number;
  readonly priority: Priority;
  /** API key for which the work is done: owners take turns (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
  /**
   * `stream`: the first audio is wanted as soon as it can be had, later windows may grow.
   * `whole`: nothing is heard before the end, so the engine takes its most efficient windows.
   */
  readonly delivery: 'stream' | 'whole';
  /**
   * Audio that this listener still has to hear from earlier requests, in ms; absent means that nothing came
   * before. A stream that is ahead can wait while others begin.
   */
  readonly aheadMs?: number | undefined;
}

/** Text to speech. */
export interface TtsEngine {
  /** Rate of the samples that {@link synthesize} yields, in Hz. */
  readonly rateHz: number;
  /**
   * Speaks one text. Yields mono samples at {@link rateHz} in order, at least one run unless the text
   * holds nothing that can be spoken. The arrays belong to the caller. Not consuming stops the work at
   * the next pass boundary; so does `return()` or an abort, which throws the signal's reason.
   * @throws ServiceError `overloaded` when the queue is full or the voice is not prepared yet, `invalid_request` (param
   *   `voice`) when the model takes no stored voices, `internal` when a worker died, `upstream` when a remote engine
   *   failed; what the voice's clip throws.
   */
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Float32Samples>;
  /**
   * Has a server delete what it was given of a stored voice, whichever process gave it. Absent: the engine gives
   * nothing away that is kept.
   * @throws ServiceError `upstream` or `overloaded` when the server did not do it.
   */
  deleteVoice?(voice: Id<'voice'>): Promise<void>;
  ready(): ReadyReport;
  /** Idempotent; frees workers, sessions and sockets. */
  close(): Promise<void>;
}

/** `transcribe` writes the words that were said, `translate` their meaning in English. */
export type TranscriptionTask = 'transcribe' | 'translate';

export interface TranscriptionRequest {
  readonly task: TranscriptionTask;
  /** ISO 639-1 code of the spoken language (`en`); absent means that the engine detects it. */
  readonly language?: string | undefined;
  /** Earlier text of the same speaker, or words to expect: a hint for spelling and style. */
  readonly prompt?: string | undefined;
  /** 0–1. Absent or 0: the likeliest words, with the engine's own fallbacks; above: sampled at this temperature. */
  readonly temperature?: number | undefined;
  /** What times are wanted. `word` includes `segment`. */
  readonly timestamps: 'none' | 'segment' | 'word';
  readonly priority: Priority;
  /** API key for which the work is done: owners take turns (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
}

/**
 * A piece of the audio to transcribe: mono samples at {@link LISTEN_RATE_HZ}, or a `pause`, which says that
 * the audio so far may be all. An engine may use a pause to prepare the end. The transcript never depends on
 * how the audio was cut into pieces, nor on pauses.
 */
export type AudioChunk = Float32Samples | 'pause';

/** Text as it is decoded, in whole words, then the whole. The deltas together are exactly the final text. */
export type TranscriptionEvent =
  | { readonly kind: 'delta'; readonly text: string }
  | { readonly kind: 'final'; readonly transcript: Transcript };

export interface Transcript {
  /** Without spaces at either end; empty when nothing was said. */
  readonly text: string;
  /** ISO 639-1 code of the spoken language, given or detected; undefined when the engine does not tell. */
  readonly language: string | undefined;
  /** Length of the audio. */
  readonly durationS: number;
  /** Tokens of audio and prompt that went in, and of text that came out. */
  readonly inputTokens: { readonly audio: number; readonly text: number };
  readonly outputTokens: number;
  /** In order and inside the audio; empty when no times were asked for. */
  readonly segments: readonly TranscriptSegment[];
  /** In order, not overlapping, inside the audio; empty unless `word` times were asked for. */
  readonly words: readonly TranscriptWord[];
}

export interface TranscriptSegment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  readonly tokens: readonly number[];
  readonly temperature: number;
  /** Mean natural logarithm of the tokens' probabilities. */
  readonly averageLogProbability: number;
  /** Bytes of the text over bytes of it compressed; above 2.4 it repeats itself. */
  readonly compressionRatio: number;
  /** Probability that nothing was said. */
  readonly noSpeechProbability: number;
}

export interface TranscriptWord {
  readonly word: string;
  readonly startS: number;
  readonly endS: number;
}

/** Speech to text. */
export interface SttEngine {
  /** ISO 639-1 codes that `language` may name; undefined when only the engine's server knows. */
  readonly languages: readonly string[] | undefined;
  /**
   * Transcribes audio that may still be arriving, pulling no more of it than it can work on. The `final`
   * comes last and exactly once. Not consuming stops the work soon; so does `return()` or an abort, which
   * throws the signal's reason.
   * @throws ServiceError `invalid_request` for a language or a task that the model lacks, `payload_too_large`
   *   for audio that is longer than a remote engine takes, `overloaded` when the queue is full, `internal` when
   *   a worker died, `upstream` when a remote engine failed; what `audio` throws.
   */
  transcribe(
    audio: AsyncIterable<AudioChunk>,
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptionEvent>;
  ready(): ReadyReport;
  /** Idempotent; frees workers, sessions and sockets. */
  close(): Promise<void>;
}

/** How voice activity becomes turns (spec 4.7, rule 6). Durations are 0–5000 ms (spec 8). */
export interface VadSettings {
  /** 0–1: how sure the detector must be. */
  readonly threshold: number;
  /** Audio before the onset that belongs to the turn. */
  readonly prefixPaddingMs: number;
  /** Silence that ends a turn. */
  readonly silenceDurationMs: number;
  /** Speech shorter than this starts no turn. */
  readonly minSpeechDurationMs: number;
}

/** For clean speech in a room. Prefix and silence are the specification's; a click or a cough is shorter than 100 ms. */
export const DEFAULT_VAD_SETTINGS: VadSettings = {
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceDurationMs: 500,
  minSpeechDurationMs: 100,
};

/**
 * What the detector found. Positions count samples of the stream from its first one, at the stream's rate.
 * A turn is `started`, any number of `paused` and `resumed` in turn, `stopped`.
 */
export type VadEvent =
  /** Speech has gone on for the least duration. It began at `onsetSample`; with its prefix, at `startSample`. */
  | { readonly kind: 'started'; readonly onsetSample: number; readonly startSample: number }
  /** Speech may have ended at `endSample`; known long before the silence is long enough to be sure. */
  | { readonly kind: 'paused'; readonly endSample: number }
  /** It had not ended. */
  | { readonly kind: 'resumed' }
  /** The silence has lasted; the speech ended at `endSample`, that of the last `paused`. */
  | { readonly kind: 'stopped'; readonly endSample: number };

/** Voice activity of one stream of audio. */
export interface VadStream {
  /**
   * Adds mono samples and resolves, in the order of the calls, with what is certain by then and was not
   * before. The events do not depend on how the audio was cut into calls, nor on other streams. The array
   * must not be changed before that.
   * @throws ServiceError `overloaded` when more audio waits than may, `internal` when the worker died: the
   *   stream is then over.
   */
  write(samples: Float32Samples): Promise<readonly VadEvent[]>;
  /** No more audio: judges what is left as if silence followed, and stops an open turn. */
  end(): Promise<readonly VadEvent[]>;
  /** Frees the stream; calls that wait resolve with no events. Idempotent. */
  close(): void;
}

/** Voice activity detection. */
export interface VadEngine {
  /**
   * @param rateHz {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}.
   * @throws RangeError for a setting or a rate that is out of its range; ServiceError `overloaded` once closed.
   */
  openStream(settings: VadSettings, rateHz: number): VadStream;
  ready(): ReadyReport;
  /** Idempotent; open streams fail. */
  close(): Promise<void>;
}
