/** Plugin API: the interface between the core and its features. */

import type { Calls, JobCalls, LineCalls } from './accounts/calls.ts';
import type { Clock } from './core/clock.ts';
import type { JobQueue } from './core/jobs.ts';
import type { Logger } from './core/logger.ts';
import type { Metrics } from './core/metrics.ts';
import type { Tracer } from './core/tracer.ts';
import type { AudioEncoder } from './engines/audio-encoder.ts';
import type { AudioFileReader } from './engines/audio-file.ts';
import type { CodeRunner } from './engines/code-runner.ts';
import type { ConversationModel } from './engines/conversation.ts';
import type { EmbedEngine } from './engines/embed.ts';
import type { ReadyReport, SttEngine, TtsEngine, VadEngine } from './engines/engine.ts';
import type { FastSpeech } from './engines/fast-speech.ts';
import type { OperationTable } from './engines/operation.ts';
import type { TextEngine } from './engines/text.ts';
import type { TurnEndDetector } from './engines/turn-end.ts';
import type { ClipReader, VideoEngine } from './engines/video.ts';
import type { SpeakerEncoder, VoiceFitter } from './engines/voice.ts';
import type { WebSearch } from './engines/web-search.ts';
import type { ModelTable } from './model-table.ts';
import type { BatchStore } from './stores/batch-store.ts';
import type { BlobStore } from './stores/blob-store.ts';
import type { FileStore } from './stores/file-store.ts';
import type { Lexicons } from './stores/lexicon-store.ts';
import type { ResponseStore } from './stores/response-store.ts';
import type { StorageHealth } from './stores/storage-health.ts';
import type { VideoStore } from './stores/video-store.ts';
import type { VoiceStore } from './stores/voice-store.ts';

/** Services that a plugin can depend on. The core provides all of them; plugins can provide more. */
export interface Slots {
  tts: ModelTable<TtsEngine>;
  stt: ModelTable<SttEngine>;
  text: ModelTable<TextEngine>;
  embed: ModelTable<EmbedEngine>;
  vad: VadEngine;
  turnEnd: TurnEndDetector;
  fastSpeech: FastSpeech;
  video: ModelTable<VideoEngine>;
  conversations: ModelTable<ConversationModel>;
  speakers: SpeakerEncoder;
  voiceFitter: VoiceFitter;
  audioFiles: AudioFileReader;
  audioEncoder: AudioEncoder;
  clips: ClipReader;
  calls: Calls;
  lineCalls: LineCalls;
  jobCalls: JobCalls;
  operations: OperationTable;
  blobs: BlobStore;
  files: FileStore;
  batches: BatchStore;
  jobs: JobQueue;
  lexicons: Lexicons;
  voices: VoiceStore;
  videos: VideoStore;
  responses: ResponseStore;
  storage: StorageHealth;
  codeRunner: CodeRunner;
  webSearch: WebSearch;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  tracer: Tracer;
}

/** Ranges of request parameters of a model, keyed by parameter name. Both ends are inclusive. */
export type ModelLimits = Readonly<Record<string, { readonly minimum?: number; readonly maximum?: number }>>;

/** A plugin that has been set up, as the host runs it. */
export interface PluginInstance<Offers extends keyof Slots = never, Services = unknown> {
  readonly provides: Pick<Slots, Offers>;
  /** What the handlers of its routes work with. */
  readonly services?: Services;
  /** Parameter ranges by model id, if they differ between models. Listed by `GET /v1/models`. */
  readonly limits?: ReadonlyMap<string, ModelLimits>;
  /**
   * Reports whether the plugin can do any work: a plugin that uses models is ready while at least one model
   * is ready. Must be cheap; aggregated into `/readyz` on each request.
   */
  ready(): ReadyReport;
  /** Rejects new work and finishes running work until the signal fires. */
  drain(until: AbortSignal): Promise<void>;
  /** Releases all resources. Idempotent. */
  close(): Promise<void>;
}

/**
 * Shared services that are created for the first plugin that needs them and closed after the last one stops.
 */
export interface ServiceProvider {
  /** Services that it can provide. */
  readonly slotNames: ReadonlySet<keyof Slots>;
  /**
   * Closes open services that are not in `needs`, then opens the missing ones; services that stay open are
   * not affected. Calls must not overlap.
   * @returns the services of `needs` that this provider has.
   * @throws if a service cannot be opened; services that were open and are still needed stay open.
   */
  provide(needs: ReadonlySet<keyof Slots>): Promise<Partial<Slots>>;
  /** Closes all services, including those that are being opened. Idempotent. */
  close(): Promise<void>;
}
