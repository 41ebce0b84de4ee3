/** Conversation state of the page: a pure reducer over service events and user actions. */

import type { ServerEvent } from '../../../plugins/realtime/protocol/server-events.ts';
import type { FinishedTurn } from '../../audio/input/push-to-talk.ts';
import { base64Bytes } from '../../audio/pcm.ts';

/** One utterance of the user or of the service. */
export interface Turn {
  /** Item id. */
  readonly id: string;
  readonly side: 'user' | 'service';
  readonly text: string;
  readonly state: 'speaking' | 'writing' | 'done' | 'cancelled' | 'failed';
  /** Offset in the audio that was sent, in ms. */
  readonly startMs?: number;
  readonly endMs?: number;
  /** When its audio ended, in ms of the page's clock. */
  readonly endedAtMs?: number;
  /**
   * Latency in ms: from the end of the audio to the final transcript, or from the request to the first audio.
   */
  readonly waitMs?: number;
  /** Duration of the synthesized audio in ms. */
  readonly lengthMs?: number;
}

/** A response that was requested and is not finished. */
export interface OpenResponse {
  /** Id of the event that requested it. An error with this id means that the request was rejected. */
  readonly requestedBy: string;
  /** Id of the event that set the text. */
  readonly textBy: string;
  readonly text: string;
  readonly requestedAtMs: number;
  /** Cancelled by the page; audio that still arrives is not played. */
  readonly isCancelled: boolean;
  /** Id of its item, once known. */
  readonly itemId?: string;
}

export interface Conversation {
  /** Oldest first, at most {@link MAX_TURNS}. */
  readonly turns: readonly Turn[];
  /** Whether the service detects speech. */
  readonly isSpeechDetected: boolean;
  readonly response: OpenResponse | undefined;
  /** Id of the last cancel event. It is rejected if the response completed first. */
  readonly cancelledBy: string | undefined;
  /** Turns that were committed manually and have no item yet. */
  readonly committed: readonly FinishedTurn[];
  /** The last error of a spoken text or of the session; cleared by the next request of the same kind. */
  readonly speechError: string | undefined;
  readonly sessionError: string | undefined;
}

export const EMPTY_CONVERSATION: Conversation = {
  turns: [],
  isSpeechDetected: false,
  response: undefined,
  cancelledBy: undefined,
  committed: [],
  speechError: undefined,
  sessionError: undefined,
};

export const MAX_TURNS = 100;

/** A user action. */
export type UserAction =
  | { readonly type: 'page.configured' }
  | { readonly type: 'page.committed'; readonly turn: FinishedTurn }
  | {
      readonly type: 'page.requested';
      readonly eventId: string;
      readonly textEventId: string;
      readonly text: string;
    }
  | { readonly type: 'page.cancelled'; readonly eventId: string }
  /** The connection is closed: no further events for open turns. */
  | { readonly type: 'page.ended' };

type Of<Type extends ServerEvent['type']> = Extract<ServerEvent, { readonly type: Type }>;

/** @param nowMs page clock. */
export function reduceConversation(
  state: Conversation,
  event: ServerEvent | UserAction,
  nowMs: number,
): Conversation {
  switch (event.type) {
    case 'page.configured':
      return { ...state, sessionError: undefined };
    case 'page.committed':
      return { ...state, committed: [...state.committed, event.turn] };
    case 'page.requested': {
      const { eventId: requestedBy, textEventId: textBy, text } = event;
      const response = { requestedBy, textBy, text, requestedAtMs: nowMs, isCancelled: false };
      return { ...state, speechError: undefined, response };
    }
    case 'page.cancelled':
      return state.response === undefined
        ? state
        : { ...state, cancelledBy: event.eventId, response: { ...state.response, isCancelled: true } };
    case 'page.ended':
      return endOpenTurns(state);
    case 'input_audio_buffer.speech_started':
      return changeTurn({ ...state, isSpeechDetected: true }, event.item_id, {
        state: 'speaking',
        startMs: event.audio_start_ms,
      });
    case 'input_audio_buffer.speech_stopped':
      return changeTurn({ ...state, isSpeechDetected: false }, event.item_id, {
        endMs: event.audio_end_ms,
        endedAtMs: nowMs,
      });
    case 'input_audio_buffer.committed':
      return commitTurn(state, event);
    case 'conversation.item.input_audio_transcription.delta':
      return changeTurn(state, event.item_id, {
        text: (turnOf(state, event.item_id)?.text ?? '') + event.delta,
      });
    case 'conversation.item.input_audio_transcription.completed': {
      const { endedAtMs } = turnOf(state, event.item_id) ?? {};
      return changeTurn(state, event.item_id, {
        text: event.transcript,
        state: 'done',
        ...(endedAtMs !== undefined && { waitMs: nowMs - endedAtMs }),
      });
    }
    case 'conversation.item.input_audio_transcription.failed':
      return changeTurn(state, event.item_id, { text: event.error.message, state: 'failed' });
    case 'response.output_item.added':
      return startSpokenTurn(state, event);
    case 'response.audio.delta':
      return addAudio(state, event, nowMs);
    case 'response.done':
      return endResponse(state, event);
    case 'error':
      return applyError(state, event);
    default:
      return state;
  }
}

function endOpenTurns(state: Conversation): Conversation {
  const turns = state.turns.map((turn) =>
    turn.state === 'speaking' || turn.state === 'writing' ? { ...turn, state: 'cancelled' as const } : turn,
  );
  return { ...state, turns, isSpeechDetected: false, response: undefined };
}

function turnOf({ turns }: Conversation, id: string): Turn | undefined {
  return turns.find((turn) => turn.id === id);
}

/**
 * Returns the conversation with a changed turn. An unknown id creates a user turn, unless `change` says
 * otherwise.
 */
function changeTurn(state: Conversation, id: string, change: Partial<Turn>): Conversation {
  if (turnOf(state, id) !== undefined) {
    const turns = state.turns.map((turn) => (turn.id === id ? { ...turn, ...change } : turn));
    return { ...state, turns };
  }
  const turn: Turn = { id, side: 'user', text: '', state: 'writing', ...change };
  return { ...state, turns: [...state.turns, turn].slice(-MAX_TURNS) };
}

/** A turn without detected speech belongs to the oldest manual commit. */
function commitTurn(state: Conversation, event: Of<'input_audio_buffer.committed'>): Conversation {
  if (turnOf(state, event.item_id)?.startMs !== undefined) {
    // A commit or a session update may end a turn while the user is speaking.
    return changeTurn({ ...state, isSpeechDetected: false }, event.item_id, { state: 'writing' });
  }
  const [turn, ...later] = state.committed;
  return changeTurn({ ...state, committed: later }, event.item_id, {
    state: 'writing',
    ...(turn !== undefined && { startMs: turn.startMs, endMs: turn.endMs, endedAtMs: turn.releasedMs }),
  });
}

function startSpokenTurn(state: Conversation, { item }: Of<'response.output_item.added'>): Conversation {
  const { response } = state;
  if (response === undefined) return state;
  const started = { ...state, response: { ...response, itemId: item.id } };
  return changeTurn(started, item.id, {
    side: 'service',
    text: response.text,
    state: 'speaking',
    lengthMs: 0,
  });
}

/** Bytes per ms of speech: 16-bit samples at 24 kHz. */
const BYTES_PER_MS = 48;

function addAudio(state: Conversation, event: Of<'response.audio.delta'>, nowMs: number): Conversation {
  const turn = turnOf(state, event.item_id);
  if (turn === undefined) return state;
  return changeTurn(state, event.item_id, {
    lengthMs: (turn.lengthMs ?? 0) + base64Bytes(event.delta) / BYTES_PER_MS,
    ...(turn.waitMs === undefined &&
      state.response !== undefined && { waitMs: nowMs - state.response.requestedAtMs }),
  });
}

function endResponse(before: Conversation, { response: finished }: Of<'response.done'>): Conversation {
  const { response } = before;
  const { status, status_details } = finished;
  const cleared = { ...before, response: undefined };
  const state = status === 'completed' ? 'done' : status;
  const after = response?.itemId === undefined ? cleared : changeTurn(cleared, response.itemId, { state });
  return status === 'failed' ? { ...after, speechError: status_details.error.message } : after;
}

function applyError(state: Conversation, event: Of<'error'>): Conversation {
  const { message, event_id: eventId } = event.error;
  if (isRefusedText(state, event)) return { ...state, speechError: message };
  if (state.response !== undefined && eventId === state.response.requestedBy) {
    // If its text was rejected before, that error is the cause.
    return { ...state, response: undefined, speechError: state.speechError ?? message };
  }
  if (state.cancelledBy !== undefined && eventId === state.cancelledBy) return state;
  return { ...state, sessionError: message };
}

/** Whether the error rejects the text of the last requested response. */
export function isRefusedText({ response }: Conversation, { error }: Of<'error'>): boolean {
  return response !== undefined && error.event_id === response.textBy;
}
