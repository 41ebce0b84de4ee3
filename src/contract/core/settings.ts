/** What CONFIG says about models and inference, in the words that engines take. Parsed by src/config/config.ts. */

import type { Secret } from './secret.ts';

/** Where ONNX graphs run (`ORT_PROVIDER`). */
export type OrtProvider = 'cpu' | 'cuda';

/** Size of the worker pool that all embedded models share. */
export interface InferenceSettings {
  readonly provider: OrtProvider;
  /** Inference processes, each with every model loaded. */
  readonly workers: number;
  /** Threads of one ONNX session. */
  readonly threads: number;
  /** Open requests to embedded models of each priority, waiting and running; one more is refused as `overloaded`. */
  readonly queueLimit: number;
  /** The whole environment of the processes: what libraries need, no keys. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A model that runs on this machine, in the inference processes, with the voice that a request without one gets. */
export interface EmbeddedTtsSettings {
  readonly kind: 'kokoro' | 'piper';
  readonly voice: string;
}

/** A model behind another server that speaks OpenAI's `/v1/audio/speech`. */
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
   * How it gets to know a stored voice: the clip is uploaded once under the voice's id, or sent with each request; by
   * default no clip is sent to it.
   */
  readonly voices: 'register' | 'inline' | 'none';
  /** Rate of the raw PCM that it sends, in Hz. */
  readonly rateHz: number;
}

export type TtsModelSettings = EmbeddedTtsSettings | UpstreamTtsSettings;

/** Model ids that clients send, in the order of CONFIG. */
export type TtsModels = ReadonlyMap<string, TtsModelSettings>;

/** A recogniser that runs on this machine, in the inference processes. */
export interface EmbeddedSttSettings {
  readonly kind: 'whisper';
  /**
   * Whose weights: `base` (many languages), `tiny.en` (English, smaller), or the absolute path of a folder with
   * a CTranslate2 Whisper checkpoint or an ONNX export of one.
   */
  readonly weights: string;
}

/** A recogniser behind another server has `/v1/audio/transcriptions` and `/translations` there. */
export type UpstreamSttSettings = UpstreamModelSettings;

export type SttModelSettings = EmbeddedSttSettings | UpstreamSttSettings;

/** Model ids that clients send, in the order of CONFIG. */
export type SttModels = ReadonlyMap<string, SttModelSettings>;

/** A language model that runs on this machine, in a process of its own. */
export interface EmbeddedTextSettings {
  readonly kind: 'llama';
  /** `smollm2-135m-instruct`, or the absolute path of a GGUF file. */
  readonly weights: string;
  /** Answers that are written at once; each has a place of the context. */
  readonly slots: number;
  /** Tokens that question and answer may have together. */
  readonly contextTokens: number;
}

/** Texts to vectors on this machine, in the inference processes. */
export interface EmbeddedEmbedSettings {
  readonly kind: 'minilm';
}

/** A model behind another server that speaks OpenAI's wire. */
export interface UpstreamModelSettings {
  readonly kind: 'upstream';
  /** Up to and including `/v1`, without a slash at the end. */
  readonly baseUrl: string;
  /** Absent when the upstream asks for none. */
  readonly apiKey: Secret | undefined;
  /** The upstream's own name of the model. */
  readonly model: string;
}

/** A language model behind another server has `/v1/chat/completions` there. */
export interface UpstreamTextSettings extends UpstreamModelSettings {
  /** Tokens that question and answer may have together, where CONFIG tells; its server does not. */
  readonly contextTokens?: number | undefined;
}

export type TextModelSettings = EmbeddedTextSettings | UpstreamTextSettings;
export type TextModels = ReadonlyMap<string, TextModelSettings>;
export type EmbedModelSettings = EmbeddedEmbedSettings | UpstreamModelSettings;
export type EmbedModels = ReadonlyMap<string, EmbedModelSettings>;

/** Carries the motion and the sound of clips on; needs no weights. */
export interface EmbeddedVideoSettings {
  readonly kind: 'continuation';
}

/** A model behind another server that has `/v1/videos` there. */
export interface UpstreamVideoSettings extends UpstreamModelSettings {
  /** Seconds of a clip's end that it is sent; none: the last frame alone, as a picture. */
  readonly tailSeconds: number;
  /** Frames of the clip that its answer begins with, which are cut off. */
  readonly contextFrames: number;
  /** Whether its segments have sound. */
  readonly audio: boolean;
  /** Fields that its requests have beside the known ones, as its server names them. */
  readonly fields: Readonly<Record<string, string>>;
}

export type VideoModelSettings = EmbeddedVideoSettings | UpstreamVideoSettings;
export type VideoModels = ReadonlyMap<string, VideoModelSettings>;

/** Models of CONFIG by what they do. */
export interface ConfiguredModels {
  readonly tts: TtsModels;
  readonly stt: SttModels;
  readonly text: TextModels;
  readonly embed: EmbedModels;
}

/** How programs that models write are run. */
export interface CodeInterpreterSettings {
  /** Interpreters in use at once, each by one response. */
  readonly maxConcurrent: number;
  /** Wall time of one program. */
  readonly timeMs: number;
  /** Memory of a program. */
  readonly heapBytes: number;
}

/** A SearXNG server. */
export interface WebSearchSettings {
  /** Before `/search`, without a slash at the end. */
  readonly url: string;
  /** Absent when the server asks for none. */
  readonly apiKey: Secret | undefined;
  readonly timeoutMs: number;
  /** Most pages of one search. */
  readonly maxResults: number;
}

/** Where records are kept (`DATABASE_URL`, else a file under `DATA_DIR`). */
export type DatabaseSettings = SqliteSettings | PostgresSettings;

export interface SqliteSettings {
  readonly kind: 'sqlite';
  readonly path: string;
}

export interface PostgresSettings {
  readonly kind: 'postgres';
  /** A name, an address, or the absolute path of the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: Secret | undefined;
  readonly database: string;
  /** Undefined is no TLS. */
  readonly tls: PostgresTls | undefined;
  /** Most connections of this process. */
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

/** Named as libpq names them; files are PEM. */
export interface PostgresTls {
  /** `require` encrypts; `verify-ca` knows the server's authority; `verify-full` also its name. */
  readonly mode: 'require' | 'verify-ca' | 'verify-full';
  readonly rootCertFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** Where blobs are kept (`S3_…`, else a folder under `DATA_DIR`). */
export type BlobSettings = DiskBlobSettings | S3BlobSettings;

export interface DiskBlobSettings {
  readonly kind: 'disk';
  /** An absolute path. */
  readonly folder: string;
}

/** A bucket of its own on a server that speaks S3. */
export interface S3BlobSettings {
  readonly kind: 's3';
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

/** Where spans are sent (`OTEL_…`). */
export interface TracingSettings {
  /** What a collector takes traces at, `…/v1/traces`. */
  readonly url: string;
  readonly headers: ReadonlyMap<string, Secret>;
  readonly serviceName: string;
  /** Share of traces that are kept, 0–1. */
  readonly ratio: number;
}
