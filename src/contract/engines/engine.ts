/** Speech engines: synthesis, transcription and voice activity detection, embedded or upstream. */

import type { Id } from '../core/id.ts';
import type { SpeechCompatibility } from '../core/settings.ts';
import type { Float32Samples } from './audio.ts';
import type { NamedVoice } from './named-voice.ts';
import type { SpokenVoice } from './spoken-voice.ts';

/**
 * Priority class. At each step boundary, steps of a higher class run first: live conversations before HTTP
 * requests before batch lines.
 */
export type Priority = 'realtime' | 'interactive' | 'batch';

/** State of a component, for `/readyz`. */
export interface ReadyReport {
  readonly ready: boolean;
  /** Reason for not being ready, or the backend in use. Contains no private data. */
  readonly detail?: string;
  /** Only of models that are loaded on demand. */
  readonly load?: LoadReport;
}

/** State of a model that is loaded on demand. */
export type LoadState = 'not_loaded' | 'downloading' | 'loading' | 'loaded' | 'failed';

/** Progress of a model that is loaded on demand. */
export interface LoadReport {
  readonly state: LoadState;
  /** Whole percent of the download, while its size is known. */
  readonly percent?: number;
  readonly doneBytes?: number;
  readonly totalBytes?: number;
}

/** An engine whose model may be loaded after the start of the service. */
export interface Loadable {
  /**
   * Starts the download and the load of the model without waiting for them, or retries what failed. No effect while they run
   * and once the model is loaded. Absent for models that are loaded at the start.
   */
  load?(): void;
}

/** The sounds of one or more words of a text. */
export interface GivenSounds {
  /** First and last + 1 UTF-16 unit in the text. */
  readonly start: number;
  readonly end: number;
  /** International Phonetic Alphabet. */
  readonly ipa: string;
}

export interface SynthesisRequest {
  /** Text of one step: a sentence or clause of at most 600 characters (spec 4.3, rule 2). */
  readonly text: string;
  /** A stored voice; absent means the default voice of the engine. */
  readonly voice?: SpokenVoice | undefined;
  /** Instead of a stored voice: the name of a voice of the engine, see {@link TtsEngine.hasVoice}. */
  readonly voiceName?: string | undefined;
  /**
   * Language of the text, as {@link TtsEngine.languageOf} returned it, or as the client wrote it for an engine without that method.
   * Absent: that of the voice.
   */
  readonly language?: string | undefined;
  /**
   * Detected language of the text, of {@link TtsEngine.languages}, if the request names none. Other than `language`, it does not
   * select the default voice of a language. Absent: that of the voice.
   */
  readonly detectedLanguage?: string | undefined;
  /** Words whose sounds are given, in order, without overlaps. Engines that cannot speak phonemes read them as written. */
  readonly givenSounds?: readonly GivenSounds[] | undefined;
  /** How to speak. Engines may ignore it. */
  readonly instructions?: string | undefined;
  /** Speaking rate, 0.25–4; 1 is natural. Engines may ignore it (spec 4.3). */
  readonly speed: number;
  readonly priority: Priority;
  /** API key of the request, for fair scheduling between keys (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
  /**
   * `stream` minimizes the time to the first audio; later windows may grow. `whole` returns all audio at the
   * end, with the most efficient windows.
   */
  readonly delivery: 'stream' | 'whole';
  /**
   * Length of the first audio of a stream in ms, for a lower time to first audio than the default length has. Without effect
   * if the listener has audio of earlier requests. Engines may ignore it, and use their default length if that is shorter.
   */
  readonly firstAudioMs?: number | undefined;
  /**
   * Audio of earlier requests that the listener has not played yet, in ms; absent if there was none. A stream
   * with buffered audio can wait while others start.
   */
  readonly aheadMs?: number | undefined;
  /**
   * Called with the words of the text, in order, in one or several calls: each before the audio that contains the first
   * of its words is yielded. Together the words cover the text. Not called by an engine without timings, and not for a
   * text without sound.
   */
  readonly onWords?: ((words: readonly SpokenWord[]) => void) | undefined;
}

/** When a word is spoken. */
export interface SpokenWord {
  /**
   * The word as in the text, with its punctuation and the white space after it; the first word also has the white space
   * before it. Words without sound belong to the preceding word, or to the following one if there is none. The
   * concatenated words are the text.
   */
  readonly text: string;
  /** Start and end of its sound, in ms from the first sample of the synthesis. Words do not overlap. */
  readonly startMs: number;
  readonly endMs: number;
}

/** The language of a voice. */
export interface VoiceLanguage {
  /** BCP 47 tag. */
  readonly tag: string;
  /** Whether texts without `language` are in this language because the client chose a voice for it, such as `ff_siwis`. */
  readonly isChosen: boolean;
}

/** Text to speech. */
export interface TtsEngine extends Loadable {
  /** Sample rate of {@link synthesize}, in Hz. */
  readonly rateHz: number;
  /** Whose API requests follow: `openai` has all formats of OpenAI's API, and mp3 by default. Absent: the specification. */
  readonly compatibility?: SpeechCompatibility | undefined;
  /** Voices that requests can name. Absent if it has none, or if only an upstream server knows them. */
  readonly voices?: readonly NamedVoice[] | undefined;
  /**
   * Whether the engine may have a voice of this name, which is not a stored voice. Absent if it has none. More names than those
   * of {@link voices} can be accepted: other spellings, and blends.
   */
  hasVoice?(name: string): boolean;
  /** BCP 47 tags of the languages that it speaks. Absent if only an upstream server knows them. */
  readonly languages?: readonly string[] | undefined;
  /** The language of {@link languages} that a BCP 47 tag of any form means: `es` for `ES_mx`. Undefined: none of them. */
  languageOf?(tag: string): string | undefined;
  /**
   * The language of {@link languages} in which {@link synthesize} reads the text of a request. Absent or undefined if only an
   * upstream server knows it.
   */
  textLanguage?(
    request: Pick<SynthesisRequest, 'text' | 'voice' | 'voiceName' | 'language' | 'detectedLanguage'>,
  ): string | undefined;
  /**
   * The language of a voice that requests can name, or of the default voice, which is also that of stored voices. Absent or
   * undefined if it is unknown; the language of texts is then not detected.
   */
  voiceLanguage?(voiceName: string | undefined): VoiceLanguage | undefined;
  /** Why a description of a voice, such as a blend, is not accepted, in one sentence; undefined for a plain name. */
  voiceProblem?(name: string): string | undefined;
  /**
   * Synthesizes one text. Yields mono samples at {@link rateHz} in order, at least one chunk unless the text
   * contains nothing to speak. The arrays belong to the caller. Ending the iteration stops the work at the
   * next step boundary; so does an abort, which throws the signal's reason.
   * @throws ServiceError `overloaded` if the queue is full or the voice is not prepared yet,
   *   `invalid_request` (param `voice`) if the model does not support stored voices, `internal` if a worker
   *   crashed, `upstream` if a remote engine failed; errors of the voice's clip.
   */
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Float32Samples>;
  /**
   * Deletes a stored voice from the upstream server, regardless of the process that uploaded it. Absent if
   * the engine uploads no voices.
   * @throws ServiceError `upstream` or `overloaded` if the server did not delete it.
   */
  deleteVoice?(voice: Id<'tts-vc-voice_'>): Promise<void>;
  ready(): ReadyReport;
  /** Releases workers, sessions and sockets. Idempotent. */
  close(): Promise<void>;
}

/** The transcript that audio has if it ends in its present pause. */
export interface TranscriptPreview {
  readonly text: string;
  /** 0–1: whether the words are a complete sentence. Speech that breaks off has low values. */
  readonly sentenceEnd: number;
}

/** `transcribe` keeps the spoken language, `translate` translates to English. */
export type TranscriptionTask = 'transcribe' | 'translate';

export interface TranscriptionRequest {
  readonly task: TranscriptionTask;
  /** ISO 639-1 code of the spoken language (`en`); absent means automatic detection. */
  readonly language?: string | undefined;
  /**
   * ISO 639-1 codes of the languages that may be detected; absent means every language of the model. Without effect if
   * {@link language} is given.
   */
  readonly languages?: readonly string[] | undefined;
  /** Preceding text, or expected words: a hint for spelling and style. */
  readonly prompt?: string | undefined;
  /** Words and phrases that may occur, in addition to the prompt: a hint for their spelling in the whole audio. */
  readonly keywords?: readonly string[] | undefined;
  /** Whether the tokens of the text are reported with their probabilities. Engines without them report none. */
  readonly textTokens?: boolean | undefined;
  /**
   * Sampling temperature, 0–1. Absent or 0 decodes the most likely text, with the fallbacks of the engine.
   */
  readonly temperature?: number | undefined;
  /** Requested timestamps. `word` includes `segment`. */
  readonly timestamps: 'none' | 'segment' | 'word';
  /**
   * Called after a `pause`, at most once for each, with the transcript if no more audio follows. Not called by an engine
   * that only transcribes complete audio.
   */
  readonly onPreview?: ((preview: TranscriptPreview) => void) | undefined;
  readonly priority: Priority;
  /** API key for which the work is done: owners take turns (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
}

/**
 * Audio to transcribe: mono samples at {@link LISTEN_RATE_HZ}, or `pause`, which marks a possible end of the
 * audio, so that an engine can prepare its final result. The transcript does not depend on the size of the
 * chunks nor on pauses.
 */
export type AudioChunk = Float32Samples | 'pause';

/** A token of a transcript. */
export interface TextToken {
  /** UTF-8 bytes of its text. They may start or end within a character. */
  readonly bytes: readonly number[];
  /** Natural logarithm of its probability, at most 0. */
  readonly logProbability: number;
}

/** New text of a transcript. */
export interface TranscriptDelta {
  readonly text: string;
  /**
   * The tokens that end in this text, if they were requested and the engine reports them. A token that reaches into the
   * next delta belongs to that one.
   */
  readonly tokens?: readonly TextToken[] | undefined;
}

/**
 * Partial text in whole words, then the final transcript. The concatenated deltas are exactly the final text, and their
 * tokens those of the final transcript.
 */
export type TranscriptionEvent =
  | ({ readonly kind: 'delta' } & TranscriptDelta)
  | { readonly kind: 'final'; readonly transcript: Transcript };

export interface Transcript {
  /** Text without leading or trailing spaces; empty if nothing was said. */
  readonly text: string;
  /** ISO 639-1 code of the spoken language, given or detected; undefined if the engine does not report it. */
  readonly language: string | undefined;
  /** Length of the audio, in seconds. */
  readonly durationS: number;
  /** Input tokens of audio and prompt. */
  readonly inputTokens: { readonly audio: number; readonly text: number };
  readonly outputTokens: number;
  /** In order and inside the audio; empty if no timestamps were requested. */
  readonly segments: readonly TranscriptSegment[];
  /** In order, not overlapping, inside the audio; empty unless `word` timestamps were requested. */
  readonly words: readonly TranscriptWord[];
  /** Tokens whose bytes together are the text, if they were requested; undefined if the engine does not report them. */
  readonly tokens?: readonly TextToken[] | undefined;
}

export interface TranscriptSegment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  readonly tokens: readonly number[];
  readonly temperature: number;
  /** Mean natural logarithm of the token probabilities. */
  readonly averageLogProbability: number;
  /** Size of the text divided by its compressed size; above 2.4 the text repeats itself. */
  readonly compressionRatio: number;
  /** Probability that the segment contains no speech. */
  readonly noSpeechProbability: number;
}

export interface TranscriptWord {
  readonly word: string;
  readonly startS: number;
  readonly endS: number;
}

/** Speech to text. */
export interface SttEngine extends Loadable {
  /** Supported values of `language`, ISO 639-1 codes; undefined if only the upstream server knows them. */
  readonly languages: readonly string[] | undefined;
  /** Whether {@link TranscriptionRequest.onPreview} is called during pauses. */
  readonly hasPreviews: boolean;
  /**
   * Transcribes audio that may still be arriving, and pulls no more of it than it can process. `final` is
   * last and occurs exactly once. Ending the iteration stops the work soon; so does an abort, which throws
   * the signal's reason.
   * @throws ServiceError `invalid_request` for an unsupported language or task, `payload_too_large` for audio
   *   that is longer than a remote engine accepts, `overloaded` if the queue is full, `internal` if a worker
   *   crashed, `upstream` if a remote engine failed; errors of `audio`.
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

/** Turn detection (spec 4.7, rule 6). Durations are 0–5000 ms (spec 8). */
export interface VadSettings {
  /** Speech probability threshold, 0–1. */
  readonly threshold: number;
  /** Audio before the onset that is included in the turn. */
  readonly prefixPaddingMs: number;
  /** Silence that ends a turn, in ms. */
  readonly silenceDurationMs: number;
  /** Shorter speech does not start a turn. */
  readonly minSpeechDurationMs: number;
}

/**
 * Defaults for clean speech in a room. Prefix and silence are those of the specification; clicks and coughs
 * are shorter than 100 ms.
 */
export const DEFAULT_VAD_SETTINGS: VadSettings = {
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceDurationMs: 500,
  minSpeechDurationMs: 100,
};

/**
 * Detected event. Positions count samples from the start of the stream, at the stream's rate. A turn is
 * `started`, then any number of `paused` and `resumed` pairs, then `stopped`.
 */
export type VadEvent =
  /**
   * Speech has lasted for the minimum duration. It started at `onsetSample`; including the prefix, at
   * `startSample`.
   */
  | { readonly kind: 'started'; readonly onsetSample: number; readonly startSample: number }
  /** Speech may have ended at `endSample`; reported long before the silence is long enough to be certain. */
  | { readonly kind: 'paused'; readonly endSample: number }
  /** Speech continued. */
  | { readonly kind: 'resumed' }
  /** The silence was long enough; speech ended at `endSample` of the last `paused`. */
  | { readonly kind: 'stopped'; readonly endSample: number };

/** Voice activity of one stream of audio. */
export interface VadStream {
  /**
   * Adds mono samples. Resolves, in the order of the calls, with the events that became certain. Events do
   * not depend on the size of the chunks nor on other streams. The array must not be modified before it
   * resolves.
   * @throws ServiceError `overloaded` if too much audio is queued, `internal` if the worker crashed, which
   *   ends the stream.
   */
  write(samples: Float32Samples): Promise<readonly VadEvent[]>;
  /** Ends the audio: processes the rest as if silence followed, and stops an open turn. */
  end(): Promise<readonly VadEvent[]>;
  /** Releases the stream; pending calls resolve without events. Idempotent. */
  close(): void;
}

/** Voice activity detection. */
export interface VadEngine {
  /**
   * Opens a stream.
   * @param rateHz {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}.
   * @throws RangeError for a setting or a rate out of range; ServiceError `overloaded` once closed.
   */
  openStream(settings: VadSettings, rateHz: number): VadStream;
  ready(): ReadyReport;
  /** Closes the engine; open streams fail. Idempotent. */
  close(): Promise<void>;
}
