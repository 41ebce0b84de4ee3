/**
 * The life of one transcriber socket, pure: from the upgrade to the moment at which everything of it is freed. The
 * table is docs/states/phone-call.md.
 */

export type State =
  /** The upgrade was accepted; nothing can be sent yet. */
  | { readonly kind: 'connecting' }
  /** Open; neither a start nor audio came. */
  | { readonly kind: 'expecting' }
  /** Audio is heard. */
  | { readonly kind: 'hearing' }
  /** The service stops: no more audio is heard, the last turns are written out and told. */
  | { readonly kind: 'finishing' }
  /** A close was sent; the peer has not answered. */
  | { readonly kind: 'closing' }
  /** As closing, after a fault: nobody knows what is left in order. */
  | { readonly kind: 'failing' }
  /** The socket is closed; the last turns are written out, for their rows. */
  | { readonly kind: 'leaving' }
  | { readonly kind: 'closed' };

export type Event =
  | { readonly kind: 'opened' }
  /** A start that can be used. */
  | { readonly kind: 'start_came' }
  | { readonly kind: 'wrong_start_came' }
  /** Before what it holds is heard. */
  | { readonly kind: 'audio_came' }
  /** More came than is dealt with in time. */
  | { readonly kind: 'overrun' }
  /** All audio was judged, and every turn has ended. */
  | { readonly kind: 'turns_ended' }
  | { readonly kind: 'drain_ordered' }
  /** Nothing may be waited for any more. */
  | { readonly kind: 'stop_ordered' }
  /** Something failed that nobody foresaw. */
  | { readonly kind: 'fault_found' }
  | { readonly kind: 'socket_closed' };

export type Why = 'wrong_start' | 'overrun' | 'shutting_down' | 'fault';

export type Effect =
  /** Hear audio as the start says. */
  | { readonly kind: 'configure' }
  /** Hear audio as it usually comes: nothing was said of it. */
  | { readonly kind: 'assume' }
  /** Hear no more; what was heard is judged, and an open turn ends. */
  | { readonly kind: 'end_hearing' }
  /** Tell why, in a message. */
  | { readonly kind: 'tell'; readonly why: 'wrong_start' | 'overrun' }
  | { readonly kind: 'close'; readonly why: Why }
  /** Stop and free everything that belongs to the call. */
  | { readonly kind: 'release' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = { kind: 'connecting' };

/** Whether audio counts. */
export function hears({ kind }: State): boolean {
  return kind === 'hearing';
}

/** Total: what makes no sense in a state leaves it as it is. */
export function next(state: State, event: Event): Step {
  if (state.kind === 'closed') return step(state);
  switch (event.kind) {
    case 'opened':
      return open(state);
    case 'start_came':
      return isListening(state) ? step({ kind: 'hearing' }, { kind: 'configure' }) : step(state);
    case 'wrong_start_came':
      return isListening(state) ? refuse('wrong_start') : step(state);
    case 'audio_came':
      return state.kind === 'expecting' ? step({ kind: 'hearing' }, { kind: 'assume' }) : step(state);
    case 'overrun':
      return state.kind === 'hearing' ? refuse('overrun') : step(state);
    case 'turns_ended':
      return endTurns(state);
    case 'drain_ordered':
      return drain(state);
    case 'stop_ordered':
      return step({ kind: 'closed' }, { kind: 'close', why: 'shutting_down' }, { kind: 'release' });
    case 'fault_found':
      return fail(state);
    case 'socket_closed':
      return leave(state);
    default:
      return event satisfies never;
  }
}

function isListening({ kind }: State): boolean {
  return kind === 'expecting' || kind === 'hearing';
}

function open(state: State): Step {
  switch (state.kind) {
    case 'connecting':
      return step({ kind: 'expecting' });
    // The service began to stop between the upgrade and this moment.
    case 'closing':
      return step(state, { kind: 'close', why: 'shutting_down' });
    default:
      return step(state);
  }
}

function refuse(why: 'wrong_start' | 'overrun'): Step {
  return step({ kind: 'closing' }, { kind: 'tell', why }, { kind: 'close', why });
}

function endTurns(state: State): Step {
  switch (state.kind) {
    case 'finishing':
      return step({ kind: 'closing' }, { kind: 'close', why: 'shutting_down' });
    case 'leaving':
      return step({ kind: 'closed' }, { kind: 'release' });
    default:
      return step(state);
  }
}

function drain(state: State): Step {
  switch (state.kind) {
    case 'connecting':
    case 'expecting':
      return step({ kind: 'closing' }, { kind: 'close', why: 'shutting_down' });
    case 'hearing':
      return step({ kind: 'finishing' }, { kind: 'end_hearing' });
    default:
      return step(state);
  }
}

function fail(state: State): Step {
  switch (state.kind) {
    case 'failing':
      return step(state);
    case 'leaving':
      return step({ kind: 'closed' }, { kind: 'release' });
    default:
      return step({ kind: 'failing' }, { kind: 'close', why: 'fault' });
  }
}

function leave(state: State): Step {
  switch (state.kind) {
    case 'leaving':
      return step(state);
    case 'failing':
      return step({ kind: 'closed' }, { kind: 'release' });
    default:
      return step({ kind: 'leaving' }, { kind: 'end_hearing' });
  }
}

function step(state: State, ...effects: readonly Effect[]): Step {
  return { state, effects };
}
