/** Clip messages between the server and a media process. */

import type { ClipFacts } from '../../contract/engines/video.ts';

/** A clip job for a media process. */
export type ClipJob =
  | { readonly kind: 'measure'; readonly path: string }
  /** Writes the first frame as WebP. */
  | { readonly kind: 'thumbnail'; readonly path: string; readonly to: string }
  | ({ readonly kind: 'cut'; readonly path: string; readonly to: string } & ClipCut);

/** The part of a clip that is re-encoded. */
export interface ClipCut {
  /** Start in seconds; negative: before the end of the clip. */
  readonly fromS: number;
  /** End (exclusive) in seconds; default: the end of the clip. */
  readonly toS?: number | undefined;
  /** Output width in pixels, even. */
  readonly width: number;
  readonly height: number;
}

/** Properties of a re-encoded part. */
export interface CutClip {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly seconds: number;
  readonly audio: boolean;
}

/** The result of a job, of the same kind as the job. */
export type ClipResult =
  | { readonly kind: 'measure'; readonly facts: Omit<ClipFacts, 'lengthBytes'> }
  | { readonly kind: 'thumbnail' }
  | { readonly kind: 'cut'; readonly clip: CutClip }
  | { readonly kind: 'unusable'; readonly issue: ClipIssue };

/** Why a clip cannot be used. */
export type ClipIssue =
  | { readonly kind: 'unknown-format' }
  /** A known format that is not a video clip. */
  | { readonly kind: 'other-container'; readonly container: string }
  /** The container is invalid or truncated before its list of tracks. */
  | { readonly kind: 'bad-container'; readonly container: string }
  | { readonly kind: 'too-many-tracks'; readonly tracks: number; readonly max: number }
  | { readonly kind: 'no-video'; readonly container: string }
  | { readonly kind: 'video-codec'; readonly codec: string }
  | { readonly kind: 'audio-codec'; readonly codec: string }
  | {
      readonly kind: 'too-many-pixels';
      readonly width: number;
      readonly height: number;
      readonly max: number;
    }
  | { readonly kind: 'too-many-packets'; readonly track: 'video' | 'audio'; readonly max: number }
  /** No frame has a time and a duration. */
  | { readonly kind: 'no-frames' }
  /** The file is truncated. */
  | { readonly kind: 'cut-off' }
  | { readonly kind: 'broken'; readonly track: 'video' | 'audio'; readonly codec: string };

/** Thrown in a media process if the clip cannot be used. */
export class UnusableClipError extends Error {
  override readonly name = 'UnusableClipError';
  readonly issue: ClipIssue;

  constructor(issue: ClipIssue, cause?: unknown) {
    super(issue.kind, { cause });
    this.issue = issue;
  }
}
