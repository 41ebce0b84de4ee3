/**
 * Life cycle of a connection, from the upgrade until everything is released (spec 3.4), as a pure state
 * machine. The table is docs/states/connection.md.
 */

export type State =
  /** The upgrade was accepted. Events cannot be sent yet. */
  | { readonly kind: 'connecting' }
  /** `session.created` was sent. */
  | { readonly kind: 'created' }
  /** At least one `session.update` was merged. */
  | { readonly kind: 'configured' }
  /** The service is shutting down. Pending work finishes and no new work starts. */
  | { readonly kind: 'draining' }
  /** A close frame was sent, and the peer has not closed yet. */
  | { readonly kind: 'closing' }
  | { readonly kind: 'closed' };

export type Event =
  | { readonly kind: 'opened' }
  /** A `session.update` was merged, with or without changes. */
  | { readonly kind: 'update_merged' }
  /** @param busy whether a committed turn or a response is pending. */
  | { readonly kind: 'drain_requested'; readonly busy: boolean }
  /** The last pending work finished. */
  | { readonly kind: 'work_finished' }
  /** An unexpected error occurred. */
  | { readonly kind: 'error_occurred' }
  | { readonly kind: 'socket_closed' };

export type Effect =
  /** Send `session.created`. */
  | { readonly kind: 'send_session_created' }
  /** Send `session.updated`. */
  | { readonly kind: 'send_session_updated' }
  /** Ignore further audio. Committed audio is still transcribed. */
  | { readonly kind: 'stop_input' }
  | { readonly kind: 'close'; readonly reason: 'shutting_down' | 'internal_error' }
  /** Stop and release everything that belongs to the connection. */
  | { readonly kind: 'release' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = { kind: 'connecting' };

/** Returns whether a commit or a response may start. */
export function acceptsWork({ kind }: State): boolean {
  return kind === 'created' || kind === 'configured';
}

/** Total: an event that is not expected in a state is ignored. */
export function next(state: State, event: Event): Step {
  if (state.kind === 'closed') return unchanged(state);
  switch (event.kind) {
    case 'opened':
      return open(state);
    case 'update_merged':
      return update(state);
    case 'drain_requested':
      return drain(state, event.busy);
    case 'work_finished':
      return state.kind === 'draining' ? close('shutting_down') : unchanged(state);
    case 'error_occurred':
      return state.kind === 'closing' ? unchanged(state) : close('internal_error');
    case 'socket_closed':
      return { state: { kind: 'closed' }, effects: [{ kind: 'release' }] };
    default:
      return event satisfies never;
  }
}

function open(state: State): Step {
  switch (state.kind) {
    case 'connecting':
      return { state: { kind: 'created' }, effects: [{ kind: 'send_session_created' }] };
    // The shutdown started between the upgrade and the opening of the socket.
    case 'closing':
      return close('shutting_down');
    default:
      return unchanged(state);
  }
}

function update(state: State): Step {
  switch (state.kind) {
    case 'created':
    case 'configured':
      return { state: { kind: 'configured' }, effects: [{ kind: 'send_session_updated' }] };
    case 'draining':
      return { state, effects: [{ kind: 'send_session_updated' }] };
    default:
      return unchanged(state);
  }
}

function drain(state: State, busy: boolean): Step {
  if (state.kind === 'draining' || state.kind === 'closing') return unchanged(state);
  if (!busy || state.kind === 'connecting') return close('shutting_down');
  return { state: { kind: 'draining' }, effects: [{ kind: 'stop_input' }] };
}

function close(reason: (Effect & { kind: 'close' })['reason']): Step {
  return { state: { kind: 'closing' }, effects: [{ kind: 'stop_input' }, { kind: 'close', reason }] };
}

function unchanged(state: State): Step {
  return { state, effects: [] };
}
