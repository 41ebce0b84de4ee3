/**
 * State machine of the transcriptions of one connection. Pure. One transcription runs at a time and the
 * others wait (spec 3.4; 6.1: "commits are serialised"; 6.2, order rules 1 and 2). The table is
 * docs/states/transcription.md.
 */

import type { Id } from '../../../src/contract/core/id.ts';
import type { TextToken, TranscriptDelta } from '../../../src/contract/engines/engine.ts';
import { wireLogprobs } from '../../../src/listen/logprobs.ts';
import type { TranscriptTokens } from '../../../src/listen/turn.ts';
import { MAX_PENDING_TURNS } from '../limits.ts';
import type { WireError } from '../protocol/errors.ts';
import type { ServerEvent } from '../protocol/server-events.ts';

type ItemId = Id<'item_'>;

/** An unfinished turn. A turn of server_vad is committed later than it is opened. */
interface Turn {
  readonly itemId: ItemId;
  readonly committed: boolean;
}

export type State =
  /** Unfinished turns in order. The first one, if any, is being transcribed, possibly before its commit. */
  { readonly kind: 'open'; readonly turns: readonly Turn[] } | { readonly kind: 'closed' };

/** Final event of a transcription. */
export type TranscriptionResult =
  | {
      readonly kind: 'completed';
      readonly itemId: ItemId;
      readonly transcript: string;
      readonly tokens: TranscriptTokens;
      readonly textTokens?: readonly TextToken[] | undefined;
    }
  | { readonly kind: 'failed'; readonly itemId: ItemId; readonly error: WireError };

/**
 * Event of a transcription. Events of an unknown turn are ignored, and so are those of a turn that is not
 * committed: the driver reports nothing before the commit.
 */
export type TranscriptionEvent =
  | ({ readonly kind: 'delta'; readonly itemId: ItemId } & TranscriptDelta)
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

export const initial: State = { kind: 'open', turns: [] };

/** Returns whether one more turn may be committed. */
export function canCommit(state: State): boolean {
  if (state.kind === 'closed') return false;
  return state.turns.slice(1).filter(({ committed }) => committed).length < MAX_PENDING_TURNS;
}

/** Returns whether the result of a committed turn is pending. */
export function isBusy(state: State): boolean {
  return state.kind === 'open' && state.turns.some(({ committed }) => committed);
}

/** Returns whether a turn with this id is waiting or running. */
export function hasTurn(state: State, itemId: string): boolean {
  return state.kind === 'open' && state.turns.some((turn) => turn.itemId === itemId);
}

/** Total: an event that is not expected in a state is ignored. */
export function next(state: State, event: Event): Step {
  if (state.kind === 'closed') return { state, effects: [] };
  if (event.kind === 'closed') return close(state.turns);
  const { turns } = state;
  const { itemId } = event;
  const known = turns.find((turn) => turn.itemId === itemId);
  switch (event.kind) {
    case 'turn_opened':
      return known ? unchanged(state) : enter(turns, { itemId, committed: false });
    case 'turn_committed':
      return known?.committed ? unchanged(state) : commit(turns, itemId);
    case 'turn_dropped':
      return !known || known.committed ? unchanged(state) : drop(turns, itemId);
    case 'delta':
      return isReporting(turns, known) ? { state, effects: deltaEvent(itemId, event) } : unchanged(state);
    case 'completed':
    case 'failed':
      return isReporting(turns, known) ? startNext(turns.slice(1), resultEvent(event)) : unchanged(state);
    default:
      return event satisfies never;
  }
}

/** Returns whether a turn is being transcribed and committed. */
function isReporting([first]: readonly Turn[], turn: Turn | undefined): boolean {
  return turn !== undefined && turn === first && turn.committed;
}

function enter(turns: readonly Turn[], turn: Turn): Step {
  return turns.length === 0 ? startNext([turn]) : open([...turns, turn]);
}

function commit(turns: readonly Turn[], itemId: ItemId): Step {
  const turn = { itemId, committed: true };
  const confirmed = { kind: 'confirm', itemId } as const;
  if (turns.some((each) => each.itemId === itemId)) {
    return open(
      turns.map((each) => (each.itemId === itemId ? turn : each)),
      confirmed,
    );
  }
  const { state, effects } = enter(turns, turn);
  return { state, effects: [confirmed, ...effects] };
}

function drop(turns: readonly Turn[], itemId: ItemId): Step {
  const rest = turns.filter((turn) => turn.itemId !== itemId);
  return turns[0]?.itemId === itemId
    ? startNext(rest, { kind: 'stop', itemId })
    : open(rest, { kind: 'abandon', itemId });
}

function close([first, ...waiting]: readonly Turn[]): Step {
  const stopped: Effect[] = first ? [{ kind: 'stop', itemId: first.itemId }] : [];
  const abandoned = waiting
    .filter(({ committed }) => committed)
    .map(({ itemId }): Effect => ({ kind: 'abandon', itemId }));
  return { state: { kind: 'closed' }, effects: [...stopped, ...abandoned] };
}

/** Starts the first turn, if any. `before`: effects that precede it. */
function startNext(turns: readonly Turn[], ...before: readonly Effect[]): Step {
  const [first] = turns;
  return first
    ? open(turns, ...before, { kind: 'transcribe', itemId: first.itemId })
    : open(turns, ...before);
}

function open(turns: readonly Turn[], ...effects: readonly Effect[]): Step {
  return { state: { kind: 'open', turns }, effects };
}

function unchanged(state: State): Step {
  return { state, effects: [] };
}

/** Deltas are never empty (openai-wire 8.5). */
function deltaEvent(itemId: ItemId, { text: delta, tokens }: TranscriptDelta): Effect[] {
  if (delta === '') return [];
  const type = 'conversation.item.input_audio_transcription.delta';
  const logprobs = wireLogprobs(tokens) ?? null;
  return [{ kind: 'send', event: { type, item_id: itemId, content_index: 0, delta, logprobs } }];
}

function resultEvent(finish: TranscriptionResult): Effect {
  const at = { item_id: finish.itemId, content_index: 0 } as const;
  if (finish.kind === 'failed') {
    const type = 'conversation.item.input_audio_transcription.failed';
    return { kind: 'send', event: { type, ...at, error: finish.error } };
  }
  const type = 'conversation.item.input_audio_transcription.completed';
  const { transcript, tokens, textTokens } = finish;
  const logprobs = wireLogprobs(textTokens) ?? null;
  return { kind: 'send', event: { type, ...at, transcript, logprobs, usage: wireUsage(tokens) } };
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
