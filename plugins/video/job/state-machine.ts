/** The lifecycle of a video job (spec 3.2; docs/states/video.md). Pure: the store performs the transitions. */

import type { VideoStatus } from '../../../src/contract/stores/video-store.ts';

export type Event =
  /** A runner claimed the job. `late`: the job is older than its timeout. */
  | { readonly kind: 'claimed'; readonly late: boolean }
  /** The segment is generated and its blobs are stored. */
  | { readonly kind: 'generated' }
  /** The segment cannot be generated. */
  | { readonly kind: 'rejected' }
  /** A temporary failure: the engine is overloaded, or a store is unavailable. */
  | { readonly kind: 'retryable_error' }
  /** The process of the runner stops, or another runner claimed the job. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'delete_requested' };

export type Effect =
  /** Start or resume the generation. */
  | { readonly kind: 'extend' }
  /** Fail the job with the code `timeout`. */
  | { readonly kind: 'time_out' }
  /** Charge the consumption and release the rest of the reservation. */
  | { readonly kind: 'settle' }
  /** Release the whole reservation. */
  | { readonly kind: 'release' }
  /** Retry later. */
  | { readonly kind: 'retry' }
  /** Requeue immediately. */
  | { readonly kind: 'requeue' }
  /** Delete blobs that are not needed any more. */
  | { readonly kind: 'clean_up' }
  /** Respond to a delete request: deleted, or 409. */
  | { readonly kind: 'respond'; readonly status: 200 | 409 };

export interface Step {
  readonly status: VideoStatus;
  /** Undefined: nothing to do. */
  readonly effect: Effect | undefined;
}

/** Total: an event that does not apply to a state leaves it unchanged. */
export function next(status: VideoStatus, event: Event): Step {
  const isFinal = status === 'completed' || status === 'failed';
  switch (event.kind) {
    case 'claimed':
      if (isFinal) return { status, effect: { kind: 'clean_up' } };
      return { status: 'in_progress', effect: { kind: event.late ? 'time_out' : 'extend' } };
    case 'delete_requested':
      return { status, effect: { kind: 'respond', status: isFinal ? 200 : 409 } };
    default:
      return status === 'in_progress' ? endRun(event.kind) : { status, effect: undefined };
  }
}

/** The transition at the end of a run. */
function endRun(kind: 'generated' | 'rejected' | 'retryable_error' | 'stopped'): Step {
  switch (kind) {
    case 'generated':
      return { status: 'completed', effect: { kind: 'settle' } };
    case 'rejected':
      return { status: 'failed', effect: { kind: 'release' } };
    case 'retryable_error':
      return { status: 'in_progress', effect: { kind: 'retry' } };
    case 'stopped':
      return { status: 'in_progress', effect: { kind: 'requeue' } };
  }
}
