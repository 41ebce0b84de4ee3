/**
 * The turns of one call, pure: they are transcribed at once, each as it is spoken, and told one after the other.
 * The table is docs/states/turn-order.md.
 */

import type { Id } from '../../../src/contract/core/id.ts';

type ItemId = Id<'item'>;

/** How a turn ended. */
export type TurnEnd =
  | { readonly kind: 'completed'; readonly itemId: ItemId; readonly transcript: string }
  | { readonly kind: 'failed'; readonly itemId: ItemId; readonly message: string };

/** A turn that has not been told to its end; `end` while an earlier one has none. */
export interface UntoldTurn {
  readonly itemId: ItemId;
  readonly end?: TurnEnd;
}

/** In the order in which they were spoken. The first, if any, has no end. */
export type State = readonly UntoldTurn[];

export type Event =
  /** The customer has begun to speak. */
  | { readonly kind: 'opened'; readonly itemId: ItemId }
  /** What the turn sounds like so far. */
  | { readonly kind: 'heard_so_far'; readonly itemId: ItemId; readonly text: string }
  | TurnEnd;

export type Effect =
  | { readonly kind: 'transcribe'; readonly itemId: ItemId }
  | { readonly kind: 'tell_partial' | 'tell_final'; readonly text: string }
  | { readonly kind: 'tell_failure'; readonly message: string };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = [];

/** Total: what is said of a turn that is not there changes nothing. */
export function next(state: State, event: Event): Step {
  const known = state.find(({ itemId }) => itemId === event.itemId);
  switch (event.kind) {
    case 'opened': {
      if (known !== undefined) return { state, effects: [] };
      const { itemId } = event;
      return { state: [...state, { itemId }], effects: [{ kind: 'transcribe', itemId }] };
    }
    case 'heard_so_far': {
      // A partial stands for the turn that has no final yet, and that is the first.
      const isFirst = known !== undefined && known === state[0];
      return { state, effects: isFirst ? told('tell_partial', event.text) : [] };
    }
    case 'completed':
    case 'failed':
      if (known === undefined || known.end !== undefined) return { state, effects: [] };
      return tellEnded(state.map((turn) => (turn === known ? { ...turn, end: event } : turn)));
    default:
      return event satisfies never;
  }
}

/** Tells the ends of the first turns that have one. */
function tellEnded(turns: readonly UntoldTurn[]): Step {
  const untold = turns.findIndex(({ end }) => end === undefined);
  const count = untold === -1 ? turns.length : untold;
  return { state: turns.slice(count), effects: turns.slice(0, count).flatMap(({ end }) => endOf(end)) };
}

function endOf(end: TurnEnd | undefined): readonly Effect[] {
  if (end === undefined) return [];
  if (end.kind === 'failed') return [{ kind: 'tell_failure', message: end.message }];
  return told('tell_final', end.transcript);
}

/** Nothing is told of a turn in which nothing was said (reference A.7). */
function told(kind: 'tell_partial' | 'tell_final', text: string): readonly Effect[] {
  return text === '' ? [] : [{ kind, text }];
}
