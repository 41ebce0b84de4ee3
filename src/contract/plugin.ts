/** The seam between the core and its features. */

import type { AnyElysia } from 'elysia';
import type { Calls, JobCalls, LineCalls } from './accounts/calls.ts';
import type { Clock } from './core/clock.ts';
import type { JobQueue } from './core/jobs.ts';
import type { Logger } from './core/logger.ts';
import type { Metrics } from './core/metrics.ts';
import type { Tracer } from './core/tracer.ts';
import type { AudioFileReader } from './engines/audio-file.ts';
import type { CodeRunner } from './engines/code-runner.ts';
import type { EmbedEngine } from './engines/embed.ts';
import type { ReadyReport, SttEngine, TtsEngine, VadEngine } from './engines/engine.ts';
import type { OperationTable } from './engines/operation.ts';
import type { TextEngine } from './engines/text.ts';
import type { ClipReader, VideoEngine } from './engines/video.ts';
import type { SpeakerEncoder, VoiceFitter } from './engines/voice.ts';
import type { WebSearch } from './engines/web-search.ts';
import type { ModelTable } from './model-table.ts';
import type { BatchStore } from './stores/batch-store.ts';
import type { BlobStore } from './stores/blob-store.ts';
import type { FileStore } from './stores/file-store.ts';
import type { ResponseStore } from './stores/response-store.ts';
import type { VideoStore } from './stores/video-store.ts';
import type { VoiceStore } from './stores/voice-store.ts';

/** Everything that a plugin may ask for. The core fills these; later plugins offer more. */
export interface Slots {
  tts: ModelTable<TtsEngine>;
  stt: ModelTable<SttEngine>;
  text: ModelTable<TextEngine>;
  embed: ModelTable<EmbedEngine>;
  vad: VadEngine;
  video: ModelTable<VideoEngine>;
  speakers: SpeakerEncoder;
  voiceFitter: VoiceFitter;
  audioFiles: AudioFileReader;
  clips: ClipReader;
  calls: Calls;
  lineCalls: LineCalls;
  jobCalls: JobCalls;
  operations: OperationTable;
  blobs: BlobStore;
  files: FileStore;
  batches: BatchStore;
  jobs: JobQueue;
  voices: VoiceStore;
  videos: VideoStore;
  responses: ResponseStore;
  codeRunner: CodeRunner;
  webSearch: WebSearch;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  tracer: Tracer;
}

/** A feature: what it needs, what it offers, and how it is set up. */
export interface FeaturePlugin<Needs extends keyof Slots = keyof Slots, Offers extends keyof Slots = never> {
  /** Folder name, log field and route tag. */
  readonly name: string;
  /** Start order is computed from these; a missing one stops the boot with a message that names both. */
  readonly needs: readonly Needs[];
  readonly offers: readonly Offers[];
  /** Paths of its routes, as it mounts them: what is told of it while it is off. The registry compares them. */
  readonly paths: readonly string[];
  setup(slots: Pick<Slots, Needs>): Promise<PluginInstance<Offers>>;
}

/** Ranges of what may be asked of a model, by what they are of; both ends are allowed. */
export type ModelLimits = Readonly<Record<string, { readonly minimum?: number; readonly maximum?: number }>>;

export interface PluginInstance<Offers extends keyof Slots = never> {
  readonly provides: Pick<Slots, Offers>;
  /** A named Elysia instance, so that mounting it twice is harmless. */
  readonly routes?: AnyElysia;
  /** What it takes with each of its models, where that is not the same for all of them: GET /v1/models tells. */
  readonly limits?: ReadonlyMap<string, ModelLimits>;
  /**
   * Whether it accepts any work: a plugin that uses models is ready while one of them is. Called for each request to
   * `/readyz`, so it must be cheap.
   */
  ready(): ReadyReport;
  /** Refuse new work and finish what is running, until the signal fires. */
  drain(until: AbortSignal): Promise<void>;
  /** Idempotent; frees every handle. */
  close(): Promise<void>;
}

/** What fills slots that are dear to have: each is opened for the first plugin that needs it and closed after the last. */
export interface ServiceProvider {
  /** All that it can fill. */
  readonly slotNames: ReadonlySet<keyof Slots>;
  /**
   * Brings what is open to what is needed: closes what is not, then opens what is missing; what stays is not touched.
   * One call at a time.
   * @returns those of the needs that it fills.
   * @throws what could not be opened; whatever else is needed and was open still is.
   */
  provide(needs: ReadonlySet<keyof Slots>): Promise<Partial<Slots>>;
  /** Closes everything, what is being opened too. Idempotent. */
  close(): Promise<void>;
}
