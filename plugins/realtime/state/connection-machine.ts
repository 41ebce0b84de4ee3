/**
 * The life of one connection, pure: from the upgrade to the moment at which everything of it is freed (spec 3.4).
 * The table is docs/states/connection.md.
 */

export type State =
  /** The upgrade was accepted; nothing can be sent yet. */
  | { readonly kind: 'connecting' }
  /** `session.created` was sent; no update came yet. */
  | { readonly kind: 'created' }
  /** At least one `session.update` was merged. */
  | { readonly kind: 'configured' }
  /** The service stops: what is under way ends, nothing new begins. */
  | { readonly kind: 'draining' }
  /** A close was sent; the peer has not answered. */
  | { readonly kind: 'closing' }
  | { readonly kind: 'closed' };

export type Event =
  | { readonly kind: 'opened' }
  /** A `session.update` was merged, whatever it changed. */
  | { readonly kind: 'update_merged' }
  /** @param busy whether a committed turn or a response is under way. */
  | { readonly kind: 'drain_ordered'; readonly busy: boolean }
  /** The last of what was under way has ended. */
  | { readonly kind: 'work_ended' }
  /** Something failed that nobody foresaw. */
  | { readonly kind: 'fault_found' }
  | { readonly kind: 'socket_closed' };

export type Effect =
  /** Send `session.created`. */
  | { readonly kind: 'greet' }
  /** Send `session.updated`. */
  | { readonly kind: 'acknowledge' }
  /** Hear no more audio: what was committed is all that will be. */
  | { readonly kind: 'deafen' }
  | { readonly kind: 'close'; readonly why: 'shutting_down' | 'fault' }
  /** Stop and free everything that belongs to the connection. */
  | { readonly kind: 'release' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = { kind: 'connecting' };

/** Whether a commit or a response may begin. */
export function acceptsWork({ kind }: State): boolean {
  return kind === 'created' || kind === 'configured';
}

/** Total: what makes no sense in a state leaves it as it is. */
export function next(state: State, event: Event): Step {
  if (state.kind === 'closed') return unchanged(state);
  switch (event.kind) {
    case 'opened':
      return open(state);
    case 'update_merged':
      return update(state);
    case 'drain_ordered':
      return drain(state, event.busy);
    case 'work_ended':
      return state.kind === 'draining' ? close('shutting_down') : unchanged(state);
    case 'fault_found':
      return state.kind === 'closing' ? unchanged(state) : close('fault');
    case 'socket_closed':
      return { state: { kind: 'closed' }, effects: [{ kind: 'release' }] };
    default:
      return event satisfies never;
  }
}

function open(state: State): Step {
  switch (state.kind) {
    case 'connecting':
      return { state: { kind: 'created' }, effects: [{ kind: 'greet' }] };
    // The service began to stop between the upgrade and this moment.
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
      return { state: { kind: 'configured' }, effects: [{ kind: 'acknowledge' }] };
    case 'draining':
      return { state, effects: [{ kind: 'acknowledge' }] };
    default:
      return unchanged(state);
  }
}

function drain(state: State, busy: boolean): Step {
  if (state.kind === 'draining' || state.kind === 'closing') return unchanged(state);
  if (!busy || state.kind === 'connecting') return close('shutting_down');
  return { state: { kind: 'draining' }, effects: [{ kind: 'deafen' }] };
}

function close(why: (Effect & { kind: 'close' })['why']): Step {
  return { state: { kind: 'closing' }, effects: [{ kind: 'deafen' }, { kind: 'close', why }] };
}

function unchanged(state: State): Step {
  return { state, effects: [] };
}
