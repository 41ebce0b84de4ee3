/** Messages between the server and a media process. A process runs one job. */

import { type Float32Samples, MAX_RATE_HZ, MIN_RATE_HZ } from '../../contract/engines/audio.ts';
import type { AudioFileInfo } from '../../contract/engines/audio-file.ts';
import type { ClipJob, ClipResult } from './clip-protocol.ts';

/** Job: decode the main audio track of a file. */
export interface AudioJob {
  readonly path: string;
  /** See {@link rateOf}. */
  readonly rateHz: number | 'own';
  /** Maximum number of samples per message. */
  readonly blockSamples: number;
  /** Maximum declared duration in seconds; the reader counts the actual samples. */
  readonly maxS: number;
}

/**
 * Sample rate of the output: the requested rate, or the native rate of the file if the service supports it.
 */
export function rateOf(requestedHz: number | 'own', fileHz: number): number {
  return requestedHz === 'own' ? Math.min(MAX_RATE_HZ, Math.max(MIN_RATE_HZ, fileHz)) : requestedHz;
}

export type ToMediaProcess =
  | { readonly kind: 'run'; readonly job: AudioJob; readonly credit: number }
  /** Flow control: the process may send `credit` more blocks. */
  | { readonly kind: 'more'; readonly credit: number }
  | { readonly kind: 'clip'; readonly job: ClipJob };

/** Why a file cannot be used. */
export type MediaIssue =
  | { readonly kind: 'unknown-format' }
  /** The container is known but invalid or not supported. */
  | { readonly kind: 'bad-container'; readonly container: string; readonly detail?: string }
  | { readonly kind: 'no-audio'; readonly container: string }
  | { readonly kind: 'unknown-codec'; readonly container: string; readonly codec: string }
  | { readonly kind: 'too-many-channels'; readonly channels: number; readonly max: number }
  | { readonly kind: 'rate'; readonly rateHz: number; readonly allowed: string }
  | { readonly kind: 'too-long'; readonly declaredS: number; readonly maxS: number }
  | { readonly kind: 'no-samples'; readonly container: string }
  /** Decoding failed. */
  | { readonly kind: 'broken'; readonly container: string; readonly codec: string };

export type FromMediaProcess =
  /** The process started the job; from here on, failures are caused by the file. */
  | { readonly kind: 'started' }
  | { readonly kind: 'opened'; readonly info: AudioFileInfo; readonly declaredS?: number | undefined }
  | { readonly kind: 'samples'; readonly samples: Float32Samples }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly issue: MediaIssue }
  | ClipResult;

/** Thrown in a media process if the file cannot be used. */
export class UnusableMediaError extends Error {
  override readonly name = 'UnusableMediaError';
  readonly issue: MediaIssue;

  constructor(issue: MediaIssue, cause?: unknown) {
    super(issue.kind, { cause });
    this.issue = issue;
  }
}
