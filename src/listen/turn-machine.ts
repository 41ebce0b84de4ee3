/**
 * When a turn begins and ends. Pure: facts in, orders out. The table is docs/states/turn.md.
 */

import type { VadEvent } from '../contract/engines/engine.ts';

export type TurnState =
  /** Turns end when the client says so. */
  | { readonly kind: 'manual' }
  /** The detector listens; nobody speaks. */
  | { readonly kind: 'quiet' }
  /** A turn is open. */
  | { readonly kind: 'speaking' }
  /** A turn is open and may have ended. */
  | { readonly kind: 'paused' };

/** Samples are positions as the detector counts them. */
export type TurnEvent =
  /** Of the detector that is at work; of an earlier one nothing is told. */
  | VadEvent
  /** It cannot go on. */
  | { readonly kind: 'detector_failed'; readonly error: unknown }
  /** The client commits; whether anything is buffered. */
  | { readonly kind: 'commit_asked'; readonly isHeld: boolean }
  | { readonly kind: 'clear_asked' }
  /** The detector paused in a turn that is longer than turns should be. */
  | { readonly kind: 'long_turn_paused'; readonly endSample: number }
  /** An open turn has as much audio as a turn may have, and more is coming. */
  | { readonly kind: 'limit_reached' }
  /** Another format or detection is wanted from here on. */
  | { readonly kind: 'configured'; readonly by: 'hand' | 'detector' };

export type TurnEffect =
  /** A turn begins with this sample: tell it. */
  | { readonly kind: 'open_turn'; readonly startSample: number }
  /** The turn's reader gets the audio up to this end of speech, then a pause. */
  | { readonly kind: 'pause_turn'; readonly endSample: number }
  /** The turn goes on. */
  | { readonly kind: 'resume_turn' }
  /** The turn ends with this end of speech: tell that it stopped and is committed. */
  | { readonly kind: 'stop_turn'; readonly endSample: number }
  /** The turn ends in this pause, however short it will be: tell that it stopped and is committed. */
  | { readonly kind: 'cut_turn'; readonly endSample: number }
  /** The turn takes all that is buffered: tell that it stopped and is committed. */
  | { readonly kind: 'end_turn' }
  /** Forget the turn: tell it. */
  | { readonly kind: 'drop_turn' }
  /** Make a turn of all that is buffered: tell that it is committed. */
  | { readonly kind: 'commit_held' }
  /** There is nothing to commit. */
  | { readonly kind: 'refuse_commit' }
  /** Forget what is buffered. */
  | { readonly kind: 'forget_held' }
  /** Close the detector's stream; another begins with the first sample that is still held. */
  | { readonly kind: 'restart_detector' }
  /** Tell that the detector failed. */
  | { readonly kind: 'tell_failure'; readonly error: unknown };

export interface TurnStep {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

const MANUAL: TurnState = { kind: 'manual' };
const QUIET: TurnState = { kind: 'quiet' };
const SPEAKING: TurnState = { kind: 'speaking' };
const PAUSED: TurnState = { kind: 'paused' };

export const initial: TurnState = MANUAL;

/** The state after a fact, and what is to be done. Total; what cannot be in a state changes nothing. */
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
    case 'commit_asked':
      return step(MANUAL, { kind: event.isHeld ? 'commit_held' : 'refuse_commit' });
    case 'clear_asked':
      return step(MANUAL, { kind: 'forget_held' });
    case 'configured':
      return event.by === 'hand' ? step(MANUAL) : step(QUIET);
    // There is no detector, and so no open turn.
    case 'limit_reached':
    case 'long_turn_paused':
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
      return step(SPEAKING, { kind: 'open_turn', startSample: event.startSample });
    case 'detector_failed':
      return step(QUIET, { kind: 'tell_failure', error: event.error }, { kind: 'restart_detector' });
    case 'commit_asked':
      return event.isHeld
        ? step(QUIET, { kind: 'commit_held' }, { kind: 'restart_detector' })
        : step(QUIET, { kind: 'refuse_commit' });
    case 'clear_asked':
      return step(QUIET, { kind: 'forget_held' }, { kind: 'restart_detector' });
    case 'configured':
      return step(afterConfigured(event.by), { kind: 'restart_detector' });
    // No turn is open.
    case 'limit_reached':
    case 'long_turn_paused':
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
        { kind: 'tell_failure', error: event.error },
        { kind: 'end_turn' },
        { kind: 'restart_detector' },
      );
    case 'commit_asked':
      // A turn that is open holds at least one sample.
      return step(QUIET, { kind: 'end_turn' }, { kind: 'forget_held' }, { kind: 'restart_detector' });
    case 'clear_asked':
      return step(QUIET, { kind: 'drop_turn' }, { kind: 'forget_held' }, { kind: 'restart_detector' });
    case 'long_turn_paused':
      if (state.kind === 'paused') return step(state);
      return step(QUIET, { kind: 'cut_turn', endSample: event.endSample }, { kind: 'restart_detector' });
    case 'limit_reached':
      // The client knows nothing of this end: half a sample that it sent has its other half in what is coming.
      return step(QUIET, { kind: 'end_turn' }, { kind: 'restart_detector' });
    case 'configured':
      return step(afterConfigured(event.by), { kind: 'end_turn' }, { kind: 'restart_detector' });
    // A turn is open already.
    case 'started':
      return step(state);
    default:
      return event satisfies never;
  }
}

function afterConfigured(by: 'hand' | 'detector'): TurnState {
  return by === 'hand' ? MANUAL : QUIET;
}

function step(state: TurnState, ...effects: readonly TurnEffect[]): TurnStep {
  return { state, effects };
}
