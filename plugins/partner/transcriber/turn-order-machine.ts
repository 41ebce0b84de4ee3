/**
 * Orders the turns of one call. Turns are transcribed concurrently, but their results are sent in the order in which
 * they were spoken. Pure. The state table is docs/states/turn-order.md.
 */

import type { Id } from '../../../src/contract/core/id.ts';

type ItemId = Id<'item_'>;

/** The result of a turn. */
export type TurnEnd =
  | { readonly kind: 'completed'; readonly itemId: ItemId; readonly transcript: string }
  | { readonly kind: 'failed'; readonly itemId: ItemId; readonly message: string };

/** A turn whose result was not sent. `end` is set if the result waits for earlier turns. */
export interface PendingTurn {
  readonly itemId: ItemId;
  readonly end?: TurnEnd;
}

/** Pending turns in spoken order. The first one, if any, has no result yet. */
export type State = readonly PendingTurn[];

export type Event =
  /** The customer started to speak. */
  | { readonly kind: 'started'; readonly itemId: ItemId }
  /** Partial transcript of an open turn. */
  | { readonly kind: 'partial_received'; readonly itemId: ItemId; readonly text: string }
  | TurnEnd;

export type Effect =
  | { readonly kind: 'transcribe'; readonly itemId: ItemId }
  | { readonly kind: 'send_partial' | 'send_final'; readonly text: string }
  | { readonly kind: 'send_error'; readonly message: string };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = [];

/** Total: events of unknown turns are ignored. */
export function next(state: State, event: Event): Step {
  const known = state.find(({ itemId }) => itemId === event.itemId);
  switch (event.kind) {
    case 'started': {
      if (known !== undefined) return { state, effects: [] };
      const { itemId } = event;
      return { state: [...state, { itemId }], effects: [{ kind: 'transcribe', itemId }] };
    }
    case 'partial_received': {
      // A partial belongs to the turn whose final is sent next, which is the first.
      const isFirst = known !== undefined && known === state[0];
      return { state, effects: isFirst ? textEffect('send_partial', event.text) : [] };
    }
    case 'completed':
    case 'failed':
      if (known === undefined || known.end !== undefined) return { state, effects: [] };
      return sendFinished(state.map((turn) => (turn === known ? { ...turn, end: event } : turn)));
    default:
      return event satisfies never;
  }
}

/** Sends the results of the leading turns that have one. */
function sendFinished(turns: readonly PendingTurn[]): Step {
  const firstPending = turns.findIndex(({ end }) => end === undefined);
  const count = firstPending === -1 ? turns.length : firstPending;
  return { state: turns.slice(count), effects: turns.slice(0, count).flatMap(({ end }) => endEffects(end)) };
}

function endEffects(end: TurnEnd | undefined): readonly Effect[] {
  if (end === undefined) return [];
  if (end.kind === 'failed') return [{ kind: 'send_error', message: end.message }];
  return textEffect('send_final', end.transcript);
}

/** Empty transcripts are not sent (reference A.7). */
function textEffect(kind: 'send_partial' | 'send_final', text: string): readonly Effect[] {
  return text === '' ? [] : [{ kind, text }];
}
