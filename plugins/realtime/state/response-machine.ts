/**
 * State machine of the response of one connection. Pure. At most one response is active (spec 3.4; 6.1; 6.2,
 * order rule 3; payloads as in openai-wire 8.5 to 8.7). The table is docs/states/response.md.
 */

import type { Id } from '../../../src/contract/core/id.ts';
import { errorEvent, invalidEvent, type ProtocolError, type WireError } from '../protocol/errors.ts';
import type { ServerEvent } from '../protocol/server-events.ts';
import {
  audioDelta,
  cancelledEvents,
  completedEvents,
  failedEvents,
  type ResponseIdentity,
  type ResponseTokens,
  startedEvents,
} from './response-events.ts';

type ResponseId = Id<'resp_'>;

export type State =
  | { readonly kind: 'idle' }
  /**
   * `sentences`: the sentences that were started, in order. At the end of the synthesis they are the text.
   */
  | {
      readonly kind: 'speaking';
      readonly response: ResponseIdentity;
      readonly sentences: readonly string[];
    }
  | { readonly kind: 'closed' };

/** Event of a synthesis. Events of a finished response are ignored. */
export type SynthesisEvent =
  /** The next sentence was passed to the engine. Joined, the sentences are the text. */
  | { readonly kind: 'sentence_started'; readonly responseId: ResponseId; readonly text: string }
  /** Audio in the output format. */
  | { readonly kind: 'audio_generated'; readonly responseId: ResponseId; readonly base64: string }
  | { readonly kind: 'synthesis_completed'; readonly responseId: ResponseId; readonly tokens: ResponseTokens }
  | { readonly kind: 'synthesis_failed'; readonly responseId: ResponseId; readonly error: WireError };

export type Event =
  | (ResponseIdentity & {
      readonly kind: 'create_requested';
      /** `event_id` of the client's event. */
      readonly eventId: string | null;
      /** The most recent user text, if there is any. */
      readonly text: string | undefined;
      /** Whether the session's `output_modalities` include `audio`. */
      readonly canSpeak: boolean;
    })
  | {
      readonly kind: 'cancel_requested';
      readonly eventId: string | null;
      /** Id of the response to cancel. Absent: the active one. */
      readonly responseId?: string | undefined;
    }
  | SynthesisEvent
  /** The connection closed. */
  | { readonly kind: 'closed' };

export type Effect =
  | { readonly kind: 'synthesize'; readonly responseId: ResponseId; readonly text: string }
  /** Stop the synthesis. */
  | { readonly kind: 'stop'; readonly responseId: ResponseId }
  | { readonly kind: 'send'; readonly event: ServerEvent };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

export const initial: State = { kind: 'idle' };

const RESPONSE_IN_PROGRESS: ProtocolError = {
  code: 'response_in_progress',
  message:
    'response.create rejected: a response is already in progress; wait for its response.done or cancel it.',
  param: null,
};
const NO_AUDIO_MODALITY = invalidEvent(
  "response.create rejected: the session's output_modalities lack 'audio'; set them with session.update.",
);
const NO_TEXT = invalidEvent(
  'response.create rejected: there is no user text to speak; add it with conversation.item.create.',
);
const NOTHING_TO_CANCEL = invalidEvent('There is no response in progress to cancel.');
const UNKNOWN_RESPONSE = invalidEvent(
  "There is no response in progress to cancel with this 'response_id'.",
  'response_id',
);

/** Total: an event that is not allowed in a state is rejected or ignored. */
export function next(state: State, event: Event): Step {
  if (state.kind === 'closed') return unchanged(state);
  switch (event.kind) {
    case 'create_requested':
      return create(state, event);
    case 'cancel_requested':
      return cancel(state, event);
    case 'closed':
      return close(state);
    case 'sentence_started':
    case 'audio_generated':
    case 'synthesis_completed':
    case 'synthesis_failed':
      if (state.kind === 'idle' || state.response.responseId !== event.responseId) return unchanged(state);
      return applySynthesisEvent(state, event);
    default:
      return event satisfies never;
  }
}

function create(state: State, event: Event & { kind: 'create_requested' }): Step {
  const { eventId, text, canSpeak, kind: _, ...response } = event;
  if (state.kind !== 'idle') return rejected(state, RESPONSE_IN_PROGRESS, eventId);
  if (!canSpeak) return rejected(state, NO_AUDIO_MODALITY, eventId);
  if (text === undefined) return rejected(state, NO_TEXT, eventId);
  const { responseId } = response;
  return {
    state: { kind: 'speaking', response, sentences: [] },
    effects: [...sendEffects(startedEvents(response)), { kind: 'synthesize', responseId, text }],
  };
}

function cancel(state: State, { eventId, responseId }: Event & { kind: 'cancel_requested' }): Step {
  if (state.kind !== 'speaking') return rejected(state, NOTHING_TO_CANCEL, eventId);
  const active = state.response.responseId;
  if (responseId !== undefined && responseId !== active) return rejected(state, UNKNOWN_RESPONSE, eventId);
  return {
    state: initial,
    effects: [
      { kind: 'stop', responseId: active },
      ...sendEffects(cancelledEvents(state.response, state.sentences)),
    ],
  };
}

function applySynthesisEvent(state: State & { kind: 'speaking' }, event: SynthesisEvent): Step {
  const { response, sentences } = state;
  switch (event.kind) {
    case 'sentence_started':
      return { state: { ...state, sentences: [...sentences, event.text] }, effects: [] };
    case 'audio_generated':
      return { state, effects: sendEffects([audioDelta(response, event.base64)]) };
    case 'synthesis_completed':
      return { state: initial, effects: sendEffects(completedEvents(response, sentences, event.tokens)) };
    case 'synthesis_failed':
      return { state: initial, effects: sendEffects(failedEvents(response, sentences, event.error)) };
    default:
      return event satisfies never;
  }
}

function close(state: State): Step {
  if (state.kind !== 'speaking') return { state: { kind: 'closed' }, effects: [] };
  return { state: { kind: 'closed' }, effects: [{ kind: 'stop', responseId: state.response.responseId }] };
}

function unchanged(state: State): Step {
  return { state, effects: [] };
}

function rejected(state: State, error: ProtocolError, eventId: string | null): Step {
  return { state, effects: sendEffects([errorEvent(error, eventId)]) };
}

function sendEffects(events: readonly ServerEvent[]): Effect[] {
  return events.map((event) => ({ kind: 'send', event }));
}
