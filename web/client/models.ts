/** Models of `GET /v1/models`. */

/** What a model is used for. */
export type ModelTask = 'speech' | 'transcription' | 'chat' | 'embeddings' | 'video' | 'conversation';

/** State of a model that is downloaded and loaded by its first request. */
export interface ModelLoad {
  readonly state: 'not_loaded' | 'downloading' | 'loading' | 'loaded' | 'failed';
  readonly percent?: number;
  readonly downloaded_bytes?: number;
  readonly total_bytes?: number;
}

/** The files of a model that runs on the service's machine; fields are absent while they are unknown. */
export interface ModelFiles {
  readonly size_bytes?: number;
  readonly licence?: string;
  /** Only of language models. */
  readonly memory_bytes?: number;
}

/** What is behind the id of a model. */
export interface ModelEngine {
  readonly kind: string;
  readonly weights?: string;
  /** `openai`: a speech model has all formats of OpenAI's API. Absent: WAV and PCM. */
  readonly compatibility?: 'openai';
}

export interface Model {
  readonly id: string;
  readonly task: ModelTask;
  readonly engine?: ModelEngine;
  /** Absent for models that are always loaded. */
  readonly load?: ModelLoad;
  /** False while requests fail; absent if the service does not know. */
  readonly ready?: boolean;
  /** BCP 47 tags. Only of speech models whose languages the service knows. */
  readonly languages?: readonly string[];
  /** Absent for models of other servers. */
  readonly files?: ModelFiles;
}

/** Interval while a download or load is running, in ms. */
const CHANGING_MS = 1000;
/** Interval while a request of any client can start a download, in ms. */
const WAITING_MS = 5000;

/** Polling interval in ms for the state of these models; undefined if none can change. */
export function loadIntervalMs(models: readonly Model[]): number | undefined {
  const states = models.flatMap(({ load }) => load?.state ?? []);
  if (states.some((state) => state === 'downloading' || state === 'loading')) return CHANGING_MS;
  return states.length > 0 ? WAITING_MS : undefined;
}

/** The model that a form selects at first: one that responds without a download, if there is one. */
export function defaultModel(models: readonly Model[]): Model | undefined {
  return models.find(({ load }) => load === undefined || load.state === 'loaded') ?? models[0];
}
