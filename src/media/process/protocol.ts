/** What the serving process and a media process say to each other. One process does one job. */

import { type Float32Samples, MAX_RATE_HZ, MIN_RATE_HZ } from '../../contract/engines/audio.ts';
import type { AudioFileInfo } from '../../contract/engines/audio-file.ts';
import type { ClipAnswer, ClipJob } from './clip-protocol.ts';

/** What a media process is asked to do: decode the main audio track of a file. */
export interface AudioJob {
  readonly path: string;
  /** See {@link rateOf}. */
  readonly rateHz: number | 'own';
  /** Longest run of samples in one message. */
  readonly blockSamples: number;
  /** Longest audio that a file may declare, in seconds; what it holds is counted where it is read. */
  readonly maxS: number;
}

/** Rate of the samples of a file: the one asked for, or its own, as far as that is one of the service's. */
export function rateOf(asked: number | 'own', fileHz: number): number {
  return asked === 'own' ? Math.min(MAX_RATE_HZ, Math.max(MIN_RATE_HZ, fileHz)) : asked;
}

export type ToMediaProcess =
  | { readonly kind: 'run'; readonly job: AudioJob; readonly credit: number }
  /** That many more blocks may be sent: the reader has taken as many. */
  | { readonly kind: 'more'; readonly credit: number }
  | { readonly kind: 'clip'; readonly job: ClipJob };

/** What is wrong with a file, as far as its own words go. */
export type MediaFault =
  | { readonly kind: 'unknown-format' }
  /** The container is known, but breaks its own rules or uses what cannot be read. */
  | { readonly kind: 'bad-container'; readonly container: string; readonly detail?: string }
  | { readonly kind: 'no-audio'; readonly container: string }
  | { readonly kind: 'unknown-codec'; readonly container: string; readonly codec: string }
  | { readonly kind: 'too-many-channels'; readonly channels: number; readonly most: number }
  | { readonly kind: 'rate'; readonly rateHz: number; readonly allowed: string }
  | { readonly kind: 'too-long'; readonly declaredS: number; readonly maxS: number }
  | { readonly kind: 'no-samples'; readonly container: string }
  /** Decoding stopped at a place that makes no sense. */
  | { readonly kind: 'broken'; readonly container: string; readonly codec: string };

export type FromMediaProcess =
  /** The process has the job; what happens from here on is the file's doing. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'opened'; readonly info: AudioFileInfo; readonly declaredS?: number | undefined }
  | { readonly kind: 'samples'; readonly samples: Float32Samples }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly fault: MediaFault }
  | ClipAnswer;

/** Thrown inside a media process: the file is at fault, and how. */
export class MediaFaultError extends Error {
  override readonly name = 'MediaFaultError';
  readonly fault: MediaFault;

  constructor(fault: MediaFault, cause?: unknown) {
    super(fault.kind, { cause });
    this.fault = fault;
  }
}
