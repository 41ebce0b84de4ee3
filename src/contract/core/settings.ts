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

/** What the settings of all kinds of models have. Each family of src/engines adds its own. */
export interface ModelSettings {
  /** Name of the family. */
  readonly kind: string;
  /** Name of the weights, or an absolute path. Absent: the family has only one choice. */
  readonly weights?: string;
  /** Key of the server that runs the model. Absent: it needs none, or the model runs here. */
  readonly apiKey?: Secret | undefined;
}

export interface TtsModelSettings extends ModelSettings {
  readonly languages?: MappedLanguages | undefined;
  readonly compatibility?: SpeechCompatibility | undefined;
}

export interface EmbedModelSettings extends ModelSettings {
  /** Default: `cl100k_base`. */
  readonly tokenIds?: TokenVocabulary | undefined;
}

/**
 * Vocabulary of the token ids in requests: that of OpenAI's embedding models, whose ids clients such as LangChain send for any
 * model, or that of the model itself.
 */
export type TokenVocabulary = 'cl100k_base' | 'model';

/** Tables of models, by the model ids that clients send, in the order of CONFIG. */
export type TtsModels = ReadonlyMap<string, TtsModelSettings>;
export type EmbedModels = ReadonlyMap<string, EmbedModelSettings>;

/** A spoken conversation, composed of other models. */
export interface ConversationModelSettings extends ModelSettings {
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
