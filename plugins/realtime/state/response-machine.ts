/**
 * The response of one connection, pure: at most one is active (spec 3.4; 6.1; 6.2, order rule 3; payloads as in
 * openai-wire 8.5 to 8.7). The table is docs/states/response.md.
 */

import type { Id } from '../../../src/contract/core/id.ts';
import { errorEvent, type Failure, invalidEvent, type Refusal } from '../protocol/errors.ts';
import type { ServerEvent } from '../protocol/server-events.ts';
import {
  audioDelta,
  begun,
  cancelled,
  completed,
  failed,
  type ResponseIdentity,
  type ResponseTokens,
} from './response-events.ts';

type ResponseId = Id<'response'>;

export type State =
  | { readonly kind: 'idle' }
  /** `sentences`: those that were begun, in order; when all were, they are the text. */
  | {
      readonly kind: 'speaking';
      readonly response: ResponseIdentity;
      readonly sentences: readonly string[];
    }
  | { readonly kind: 'closed' };

/** What the synthesis of a response reports. A fact about a response that has ended changes nothing. */
export type SpeakingFact =
  /** The next piece of the text went to the engine; together the pieces are the text. */
  | { readonly kind: 'sentence_begun'; readonly responseId: ResponseId; readonly text: string }
  /** Audio in the output format. */
  | { readonly kind: 'audio_made'; readonly responseId: ResponseId; readonly base64: string }
  | { readonly kind: 'synthesis_ended'; readonly responseId: ResponseId; readonly tokens: ResponseTokens }
  | { readonly kind: 'synthesis_failed'; readonly responseId: ResponseId; readonly error: Failure };

export type Event =
  | (ResponseIdentity & {
      readonly kind: 'create_asked';
      /** `event_id` of the client's event. */
      readonly eventId: string | null;
      /** The most recent user text, if there is any. */
      readonly text: string | undefined;
      /** Whether the session's `output_modalities` include `audio`. */
      readonly canSpeak: boolean;
    })
  | {
      readonly kind: 'cancel_asked';
      readonly eventId: string | null;
      /** The only response that is meant; absent: whichever is active. */
      readonly responseId?: string | undefined;
    }
  | SpeakingFact
  /** The connection has ended. */
  | { readonly kind: 'closed' };

export type Effect =
  | { readonly kind: 'synthesize'; readonly responseId: ResponseId; readonly text: string }
  /** End what was begun. */
  | { readonly kind: 'stop'; readonly responseId: ResponseId }
  | { readonly kind: 'send'; readonly event: ServerEvent };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = { kind: 'idle' };

const IN_PROGRESS: Refusal = {
  code: 'response_in_progress',
  message:
    'response.create refused: a response is already in progress; wait for its response.done or cancel it.',
  param: null,
};
const NO_AUDIO = invalidEvent(
  "response.create refused: the session's output_modalities lack 'audio'; set them with session.update.",
);
const NO_TEXT = invalidEvent(
  'response.create refused: there is no user text to speak; add it with conversation.item.create.',
);
const NOTHING_TO_CANCEL = invalidEvent('There is no response in progress to cancel.');
const NOT_THIS_ONE = invalidEvent(
  "There is no response in progress to cancel with this 'response_id'.",
  'response_id',
);

/** Total: what makes no sense in a state is refused, or leaves it as it is. */
export function next(state: State, event: Event): Step {
  if (state.kind === 'closed') return unchanged(state);
  switch (event.kind) {
    case 'create_asked':
      return create(state, event);
    case 'cancel_asked':
      return cancel(state, event);
    case 'closed':
      return close(state);
    case 'sentence_begun':
    case 'audio_made':
    case 'synthesis_ended':
    case 'synthesis_failed':
      if (state.kind === 'idle' || state.response.responseId !== event.responseId) return unchanged(state);
      return learn(state, event);
    default:
      return event satisfies never;
  }
}

function create(state: State, event: Event & { kind: 'create_asked' }): Step {
  const { eventId, text, canSpeak, kind: _, ...response } = event;
  if (state.kind !== 'idle') return refused(state, IN_PROGRESS, eventId);
  if (!canSpeak) return refused(state, NO_AUDIO, eventId);
  if (text === undefined) return refused(state, NO_TEXT, eventId);
  const { responseId } = response;
  return {
    state: { kind: 'speaking', response, sentences: [] },
    effects: [...sent(begun(response)), { kind: 'synthesize', responseId, text }],
  };
}

function cancel(state: State, { eventId, responseId }: Event & { kind: 'cancel_asked' }): Step {
  if (state.kind !== 'speaking') return refused(state, NOTHING_TO_CANCEL, eventId);
  const active = state.response.responseId;
  if (responseId !== undefined && responseId !== active) return refused(state, NOT_THIS_ONE, eventId);
  return {
    state: initial,
    effects: [{ kind: 'stop', responseId: active }, ...sent(cancelled(state.response, state.sentences))],
  };
}

function learn(state: State & { kind: 'speaking' }, fact: SpeakingFact): Step {
  const { response, sentences } = state;
  switch (fact.kind) {
    case 'sentence_begun':
      return { state: { ...state, sentences: [...sentences, fact.text] }, effects: [] };
    case 'audio_made':
      return { state, effects: sent([audioDelta(response, fact.base64)]) };
    case 'synthesis_ended':
      return { state: initial, effects: sent(completed(response, sentences, fact.tokens)) };
    case 'synthesis_failed':
      return { state: initial, effects: sent(failed(response, sentences, fact.error)) };
    default:
      return fact satisfies never;
  }
}

function close(state: State): Step {
  if (state.kind !== 'speaking') return { state: { kind: 'closed' }, effects: [] };
  return { state: { kind: 'closed' }, effects: [{ kind: 'stop', responseId: state.response.responseId }] };
}

function unchanged(state: State): Step {
  return { state, effects: [] };
}

function refused(state: State, refusal: Refusal, eventId: string | null): Step {
  return { state, effects: sent([errorEvent(refusal, eventId)]) };
}

function sent(events: readonly ServerEvent[]): Effect[] {
  return events.map((event) => ({ kind: 'send', event }));
}
