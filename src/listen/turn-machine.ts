/** State machine of a turn's start and end: a pure transition function. The table is docs/states/turn.md. */

import type { VadEvent } from '../contract/engines/engine.ts';

export type TurnState =
  /** The client commits turns. */
  | { readonly kind: 'manual' }
  /** Turn detection is on and no speech is detected. */
  | { readonly kind: 'quiet' }
  /** A turn is active. */
  | { readonly kind: 'speaking' }
  /** A turn is active and may have ended. */
  | { readonly kind: 'paused' };

/** Sample positions are those of the detector. */
export type TurnEvent =
  /** Event of the current detector stream. Events of closed streams are not delivered. */
  | VadEvent
  /** The detector failed. */
  | { readonly kind: 'detector_failed'; readonly error: unknown }
  /** The client commits. `hasAudio`: whether audio is buffered. */
  | { readonly kind: 'commit_requested'; readonly hasAudio: boolean }
  | { readonly kind: 'clear_requested' }
  /** The detector paused in a turn that exceeds the soft length limit. */
  | { readonly kind: 'long_turn_paused'; readonly endSample: number }
  /** The speaker is known to have finished in the present pause, before the silence is long enough to be certain. */
  | { readonly kind: 'turn_completed'; readonly endSample: number }
  /** An active turn has reached the buffer limit and more audio is arriving. */
  | { readonly kind: 'limit_reached' }
  /** The format or the turn detection changes. */
  | { readonly kind: 'configured'; readonly by: 'client' | 'detector' };

export type TurnEffect =
  /** Start a turn at this sample and report it. */
  | { readonly kind: 'start_turn'; readonly startSample: number }
  /** Deliver the audio up to this end of speech, then a pause. */
  | { readonly kind: 'pause_turn'; readonly endSample: number }
  /** Continue the turn. */
  | { readonly kind: 'resume_turn' }
  /** End the turn at this end of speech; report that it stopped and is committed. */
  | { readonly kind: 'stop_turn'; readonly endSample: number }
  /** End the turn in this pause of any length; report that it stopped and is committed. */
  | { readonly kind: 'cut_turn'; readonly endSample: number }
  /** End the turn with all buffered audio; report that it stopped and is committed. */
  | { readonly kind: 'end_turn' }
  /** Drop the turn and report it. */
  | { readonly kind: 'drop_turn' }
  /** Create a turn from all buffered audio and report that it is committed. */
  | { readonly kind: 'commit_buffered' }
  /** The commit is rejected because nothing is buffered. */
  | { readonly kind: 'reject_commit' }
  /** Discard the buffered audio. */
  | { readonly kind: 'clear_buffer' }
  /** Close the detector stream. A new one starts with the first buffered sample. */
  | { readonly kind: 'restart_detector' }
  /** Report that the detector failed. */
  | { readonly kind: 'report_failure'; readonly error: unknown };

export interface TurnStep {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

const MANUAL: TurnState = { kind: 'manual' };
const QUIET: TurnState = { kind: 'quiet' };
const SPEAKING: TurnState = { kind: 'speaking' };
const PAUSED: TurnState = { kind: 'paused' };

export const initial: TurnState = MANUAL;

/** Returns the next state and the effects. Total: an event that is not expected in a state is ignored. */
export function next(state: TurnState, event: TurnEvent): TurnStep {
  switch (state.kind) {
    case 'manual':
      return byHand(event);
    case 'quiet':
      return inQuiet(event);
    case 'speaking':
    case 'paused':
      return inTurn(state, event);
    default:
      return state satisfies never;
  }
}

function byHand(event: TurnEvent): TurnStep {
  switch (event.kind) {
    case 'commit_requested':
      return step(MANUAL, { kind: event.hasAudio ? 'commit_buffered' : 'reject_commit' });
    case 'clear_requested':
      return step(MANUAL, { kind: 'clear_buffer' });
    case 'configured':
      return event.by === 'client' ? step(MANUAL) : step(QUIET);
    // Without a detector no turn can be active.
    case 'limit_reached':
    case 'long_turn_paused':
    case 'turn_completed':
    case 'started':
    case 'paused':
    case 'resumed':
    case 'stopped':
    case 'detector_failed':
      return step(MANUAL);
    default:
      return event satisfies never;
  }
}

function inQuiet(event: TurnEvent): TurnStep {
  switch (event.kind) {
    case 'started':
      return step(SPEAKING, { kind: 'start_turn', startSample: event.startSample });
    case 'detector_failed':
      return step(QUIET, { kind: 'report_failure', error: event.error }, { kind: 'restart_detector' });
    case 'commit_requested':
      return event.hasAudio
        ? step(QUIET, { kind: 'commit_buffered' }, { kind: 'restart_detector' })
        : step(QUIET, { kind: 'reject_commit' });
    case 'clear_requested':
      return step(QUIET, { kind: 'clear_buffer' }, { kind: 'restart_detector' });
    case 'configured':
      return step(afterConfigured(event.by), { kind: 'restart_detector' });
    // No turn is active.
    case 'limit_reached':
    case 'long_turn_paused':
    case 'turn_completed':
    case 'paused':
    case 'resumed':
    case 'stopped':
      return step(QUIET);
    default:
      return event satisfies never;
  }
}

function inTurn(state: TurnState & { kind: 'speaking' | 'paused' }, event: TurnEvent): TurnStep {
  switch (event.kind) {
    case 'paused':
      if (state.kind === 'paused') return step(state);
      return step(PAUSED, { kind: 'pause_turn', endSample: event.endSample });
    case 'resumed':
      if (state.kind === 'speaking') return step(state);
      return step(SPEAKING, { kind: 'resume_turn' });
    case 'stopped':
      return step(QUIET, { kind: 'stop_turn', endSample: event.endSample });
    case 'detector_failed':
      return step(
        QUIET,
        { kind: 'report_failure', error: event.error },
        { kind: 'end_turn' },
        { kind: 'restart_detector' },
      );
    case 'commit_requested':
      // An active turn contains at least one sample.
      return step(QUIET, { kind: 'end_turn' }, { kind: 'clear_buffer' }, { kind: 'restart_detector' });
    case 'clear_requested':
      return step(QUIET, { kind: 'drop_turn' }, { kind: 'clear_buffer' }, { kind: 'restart_detector' });
    case 'long_turn_paused':
      if (state.kind === 'paused') return step(state);
      return step(QUIET, { kind: 'cut_turn', endSample: event.endSample }, { kind: 'restart_detector' });
    case 'turn_completed':
      if (state.kind === 'speaking') return step(state);
      return step(QUIET, { kind: 'cut_turn', endSample: event.endSample }, { kind: 'restart_detector' });
    case 'limit_reached':
      // The buffer is not cleared: a partial sample that the client sent is completed by the audio that
      // follows.
      return step(QUIET, { kind: 'end_turn' }, { kind: 'restart_detector' });
    case 'configured':
      return step(afterConfigured(event.by), { kind: 'end_turn' }, { kind: 'restart_detector' });
    // A turn is already active.
    case 'started':
      return step(state);
    default:
      return event satisfies never;
  }
}

function afterConfigured(by: 'client' | 'detector'): TurnState {
  return by === 'client' ? MANUAL : QUIET;
}

function step(state: TurnState, ...effects: readonly TurnEffect[]): TurnStep {
  return { state, effects };
}
