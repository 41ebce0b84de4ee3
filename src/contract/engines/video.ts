/** Video clips and the engines that extend them (spec 2.4, 4.6). */

import type { Id } from '../core/id.ts';
import type { ReadyReport } from './engine.ts';

/** Properties of a clip, measured by decoding it. */
export interface ClipFacts {
  /** `mp4`, `mov`, … */
  readonly container: string;
  /** `avc`, `hevc`, … */
  readonly videoCodec: string;
  /** Displayed size, with rotation applied and square pixels. */
  readonly width: number;
  readonly height: number;
  /** Mean frame rate of the whole clip. */
  readonly fps: number;
  readonly frames: number;
  readonly durationS: number;
  /** Undefined for a clip without an audio track. */
  readonly audio: ClipAudio | undefined;
  readonly lengthBytes: number;
}

export interface ClipAudio {
  /** `aac`, `mp3`, … */
  readonly codec: string;
  readonly rateHz: number;
  readonly channels: number;
  readonly durationS: number;
}

/** Measures untrusted clips, each in its own process with time and memory limits. */
export interface ClipReader {
  /**
   * Measures a file by decoding it. The content determines the format, not the name.
   * @param field request field that an error names.
   * @throws ServiceError `invalid_request` if it is not a clip that can be decoded completely; `overloaded`
   *   if too many clips are open; the signal's reason after an abort.
   */
  measure(path: string, field: string, signal: AbortSignal): Promise<ClipFacts>;
  /**
   * Writes the first frame as WebP.
   * @throws as {@link measure}.
   */
  thumbnail(path: string, to: string, signal: AbortSignal): Promise<void>;
  /** Stops all processes. Idempotent. */
  close(): Promise<void>;
}

/** A measured clip to extend, within the limits of the model. */
export interface ExtensionRequest {
  readonly video: Id<'video_'>;
  /** Local path of the clip. */
  readonly clip: string;
  readonly facts: ClipFacts;
  /** 1–32,000 characters. */
  readonly prompt: string;
  /** Length of the new segment, without the input clip. */
  readonly seconds: number;
  /** Size of the new segment; even numbers. */
  readonly width: number;
  readonly height: number;
  /** Whether to generate sound. */
  readonly audio: boolean;
  /** State that an unfinished earlier run of this job passed to {@link ExtensionWork.saveState}. */
  readonly savedState: string | undefined;
}

export interface ExtensionWork {
  /** Path of the segment to write: MP4 with the index first. */
  readonly to: string;
  /**
   * Saves state to resume the job in a later run, e.g. the job id of an upstream. Durable when it resolves.
   */
  saveState(state: string): Promise<void>;
}

/** Measured properties of a generated segment. */
export interface VideoSegment {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly audio: boolean;
}

/** Extends video clips. */
export interface VideoEngine {
  /** Whether segments have sound. */
  readonly audio: boolean;
  /**
   * Note for the client on how segments are generated, e.g. that the engine extrapolates motion and ignores
   * the prompt; undefined if it follows the prompt.
   */
  readonly note: string | undefined;
  /**
   * Generates the new segment, which starts where the clip ends.
   * @throws ServiceError `upstream` if a remote engine failed, `invalid_request` (code
   *   `content_policy_violation`) if it rejected the prompt, `timeout` if it took too long, `overloaded` if a
   *   retry can succeed, `internal` if a process crashed; the signal's reason after an abort. Nothing except
   *   the saved state remains on other systems.
   */
  extend(request: ExtensionRequest, work: ExtensionWork, signal: AbortSignal): Promise<VideoSegment>;
  ready(): ReadyReport;
  /** Deletes what a finished job left on the upstream, including unfinished work. Never rejects. */
  deleteRemoteJob(savedState: string): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}
