/**
 * State machine of the transcriptions of one connection. Pure. One transcription runs at a time and the
 * others wait (spec 3.4; 6.1: "commits are serialised"; 6.2, order rules 1 and 2). The table is
 * docs/states/transcription.md.
 */

import type { Id } from '../../../src/contract/core/id.ts';
import type { TranscriptTokens } from '../../../src/listen/turn-transcriptions.ts';
import type { WireError } from '../protocol/errors.ts';
import type { ServerEvent } from '../protocol/server-events.ts';

/** Maximum number of committed turns that wait behind the running transcription. */
export const MAX_PENDING_TURNS = 64;

type ItemId = Id<'item'>;

/** A turn whose transcription has not started. */
export interface WaitingTurn {
  readonly itemId: ItemId;
  readonly committed: boolean;
}

export type State =
  /** No transcription runs and none waits. */
  | { readonly kind: 'idle' }
  /** A server_vad turn is transcribed while it may still be dropped. Its text and result are buffered. */
  | {
      readonly kind: 'speculative';
      readonly itemId: ItemId;
      readonly bufferedText: string;
      readonly bufferedResult: TranscriptionResult | undefined;
      readonly waiting: readonly WaitingTurn[];
    }
  | { readonly kind: 'transcribing'; readonly itemId: ItemId; readonly waiting: readonly WaitingTurn[] }
  | { readonly kind: 'closed' };

/** Final event of a transcription. */
export type TranscriptionResult =
  | {
      readonly kind: 'completed';
      readonly itemId: ItemId;
      readonly transcript: string;
      readonly tokens: TranscriptTokens;
    }
  | { readonly kind: 'failed'; readonly itemId: ItemId; readonly error: WireError };

/** Event of a transcription. Events of an unknown turn are ignored. */
export type TranscriptionEvent =
  | { readonly kind: 'delta'; readonly itemId: ItemId; readonly text: string }
  | TranscriptionResult;

export type Event =
  /** server_vad detected speech. The audio of the turn is still arriving. */
  | { readonly kind: 'turn_opened'; readonly itemId: ItemId }
  /** The audio of a turn is complete. The turn may have been opened before. */
  | { readonly kind: 'turn_committed'; readonly itemId: ItemId }
  /** An opened turn was cleared before it was committed. */
  | { readonly kind: 'turn_dropped'; readonly itemId: ItemId }
  | TranscriptionEvent
  /** The connection closed. */
  | { readonly kind: 'closed' };

export type Effect =
  /** Start the transcription. A turn that is not confirmed yet will be confirmed or stopped. */
  | { readonly kind: 'transcribe'; readonly itemId: ItemId }
  /** The turn was committed, whether its transcription has started or not. Its call is billed. */
  | { readonly kind: 'confirm'; readonly itemId: ItemId }
  /** Stop the transcription. */
  | { readonly kind: 'stop'; readonly itemId: ItemId }
  /** The transcription of a waiting turn will never start. A committed turn still has its usage row. */
  | { readonly kind: 'abandon'; readonly itemId: ItemId }
  | { readonly kind: 'send'; readonly event: ServerEvent };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = { kind: 'idle' };

/** Returns whether one more turn may be committed. */
export function canCommit(state: State): boolean {
  if (state.kind === 'idle' || state.kind === 'closed') return state.kind === 'idle';
  return state.waiting.filter(({ committed }) => committed).length < MAX_PENDING_TURNS;
}

/** Returns whether the result of a committed turn is pending. */
export function isBusy(state: State): boolean {
  if (state.kind === 'idle' || state.kind === 'closed') return false;
  return state.kind === 'transcribing' || state.waiting.some(({ committed }) => committed);
}

/** Returns whether a turn with this id is waiting or running. */
export function hasTurn(state: State, itemId: string): boolean {
  if (state.kind === 'idle' || state.kind === 'closed') return false;
  return state.itemId === itemId || state.waiting.some((turn) => turn.itemId === itemId);
}

/** Total: an event that is not expected in a state is ignored. */
export function next(state: State, event: Event): Step {
  switch (event.kind) {
    case 'turn_opened':
      return enter(state, { itemId: event.itemId, committed: false });
    case 'turn_committed':
      return commit(state, event.itemId);
    case 'turn_dropped':
      return drop(state, event.itemId);
    case 'delta':
      return applyDelta(state, event.itemId, event.text);
    case 'completed':
    case 'failed':
      return finish(state, event);
    case 'closed':
      return close(state);
    default:
      return event satisfies never;
  }
}

function enter(state: State, turn: WaitingTurn): Step {
  if (state.kind === 'idle') return startNext([turn]);
  if (state.kind === 'closed' || hasTurn(state, turn.itemId)) return unchanged(state);
  return { state: { ...state, waiting: [...state.waiting, turn] }, effects: [] };
}

function commit(state: State, itemId: ItemId): Step {
  if (state.kind === 'speculative' && state.itemId === itemId) return confirm(state);
  if (state.kind === 'closed') return unchanged(state);
  const confirmed = { kind: 'confirm', itemId } as const;
  if (state.kind === 'idle' || !hasTurn(state, itemId)) {
    const step = enter(state, { itemId, committed: true });
    return { state: step.state, effects: [confirmed, ...step.effects] };
  }
  const isNew = state.waiting.some((turn) => turn.itemId === itemId && !turn.committed);
  if (!isNew) return unchanged(state);
  const waiting = state.waiting.map((turn) => (turn.itemId === itemId ? { itemId, committed: true } : turn));
  return { state: { ...state, waiting }, effects: [confirmed] };
}

/** Sends the buffered events in order. */
function confirm({ itemId, bufferedText, bufferedResult, waiting }: State & { kind: 'speculative' }): Step {
  const before: Effect[] = [{ kind: 'confirm', itemId }, ...deltaEvent(itemId, bufferedText)];
  if (bufferedResult === undefined)
    return { state: { kind: 'transcribing', itemId, waiting }, effects: before };
  return startNext(waiting, [...before, resultEvent(bufferedResult)]);
}

function drop(state: State, itemId: ItemId): Step {
  if (state.kind === 'idle' || state.kind === 'closed') return unchanged(state);
  if (state.kind === 'speculative' && state.itemId === itemId) {
    return startNext(state.waiting, [{ kind: 'stop', itemId }]);
  }
  const waiting = state.waiting.filter((turn) => turn.committed || turn.itemId !== itemId);
  if (waiting.length === state.waiting.length) return unchanged(state);
  return { state: { ...state, waiting }, effects: [{ kind: 'abandon', itemId }] };
}

function applyDelta(state: State, itemId: ItemId, text: string): Step {
  if (state.kind === 'speculative' && state.itemId === itemId && state.bufferedResult === undefined) {
    return { state: { ...state, bufferedText: state.bufferedText + text }, effects: [] };
  }
  if (state.kind === 'transcribing' && state.itemId === itemId) {
    return { state, effects: deltaEvent(itemId, text) };
  }
  return unchanged(state);
}

function finish(state: State, event: TranscriptionResult): Step {
  if (state.kind === 'speculative' && state.itemId === event.itemId) {
    return { state: { ...state, bufferedResult: state.bufferedResult ?? event }, effects: [] };
  }
  if (state.kind === 'transcribing' && state.itemId === event.itemId) {
    return startNext(state.waiting, [resultEvent(event)]);
  }
  return unchanged(state);
}

function close(state: State): Step {
  if (state.kind === 'idle' || state.kind === 'closed') return { state: { kind: 'closed' }, effects: [] };
  const committed = state.waiting.filter((turn) => turn.committed);
  return {
    state: { kind: 'closed' },
    effects: [
      { kind: 'stop', itemId: state.itemId },
      ...committed.map(({ itemId }) => ({ kind: 'abandon', itemId }) as const),
    ],
  };
}

/** Starts the first waiting turn. `before`: effects that precede it. */
function startNext([first, ...waiting]: readonly WaitingTurn[], before: readonly Effect[] = []): Step {
  if (first === undefined) return { state: initial, effects: before };
  const { itemId, committed } = first;
  return {
    state: committed
      ? { kind: 'transcribing', itemId, waiting }
      : { kind: 'speculative', itemId, bufferedText: '', bufferedResult: undefined, waiting },
    effects: [...before, { kind: 'transcribe', itemId }],
  };
}

function unchanged(state: State): Step {
  return { state, effects: [] };
}

/** Deltas are never empty (openai-wire 8.5). */
function deltaEvent(itemId: ItemId, delta: string): Effect[] {
  if (delta === '') return [];
  const type = 'conversation.item.input_audio_transcription.delta';
  return [{ kind: 'send', event: { type, item_id: itemId, content_index: 0, delta, logprobs: null } }];
}

function resultEvent(finish: TranscriptionResult): Effect {
  const at = { item_id: finish.itemId, content_index: 0 } as const;
  if (finish.kind === 'failed') {
    const type = 'conversation.item.input_audio_transcription.failed';
    return { kind: 'send', event: { type, ...at, error: finish.error } };
  }
  const type = 'conversation.item.input_audio_transcription.completed';
  const { transcript, tokens } = finish;
  return { kind: 'send', event: { type, ...at, transcript, logprobs: null, usage: wireUsage(tokens) } };
}

/** Clients require both detail counts (openai-wire 8.7). */
function wireUsage({ audio, text, output }: TranscriptTokens) {
  return {
    type: 'tokens',
    total_tokens: audio + text + output,
    input_tokens: audio + text,
    output_tokens: output,
    input_token_details: { text_tokens: text, audio_tokens: audio },
  } as const;
}
