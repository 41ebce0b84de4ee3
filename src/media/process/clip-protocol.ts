/** What the serving process and a media process say to each other about clips. */

import type { ClipFacts } from '../../contract/engines/video.ts';

/** What a media process is asked to do with a clip. */
export type ClipJob =
  | { readonly kind: 'measure'; readonly path: string }
  /** Write the first frame as WebP. */
  | { readonly kind: 'thumbnail'; readonly path: string; readonly to: string }
  | ({ readonly kind: 'cut'; readonly path: string; readonly to: string } & ClipCut);

/** A part of a clip, to be encoded again. */
export interface ClipCut {
  /** From this time of the clip, in seconds; negative: before its end. */
  readonly fromS: number;
  /** To before this time; its end when left out. */
  readonly toS?: number | undefined;
  /** Of the new clip, in pixels, even. */
  readonly width: number;
  readonly height: number;
}

/** A clip that was cut. */
export interface CutClip {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly seconds: number;
  readonly audio: boolean;
}

/** What it answers: of the job's kind when it is done. */
export type ClipAnswer =
  | { readonly kind: 'measure'; readonly facts: Omit<ClipFacts, 'lengthBytes'> }
  | { readonly kind: 'thumbnail' }
  | { readonly kind: 'cut'; readonly clip: CutClip }
  | { readonly kind: 'unusable'; readonly fault: ClipFault };

/** What is wrong with a clip. */
export type ClipFault =
  | { readonly kind: 'unknown-format' }
  /** A known format that is none of a clip. */
  | { readonly kind: 'other-container'; readonly container: string }
  /** The container breaks its own rules, or breaks off before it tells of its tracks. */
  | { readonly kind: 'bad-container'; readonly container: string }
  | { readonly kind: 'too-many-tracks'; readonly tracks: number; readonly most: number }
  | { readonly kind: 'no-video'; readonly container: string }
  | { readonly kind: 'video-codec'; readonly codec: string }
  | { readonly kind: 'audio-codec'; readonly codec: string }
  | {
      readonly kind: 'too-many-pixels';
      readonly width: number;
      readonly height: number;
      readonly most: number;
    }
  | { readonly kind: 'too-many-packets'; readonly track: 'video' | 'audio'; readonly most: number }
  /** There is no frame with a time and a length. */
  | { readonly kind: 'no-frames' }
  /** The file ends before its content does. */
  | { readonly kind: 'cut-off' }
  | { readonly kind: 'broken'; readonly track: 'video' | 'audio'; readonly codec: string };

/** Thrown inside a media process: the clip is at fault, and how. */
export class ClipFaultError extends Error {
  override readonly name = 'ClipFaultError';
  readonly fault: ClipFault;

  constructor(fault: ClipFault, cause?: unknown) {
    super(fault.kind, { cause });
    this.fault = fault;
  }
}
