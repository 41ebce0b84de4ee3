/**
 * What a family of engines is: all that the service knows about the models of one `kind` of CONFIG. A family is a folder with
 * `index.ts` (this interface), `settings.ts` (the keys of its tables) and, if it runs in the inference processes, `loader.ts`. The
 * lists in families.ts and loaders.ts are the only other places that name it.
 */

import type { Static, TObject } from '@sinclair/typebox';
import type { Clock } from '../contract/core/clock.ts';
import type { StartError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import type { Secret } from '../contract/core/secret.ts';
import type {
  ConversationModels,
  EmbedModels,
  InferenceSettings,
  ModelSettings,
  TtsModels,
} from '../contract/core/settings.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { ConversationModel } from '../contract/engines/conversation.ts';
import type { EmbedEngine } from '../contract/engines/embed.ts';
import type { SttEngine, TtsEngine } from '../contract/engines/engine.ts';
import type { TextEngine } from '../contract/engines/text.ts';
import type { VideoEngine } from '../contract/engines/video.ts';
import type { Slots } from '../contract/plugin.ts';
import type { AudioLoad } from '../inference/audio-load.ts';
import type { EngineMetrics } from '../inference/engine-metrics.ts';
import type { PooledModels } from '../inference/on-demand/pooled-models.ts';
import type { SharedDownload, Weights } from '../inference/on-demand/shared-download.ts';
import type { InferencePool } from '../inference/pool/inference-pool.ts';
import type { PoolSpec } from '../inference/pool/model-loader.ts';
import type { ServiceHandle } from '../kit/lifecycle/lazy-services.ts';
import type { HubFiles, HubSettings } from '../models/hub-reference.ts';

/** What a model does, and the interface of its engine. */
export interface Engines {
  speech: TtsEngine;
  transcription: SttEngine;
  chat: TextEngine;
  embeddings: EmbedEngine;
  video: VideoEngine;
  conversation: ConversationModel;
}

export type EngineTask = keyof Engines;

/** The service that has the models of a task. */
export const SLOT_OF_TASK = {
  speech: 'tts',
  transcription: 'stt',
  chat: 'text',
  embeddings: 'embed',
  video: 'video',
  conversation: 'conversations',
} as const satisfies Readonly<Record<EngineTask, keyof Slots>>;

export const ENGINE_TASKS = Object.keys(SLOT_OF_TASK) as readonly EngineTask[];

/** The models of CONFIG by task and id, in the order of CONFIG. */
export interface ModelTables extends Readonly<Record<EngineTask, ReadonlyMap<string, ModelSettings>>> {
  readonly speech: TtsModels;
  readonly embeddings: EmbedModels;
  readonly conversation: ConversationModels;
}

/** Completes tables with empty ones. */
export function modelTables(tables: Partial<ModelTables>): ModelTables {
  const none = new Map<string, never>();
  return {
    speech: none,
    transcription: none,
    chat: none,
    embeddings: none,
    video: none,
    conversation: none,
    ...tables,
  };
}

/** Reads a table of `[models]`. The schema has been checked. */
export interface TableSource {
  /** Whether the model has one of OpenAI's names: its defaults are those of OpenAI's API. */
  readonly hasOpenaiName: boolean;
  /** An error of a key. @param problem continues the name of the key, such as `must be …`. */
  error(key: string, problem: string): StartError;
  /**
   * The secret in the environment variable that a key names.
   * @throws ConfigError if it is not set.
   */
  secret(key: string, variable: string | undefined): Secret | undefined;
}

/** The other models of CONFIG, for models that are composed of them. */
export interface OtherModels {
  /** Ids of the models of a task. */
  idsOf(task: EngineTask): readonly string[];
  /** The family of a model. */
  familyOf(id: string): AnyFamily | undefined;
}

/** The files of a model. */
export interface NeededFiles {
  /** Engines of the model catalog whose files it needs. */
  readonly catalog: readonly string[];
  /** Its files outside the catalog. */
  readonly outside?: OutsideFiles | undefined;
}

/** Files that are not in the model catalog. */
export interface OutsideFiles {
  /** As in CONFIG: an absolute path, or a name of the model hub. */
  readonly weights: string;
  /** Absent: a file or folder of the operator. */
  readonly hub?: HubFiles | undefined;
}

/** How the models of a family run in the shared inference processes. */
export interface PoolMembership<Settings> {
  /** Name in the pool. Models with the same name are loaded once. */
  name(settings: Settings): string;
  /**
   * What the processes load for all models with the same name.
   * @throws Error for an unknown voice, unknown weights or a missing file.
   */
  spec(users: readonly [Settings, ...Settings[]], modelsDir: string): PoolSpec;
}

/** The engines of a table. */
export interface OpenedEngines<Engine> {
  /** By model id. The caller closes them. */
  readonly engines: ReadonlyMap<string, Engine>;
  /** What the engines share. It is closed after them. */
  readonly shared?: readonly { close(): Promise<void> }[] | undefined;
}

export interface EngineFamily<
  Task extends EngineTask = EngineTask,
  Settings extends ModelSettings = ModelSettings,
  Schema extends TObject = TObject,
> {
  /** `kind` of CONFIG. Families with the same kind have different tasks. */
  readonly kind: string;
  readonly task: Task;
  /** Keys of a table of `[models]`, with descriptions and defaults. */
  readonly schema: Schema;
  /** @throws ConfigError that names the key. */
  parse(table: Static<Schema>, source: TableSource): Settings;
  /**
   * Completes and checks settings that name other models, when all models have been parsed. Absent: they name none.
   * @throws ConfigError that names the key.
   */
  link?(settings: Settings, models: OtherModels, source: TableSource): Settings;
  /** Ids of the models that a model consists of. They are required if it is. Absent: none. */
  parts?(settings: Settings): readonly string[];
  /** Keys that a model with one of OpenAI's names does not take over from the model that it follows. Absent: none. */
  readonly ownKeys?: readonly string[];
  /** @throws StartError for unknown weights or an unknown voice. */
  files(settings: Settings): NeededFiles;
  /** The files of weights that need no model in CONFIG, by their name; undefined for other names. Absent: there are none. */
  filesNamed?(name: string): NeededFiles | undefined;
  /** Whether a model is downloaded and loaded by its first request, unless it is required. Absent: it never is. */
  isLoadedOnDemand?(settings: Settings): boolean;
  /**
   * Memory of a loaded model in bytes: its weights, and what else is known.
   * @param bytes size of the weights. Absent: unknown.
   */
  memory?(settings: Settings, bytes: number, modelsDir: string): Promise<readonly number[]>;
  /** Whether the service `fastSpeech` may speak instead on a machine that is too slow for its models. Absent: no. */
  readonly mayBeTooSlow?: boolean;
  /** Absent: its models do not run in the inference processes. */
  readonly pool?: PoolMembership<Settings>;
  /**
   * Opens the models of a task, because they may share processes; also called without models. It loads its modules when it is
   * called: CONFIG and scripts read families without engines.
   * @throws Error if a model cannot be loaded.
   */
  open(models: ReadonlyMap<string, Settings>, host: EngineHost): Promise<OpenedEngines<Engines[Task]>>;
  /**
   * The engine of a model that follows another one of the family, which stays the only one with a connection. Absent: it is
   * opened as all others.
   */
  follow?(followed: Engines[Task], settings: Settings): Promise<Engines[Task]>;
}

/** A family of any task. Its functions take only settings that its `parse` has returned. */
export type AnyFamily = { readonly [Task in EngineTask]: EngineFamily<Task> }[EngineTask];

/** Infers the types of a family. */
export function defineFamily<Task extends EngineTask, Settings extends ModelSettings, Schema extends TObject>(
  family: EngineFamily<Task, Settings, Schema>,
): EngineFamily<Task, Settings, Schema> {
  return family;
}

/** An engine that plugins need and that CONFIG does not name, such as voice activity detection. */
export interface Component<Name extends keyof Slots = keyof Slots> {
  readonly slot: Name;
  /** Engines of the model catalog whose files are downloaded before the start. Absent: none. */
  readonly catalog?: readonly string[];
  /** What uses the files, for lists of models. */
  readonly purpose: string;
  /** The plugin without which the files are not needed. Absent: they are always needed. */
  readonly plugin?: string;
  /** Its model in the inference processes. Absent: none. */
  pooled?(modelsDir: string): { readonly name: string; readonly spec: PoolSpec };
  /** Opens the service. It loads its modules when it is called, as {@link EngineFamily.open}. */
  open(host: EngineHost): Promise<ServiceHandle<Slots[Name]>>;
}

/** A component of any service. */
export type AnyComponent = { readonly [Name in keyof Slots]: Component<Name> }[keyof Slots];

/** What engines can use. */
export interface EngineHost {
  /** All models of CONFIG. */
  readonly tables: ModelTables;
  /** The shared inference processes. */
  readonly pooled: PooledModels;
  /** Settings of the inference processes, and of other processes with models. */
  readonly inference: InferenceSettings;
  readonly modelsDir: string;
  readonly hub: HubSettings;
  /** Ids of models that are loaded at the start regardless of their size. */
  readonly requiredModels: ReadonlySet<string>;
  /** Idle time in ms after which a model that was loaded on demand is unloaded; 0: never. */
  readonly modelIdleMs: number;
  /** Pause after a failed download or load of a model that is not on disk. Undefined: 30 s. */
  readonly modelRetryMs: number | undefined;
  /** What the inference of audio needs of the cores. */
  readonly audioLoad: AudioLoad;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly instrument: EngineMetrics;
  /**
   * Low-priority processes with their own copies of models. Undefined with a GPU, whose memory would hold the weights twice.
   * @param workers number of processes. Default: as in the shared pool.
   */
  backgroundPool(
    models: Readonly<Record<string, PoolSpec>>,
    workers?: number,
  ): Pick<InferencePool, 'runJob' | 'close'> | undefined;
  download(weights: Weights): SharedDownload;
}
