/** Clips, and what continues them (spec 2.4, 4.6). */

import type { Id } from '../core/id.ts';
import type { ReadyReport } from './engine.ts';

/** What a clip turned out to be when it was decoded. */
export interface ClipFacts {
  /** `mp4`, `mov`, … */
  readonly container: string;
  /** `avc`, `hevc`, … */
  readonly videoCodec: string;
  /** As it is shown, rotation applied, in square pixels. */
  readonly width: number;
  readonly height: number;
  /** Frames a second, over the whole clip. */
  readonly fps: number;
  readonly frames: number;
  readonly durationS: number;
  /** Undefined when it is silent. */
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

/** Looks at clips whoever made them, each in a process of its own that is limited in time and memory. */
export interface ClipReader {
  /**
   * Measures a file by decoding it; its content decides what it is, not its name.
   * @param field the request's field that an error names.
   * @throws ServiceError `invalid_request` when it is no clip that can be decoded, whole; `overloaded` when too many
   *   are open; the signal's reason after an abort.
   */
  measure(path: string, field: string, signal: AbortSignal): Promise<ClipFacts>;
  /** Writes the first frame as WebP. @throws as {@link measure}. */
  thumbnail(path: string, to: string, signal: AbortSignal): Promise<void>;
  /** Ends every process. Idempotent. */
  close(): Promise<void>;
}

/** A clip to continue that was measured and is within the model's rules. */
export interface ExtensionRequest {
  readonly video: Id<'video'>;
  /** The clip, on this machine's disk. */
  readonly clip: string;
  readonly facts: ClipFacts;
  /** 1–32,000 characters. */
  readonly prompt: string;
  /** Length of the new segment alone. */
  readonly seconds: number;
  /** Of the new segment, even numbers. */
  readonly width: number;
  readonly height: number;
  /** Whether the model makes sound. */
  readonly audio: boolean;
  /** What {@link ExtensionWork.saveState} was told by an earlier run of this job that did not end. */
  readonly savedState: string | undefined;
}

export interface ExtensionWork {
  /** Where to write the segment: MP4, its index first. */
  readonly to: string;
  /** Keeps something that a later run goes on from, e.g. an upstream's id of the job; durable when it resolves. */
  saveState(state: string): Promise<void>;
}

/** A segment that was made, measured. */
export interface VideoSegment {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly audio: boolean;
}

/** Continues clips. */
export interface VideoEngine {
  /** Whether segments have sound. */
  readonly audio: boolean;
  /**
   * How it makes segments, for the job's owner, e.g. that it extrapolates motion and does not read the prompt;
   * undefined when it does what the prompt says.
   */
  readonly note: string | undefined;
  /**
   * Makes the new segment, alone: it begins where the clip ends.
   * @throws ServiceError `upstream` when a remote engine failed, `invalid_request` (code `content_policy_violation`) when
   *   it refused the prompt, `timeout` when it took too long, `overloaded` when it may go well later, `internal` when a
   *   process died; the signal's reason after an abort. Nothing is left elsewhere but what was remembered.
   */
  extend(request: ExtensionRequest, work: ExtensionWork, signal: AbortSignal): Promise<VideoSegment>;
  ready(): ReadyReport;
  /** Removes what a job that has ended has elsewhere, also what is still being made. Never rejects. */
  deleteRemoteJob(remembered: string): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}
