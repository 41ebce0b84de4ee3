/** IPC messages between the server and a continuation process. Each process generates one segment. */

import type { ProcessError } from '../../../inference/workers/process-protocol.ts';

export interface ContinuationJob {
  /** Path of the clip. */
  readonly clip: string;
  /** Path of the segment to write. */
  readonly to: string;
  /** Size of the segment in pixels; even numbers. */
  readonly width: number;
  readonly height: number;
  /** Frames per second of clip and segment. */
  readonly fps: number;
  /** Number of frames of the clip. */
  readonly frames: number;
  /** Seconds by which the audio of the clip is longer than its video; usually the padding of an encoder. */
  readonly audioExcessS: number;
  /** Duration of the segment. */
  readonly seconds: number;
  /** Whether to generate audio. */
  readonly audio: boolean;
}

export type ContinuationResult =
  | { readonly kind: 'done'; readonly seconds: number }
  | { readonly kind: 'failed'; readonly error: ProcessError };
