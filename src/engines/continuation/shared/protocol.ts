/** What the serving process and a continuation process say to each other. One process makes one segment. */

import type { ProcessError } from '../../workers/process-protocol.ts';

export interface ContinuationJob {
  /** The clip, and where the segment goes. */
  readonly clip: string;
  readonly to: string;
  /** Of the segment; even numbers. */
  readonly width: number;
  readonly height: number;
  /** Frames a second of both. */
  readonly fps: number;
  /** Of the clip. */
  readonly frames: number;
  /** How much longer its sound is than its pictures, in seconds; mostly the padding of an encoder. */
  readonly soundBeyondS: number;
  /** Of the segment. */
  readonly seconds: number;
  /** Whether the segment has sound. */
  readonly audio: boolean;
}

export type FromContinuation =
  | { readonly kind: 'done'; readonly seconds: number }
  | { readonly kind: 'failed'; readonly fault: ProcessError };
