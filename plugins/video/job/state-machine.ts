/** The life of a video job (spec 3.2; docs/states/video.md). Pure: the store makes the moves, a runner does the work. */

import type { VideoStatus } from '../../../src/contract/stores/video-store.ts';

export type Event =
  /** A runner has it in hand. `late`: so long after its creation that nobody waits for it any more. */
  | { readonly kind: 'taken'; readonly late: boolean }
  /** The segment is there, its blobs are stored. */
  | { readonly kind: 'made' }
  /** There will be no segment. */
  | { readonly kind: 'refused' }
  /** There may be one later: whoever makes it has too much to do, or a store is away. */
  | { readonly kind: 'hindered' }
  /** The runner's process stops, or another runner has the job. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'delete_asked' };

export type Effect =
  /** Let the engine make the segment, or go on with it. */
  | { readonly kind: 'extend' }
  /** Let it be refused, with the code `timeout`. */
  | { readonly kind: 'give_up' }
  /** Charge what was consumed, and free the rest of what was reserved. */
  | { readonly kind: 'settle' }
  /** Free all that was reserved. */
  | { readonly kind: 'release' }
  /** Leave it to a later run. */
  | { readonly kind: 'try_again' }
  /** Leave it to another run, at once. */
  | { readonly kind: 'hand_on' }
  /** Remove blobs that nobody needs any more. */
  | { readonly kind: 'tidy' }
  /** Answer whoever asked for the deletion: it is deleted, or 409. */
  | { readonly kind: 'answer'; readonly status: 200 | 409 };

export interface Step {
  readonly status: VideoStatus;
  /** What is to be done; undefined is nothing. */
  readonly effect: Effect | undefined;
}

/** Total: what makes no sense in a state leaves it as it is. */
export function next(status: VideoStatus, event: Event): Step {
  const hasEnded = status === 'completed' || status === 'failed';
  switch (event.kind) {
    case 'taken':
      if (hasEnded) return { status, effect: { kind: 'tidy' } };
      return { status: 'in_progress', effect: { kind: event.late ? 'give_up' : 'extend' } };
    case 'delete_asked':
      return { status, effect: { kind: 'answer', status: hasEnded ? 200 : 409 } };
    default:
      return status === 'in_progress' ? ended(event.kind) : { status, effect: undefined };
  }
}

/** How a run of a job ends. */
function ended(kind: 'made' | 'refused' | 'hindered' | 'stopped'): Step {
  switch (kind) {
    case 'made':
      return { status: 'completed', effect: { kind: 'settle' } };
    case 'refused':
      return { status: 'failed', effect: { kind: 'release' } };
    case 'hindered':
      return { status: 'in_progress', effect: { kind: 'try_again' } };
    case 'stopped':
      return { status: 'in_progress', effect: { kind: 'hand_on' } };
  }
}
