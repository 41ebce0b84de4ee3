/** Settings of models, engines and storage, as the engines expect them. Parsed by src/config/config.ts. */

import type { Secret } from './secret.ts';

/** Where ONNX graphs run (`ORT_PROVIDER`). */
export type OrtProvider = 'cpu' | 'cuda';

/** Settings of the worker pool that runs all embedded models. */
export interface InferenceSettings {
  readonly provider: OrtProvider;
  /** Number of inference processes. Each loads every model. */
  readonly workers: number;
  /** Threads per ONNX session. */
  readonly threads: number;
  /**
   * Maximum number of queued and running requests per priority; further requests are rejected with
   * `overloaded`.
   */
  readonly queueLimit: number;
  /** Environment variables of the processes: what libraries require, without keys. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Whose API the requests to a speech model follow, if not the specification of this service. `openai`: all formats of OpenAI's
 * API, and mp3 by default.
 */
export type SpeechCompatibility = 'openai';

/** Ids of the speech models that speak a language instead of a model, by BCP 47 tag. */
export type MappedLanguages = ReadonlyMap<string, string>;

/** A model that runs in the local inference processes, and its default voice. */
export interface EmbeddedTtsSettings {
  readonly kind: 'kokoro' | 'piper';
  /**
   * Of Piper: the voice of the model catalog, a name of the repository `rhasspy/piper-voices` such as `de_DE-thorsten-medium`,
   * or the absolute path of a file `.onnx`.
   */
  readonly voice: string;
  /** Name of the default speaker of a Piper voice with several. */
  readonly speaker?: string | undefined;
  readonly languages?: MappedLanguages | undefined;
  /** Whether requests can name the voices of the model in addition to stored voices. */
  readonly voices?: 'presets' | undefined;
  readonly compatibility?: SpeechCompatibility | undefined;
}

/** A model of an upstream server with an OpenAI-compatible `/v1/audio/speech`. */
export interface UpstreamTtsSettings {
  readonly kind: 'upstream';
  /** Up to and including `/v1`, without a slash at the end. */
  readonly baseUrl: string;
  /** Absent when the upstream asks for none. */
  readonly apiKey: Secret | undefined;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly voice: string | undefined;
  /**
   * How stored voices are sent: `register` uploads the clip once under the voice id, `inline` sends it with
   * each request, `none` (default) never sends it.
   */
  readonly voices: 'register' | 'inline' | 'none';
  /** Sample rate of the raw PCM that the upstream returns, in Hz. */
  readonly rateHz: number;
  readonly languages?: MappedLanguages | undefined;
  readonly compatibility?: SpeechCompatibility | undefined;
}

export type TtsModelSettings = EmbeddedTtsSettings | UpstreamTtsSettings;

/** Model ids that clients send, in the order of CONFIG. */
export type TtsModels = ReadonlyMap<string, TtsModelSettings>;

/** A transcription model that runs in the local inference processes. */
export interface EmbeddedSttSettings {
  readonly kind: 'whisper';
  /**
   * Weights: `base` (multilingual), `tiny.en` (English only, smaller), another name of faster-whisper such as
   * `large-v3-turbo`, `hf:owner/repository` with a CTranslate2 checkpoint, or the absolute path of a folder with a
   * CTranslate2 checkpoint or an ONNX export.
   */
  readonly weights: string;
}

/**
 * A transcription model of an upstream server with `/v1/audio/transcriptions` and `/v1/audio/translations`.
 */
export type UpstreamSttSettings = UpstreamModelSettings;

export type SttModelSettings = EmbeddedSttSettings | UpstreamSttSettings;

/** Model ids that clients send, in the order of CONFIG. */
export type SttModels = ReadonlyMap<string, SttModelSettings>;

/** A language model that runs in its own local process. */
export interface EmbeddedTextSettings {
  readonly kind: 'llama';
  /** A name of the model catalog, `hf:owner/repository/file.gguf`, or the absolute path of a GGUF file. */
  readonly weights: string;
  /** Number of responses generated concurrently; each has its own share of the context. */
  readonly slots: number;
  /** Tokens of prompt and response together. */
  readonly contextTokens: number;
  /** Maximum number of output tokens of a request that does not limit them. */
  readonly defaultMaxTokens: number;
}

/**
 * Vocabulary of the token ids in requests: that of OpenAI's embedding models, whose ids clients such as LangChain send for any
 * model, or that of the model itself.
 */
export type TokenVocabulary = 'cl100k_base' | 'model';

/** An embedding model that runs in the local inference processes. */
export interface EmbeddedEmbedSettings {
  readonly kind: 'minilm';
  /** Default: `cl100k_base`. */
  readonly tokenIds?: TokenVocabulary | undefined;
}

/** A model of an upstream server with an OpenAI-compatible API. */
export interface UpstreamModelSettings {
  readonly kind: 'upstream';
  /** Up to and including `/v1`, without a slash at the end. */
  readonly baseUrl: string;
  /** Absent when the upstream asks for none. */
  readonly apiKey: Secret | undefined;
  /** The upstream's own name of the model. */
  readonly model: string;
}

/** A language model of an upstream server with `/v1/chat/completions`. */
export interface UpstreamTextSettings extends UpstreamModelSettings {
  /**
   * Context window in tokens, prompt and response together, if CONFIG sets it; the upstream API does not
   * report it.
   */
  readonly contextTokens?: number | undefined;
  /** URLs of images that are sent to the server: only those of hosts on the public internet (default), or any. */
  readonly imageUrls?: ImageUrls | undefined;
}

export type ImageUrls = 'public' | 'any';

/** An embedding model of an upstream server with `/v1/embeddings`. */
export interface UpstreamEmbedSettings extends UpstreamModelSettings {
  /** Default: `cl100k_base`. */
  readonly tokenIds?: TokenVocabulary | undefined;
}

export type TextModelSettings = EmbeddedTextSettings | UpstreamTextSettings;
export type TextModels = ReadonlyMap<string, TextModelSettings>;
export type EmbedModelSettings = EmbeddedEmbedSettings | UpstreamEmbedSettings;
export type EmbedModels = ReadonlyMap<string, EmbedModelSettings>;

/** Built-in model that extrapolates the motion and sound of a clip; needs no weights. */
export interface EmbeddedVideoSettings {
  readonly kind: 'continuation';
}

/** A video model of an upstream server with `/v1/videos`. */
export interface UpstreamVideoSettings extends UpstreamModelSettings {
  /** Length of the end of the clip that is sent, in seconds; 0 sends only the last frame, as an image. */
  readonly tailSeconds: number;
  /** Number of frames at the start of the result that repeat the input clip and are removed. */
  readonly contextFrames: number;
  /** Whether its segments have sound. */
  readonly audio: boolean;
  /** Additional request fields, with the names that the upstream expects. */
  readonly fields: Readonly<Record<string, string>>;
}

export type VideoModelSettings = EmbeddedVideoSettings | UpstreamVideoSettings;
export type VideoModels = ReadonlyMap<string, VideoModelSettings>;

/** A spoken conversation, composed of other models. */
export interface ConversationModelSettings {
  /** Model ids of the transcription, of the language model and of the speech. */
  readonly stt: string;
  readonly llm: string;
  readonly tts: string;
  /** Whether a faster speech model replaces `tts` on a machine where `tts` cannot sustain real time. */
  readonly choosesSpeech: boolean;
  /** Instructions of sessions that set none. */
  readonly instructions: string;
  /** Id of a stored voice, or name of a voice of the speech model; undefined: its default voice. */
  readonly voice: string | undefined;
  /** Turn detection of sessions that set none. */
  readonly turnDetection: 'semantic_vad' | 'server_vad' | 'none';
  /** Whether coughs, noise, echo and back-channels do not interrupt the assistant. */
  readonly guardsInterruptions: boolean;
  /** Whether a reply may start before the turn has certainly ended. It is discarded, unbilled, if the user continues. */
  readonly preparesReplies: boolean;
  /** ISO 639-1 code of the language of the user; undefined: detected. */
  readonly language: string | undefined;
  /** 0–2; undefined: the default of the language model. */
  readonly temperature: number | undefined;
  /** Maximum output tokens of a response; undefined: the default of the language model. */
  readonly maxOutputTokens: number | undefined;
  /** For reasoning models of upstream servers; undefined: not sent. */
  readonly reasoningEffort: string | undefined;
  /** Spoken when a reply fails; undefined: nothing. */
  readonly fallbackMessage: string | undefined;
  /** Maximum duration of a session. */
  readonly maxSessionS: number;
  /** Maximum number of concurrent sessions per organization. */
  readonly sessionsPerOrganization: number;
  /** Maximum length of the output of a function. */
  readonly maxToolOutputCharacters: number;
}

export type ConversationModels = ReadonlyMap<string, ConversationModelSettings>;

/** Configured models by task. */
export interface ConfiguredModels {
  readonly tts: TtsModels;
  readonly stt: SttModels;
  readonly text: TextModels;
  readonly embed: EmbedModels;
}

/** Settings of the code interpreter, which runs programs written by models. */
export interface CodeInterpreterSettings {
  /** Maximum number of interpreters that run concurrently, one per response. */
  readonly maxConcurrent: number;
  /** Time limit per program, in wall-clock ms. */
  readonly timeMs: number;
  /** Memory limit per program. */
  readonly heapBytes: number;
}

/** A SearXNG server. */
export interface WebSearchSettings {
  /** Base URL, before `/search`, without a trailing slash. */
  readonly url: string;
  /** Absent if the server requires no key. */
  readonly apiKey: Secret | undefined;
  readonly timeoutMs: number;
  /** Maximum number of pages per search. */
  readonly maxResults: number;
}

/** Database (`DATABASE_URL`; default: an SQLite file under `DATA_DIR`). */
export type DatabaseSettings = SqliteSettings | PostgresSettings;

export interface SqliteSettings {
  readonly kind: 'sqlite';
  readonly path: string;
}

export interface PostgresSettings {
  readonly kind: 'postgres';
  /** Host name, IP address, or the absolute path of the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: Secret | undefined;
  readonly database: string;
  /** TLS settings; undefined disables TLS. */
  readonly tls: PostgresTls | undefined;
  /** Maximum number of connections of this process. */
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

/** Names as in libpq. Files are PEM. */
export interface PostgresTls {
  /**
   * `require` encrypts; `verify-ca` also verifies the certificate authority; `verify-full` also verifies the
   * host name.
   */
  readonly mode: 'require' | 'verify-ca' | 'verify-full';
  readonly rootCertFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** Blob storage (`S3_…`; default: a folder under `DATA_DIR`). */
export type BlobSettings = DiskBlobSettings | S3BlobSettings;

export interface DiskBlobSettings {
  readonly kind: 'disk';
  /** An absolute path. */
  readonly folder: string;
}

/** A bucket, used only by this service, on an S3-compatible server. */
export interface S3BlobSettings {
  readonly kind: 's3';
  /** Without a trailing slash. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

/** Trace export (`OTEL_…`). */
export interface TracingSettings {
  /** OTLP/HTTP endpoint of the collector, `…/v1/traces`. */
  readonly url: string;
  readonly headers: ReadonlyMap<string, Secret>;
  readonly serviceName: string;
  /** Trace sampling ratio, 0–1. */
  readonly ratio: number;
}
