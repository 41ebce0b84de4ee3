/**
 * The lifecycle of one transcriber socket, from the upgrade until all its resources are released. Pure. The state table
 * is docs/states/phone-call.md.
 */

export type State =
  /** The upgrade was accepted; the socket is not open yet. */
  | { readonly kind: 'connecting' }
  /** The socket is open; neither a start message nor audio has arrived. */
  | { readonly kind: 'waiting' }
  /** Audio is processed. */
  | { readonly kind: 'streaming' }
  /** The service drains: input has stopped, the last turns are transcribed and sent. */
  | { readonly kind: 'draining' }
  /** A close was sent; the peer has not confirmed it. */
  | { readonly kind: 'closing' }
  /** Closing after an internal error: pending turns are not waited for. */
  | { readonly kind: 'failing' }
  /** The socket is closed; the last turns are transcribed for their usage rows. */
  | { readonly kind: 'disconnected' }
  | { readonly kind: 'closed' };

export type Event =
  | { readonly kind: 'opened' }
  /** A valid start message. */
  | { readonly kind: 'start_received' }
  | { readonly kind: 'invalid_start_received' }
  /** Dispatched before the audio is processed. */
  | { readonly kind: 'audio_received' }
  /** Audio or turns arrive faster than they are processed. */
  | { readonly kind: 'overrun' }
  /** All audio is processed, and every turn has a result. */
  | { readonly kind: 'turns_finished' }
  | { readonly kind: 'drain_requested' }
  /** The drain period is over. */
  | { readonly kind: 'stop_requested' }
  /** An unexpected error. */
  | { readonly kind: 'error_occurred' }
  | { readonly kind: 'socket_closed' };

export type CloseReason = 'invalid_start' | 'overrun' | 'shutting_down' | 'internal_error';

export type Effect =
  /** Configure the audio input from the start message. */
  | { readonly kind: 'configure' }
  /** Configure the audio input with its defaults, without a start message. */
  | { readonly kind: 'apply_defaults' }
  /** Stop the input: process the received audio and end the open turn. */
  | { readonly kind: 'stop_input' }
  /** Send an error message. */
  | { readonly kind: 'send_error'; readonly why: 'invalid_start' | 'overrun' }
  | { readonly kind: 'close'; readonly why: CloseReason }
  /** Release all resources of the call. */
  | { readonly kind: 'release' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = { kind: 'connecting' };

/** Whether audio is accepted. */
export function acceptsAudio({ kind }: State): boolean {
  return kind === 'streaming';
}

/** Total: an event that does not apply to a state leaves it unchanged. */
export function next(state: State, event: Event): Step {
  if (state.kind === 'closed') return step(state);
  switch (event.kind) {
    case 'opened':
      return openSocket(state);
    case 'start_received':
      return isOpen(state) ? step({ kind: 'streaming' }, { kind: 'configure' }) : step(state);
    case 'invalid_start_received':
      return isOpen(state) ? reject('invalid_start') : step(state);
    case 'audio_received':
      return state.kind === 'waiting' ? step({ kind: 'streaming' }, { kind: 'apply_defaults' }) : step(state);
    case 'overrun':
      return state.kind === 'streaming' ? reject('overrun') : step(state);
    case 'turns_finished':
      return endTurns(state);
    case 'drain_requested':
      return drain(state);
    case 'stop_requested':
      return step({ kind: 'closed' }, { kind: 'close', why: 'shutting_down' }, { kind: 'release' });
    case 'error_occurred':
      return fail(state);
    case 'socket_closed':
      return disconnect(state);
    default:
      return event satisfies never;
  }
}

function isOpen({ kind }: State): boolean {
  return kind === 'waiting' || kind === 'streaming';
}

function openSocket(state: State): Step {
  switch (state.kind) {
    case 'connecting':
      return step({ kind: 'waiting' });
    // The drain started between the upgrade and this event.
    case 'closing':
      return step(state, { kind: 'close', why: 'shutting_down' });
    default:
      return step(state);
  }
}

function reject(why: 'invalid_start' | 'overrun'): Step {
  return step({ kind: 'closing' }, { kind: 'send_error', why }, { kind: 'close', why });
}

function endTurns(state: State): Step {
  switch (state.kind) {
    case 'draining':
      return step({ kind: 'closing' }, { kind: 'close', why: 'shutting_down' });
    case 'disconnected':
      return step({ kind: 'closed' }, { kind: 'release' });
    default:
      return step(state);
  }
}

function drain(state: State): Step {
  switch (state.kind) {
    case 'connecting':
    case 'waiting':
      return step({ kind: 'closing' }, { kind: 'close', why: 'shutting_down' });
    case 'streaming':
      return step({ kind: 'draining' }, { kind: 'stop_input' });
    default:
      return step(state);
  }
}

function fail(state: State): Step {
  switch (state.kind) {
    case 'failing':
      return step(state);
    case 'disconnected':
      return step({ kind: 'closed' }, { kind: 'release' });
    default:
      return step({ kind: 'failing' }, { kind: 'close', why: 'internal_error' });
  }
}

function disconnect(state: State): Step {
  switch (state.kind) {
    case 'disconnected':
      return step(state);
    case 'failing':
      return step({ kind: 'closed' }, { kind: 'release' });
    default:
      return step({ kind: 'disconnected' }, { kind: 'stop_input' });
  }
}

function step(state: State, ...effects: readonly Effect[]): Step {
  return { state, effects };
}
