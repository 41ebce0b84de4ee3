/** Conversation state of the page: a pure reducer over service events and user actions. */

import type { ServerEvent } from '../../../plugins/realtime/protocol/server-events.ts';
import type { WholeTurn } from './held-turn.ts';

/** One utterance of the user or of the service. */
export interface Turn {
  /** Item id. */
  readonly id: string;
  readonly side: 'heard' | 'spoken';
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
  readonly askedBy: string;
  /** Id of the event that set the text. */
  readonly textBy: string;
  readonly text: string;
  readonly askedAtMs: number;
  /** Cancelled by the page; audio that still arrives is not played. */
  readonly isCancelled: boolean;
  /** Id of its item, once known. */
  readonly itemId?: string;
}

export interface Conversation {
  /** Oldest first, at most {@link MAX_TURNS}. */
  readonly turns: readonly Turn[];
  /** Whether the service detects speech. */
  readonly isHearing: boolean;
  readonly response: OpenResponse | undefined;
  /** Id of the last cancel event. It is rejected if the response completed first. */
  readonly cancelledBy: string | undefined;
  /** Turns that were committed manually and have no item yet. */
  readonly committed: readonly WholeTurn[];
  /** The last error of a spoken text or of the session; cleared by the next request of the same kind. */
  readonly speechFault: string | undefined;
  readonly sessionFault: string | undefined;
}

export const NOTHING_SAID: Conversation = {
  turns: [],
  isHearing: false,
  response: undefined,
  cancelledBy: undefined,
  committed: [],
  speechFault: undefined,
  sessionFault: undefined,
};

export const MAX_TURNS = 100;

/** A user action. */
export type PageAct =
  | { readonly type: 'page.configured' }
  | { readonly type: 'page.committed'; readonly turn: WholeTurn }
  | {
      readonly type: 'page.asked';
      readonly eventId: string;
      readonly textEventId: string;
      readonly text: string;
    }
  | { readonly type: 'page.cancelled'; readonly eventId: string }
  /** The connection is closed: no further events for open turns. */
  | { readonly type: 'page.ended' };

type Of<Type extends ServerEvent['type']> = Extract<ServerEvent, { readonly type: Type }>;

/** @param nowMs page clock. */
export function next(before: Conversation, event: ServerEvent | PageAct, nowMs: number): Conversation {
  switch (event.type) {
    case 'page.configured':
      return { ...before, sessionFault: undefined };
    case 'page.committed':
      return { ...before, committed: [...before.committed, event.turn] };
    case 'page.asked': {
      const { eventId: askedBy, textEventId: textBy, text } = event;
      const response = { askedBy, textBy, text, askedAtMs: nowMs, isCancelled: false };
      return { ...before, speechFault: undefined, response };
    }
    case 'page.cancelled':
      return before.response === undefined
        ? before
        : { ...before, cancelledBy: event.eventId, response: { ...before.response, isCancelled: true } };
    case 'page.ended':
      return ended(before);
    case 'input_audio_buffer.speech_started':
      return changed({ ...before, isHearing: true }, event.item_id, {
        state: 'speaking',
        startMs: event.audio_start_ms,
      });
    case 'input_audio_buffer.speech_stopped':
      return changed({ ...before, isHearing: false }, event.item_id, {
        endMs: event.audio_end_ms,
        endedAtMs: nowMs,
      });
    case 'input_audio_buffer.committed':
      return committed(before, event);
    case 'conversation.item.input_audio_transcription.delta':
      return changed(before, event.item_id, {
        text: (turnOf(before, event.item_id)?.text ?? '') + event.delta,
      });
    case 'conversation.item.input_audio_transcription.completed': {
      const { endedAtMs } = turnOf(before, event.item_id) ?? {};
      return changed(before, event.item_id, {
        text: event.transcript,
        state: 'done',
        ...(endedAtMs !== undefined && { waitMs: nowMs - endedAtMs }),
      });
    }
    case 'conversation.item.input_audio_transcription.failed':
      return changed(before, event.item_id, { text: event.error.message, state: 'failed' });
    case 'response.output_item.added':
      return spoken(before, event);
    case 'response.audio.delta':
      return sounded(before, event, nowMs);
    case 'response.done':
      return answered(before, event);
    case 'error':
      return refused(before, event);
    default:
      return before;
  }
}

function ended(before: Conversation): Conversation {
  const turns = before.turns.map((turn) =>
    turn.state === 'speaking' || turn.state === 'writing' ? { ...turn, state: 'cancelled' as const } : turn,
  );
  return { ...before, turns, isHearing: false, response: undefined };
}

function turnOf({ turns }: Conversation, id: string): Turn | undefined {
  return turns.find((turn) => turn.id === id);
}

/**
 * Returns the conversation with a changed turn. An unknown id creates a user turn, unless `change` says
 * otherwise.
 */
function changed(before: Conversation, id: string, change: Partial<Turn>): Conversation {
  if (turnOf(before, id) !== undefined) {
    const turns = before.turns.map((turn) => (turn.id === id ? { ...turn, ...change } : turn));
    return { ...before, turns };
  }
  const turn: Turn = { id, side: 'heard', text: '', state: 'writing', ...change };
  return { ...before, turns: [...before.turns, turn].slice(-MAX_TURNS) };
}

/** A turn without detected speech belongs to the oldest manual commit. */
function committed(before: Conversation, event: Of<'input_audio_buffer.committed'>): Conversation {
  if (turnOf(before, event.item_id)?.startMs !== undefined) {
    // A commit or a session update may end a turn while the user is speaking.
    return changed({ ...before, isHearing: false }, event.item_id, { state: 'writing' });
  }
  const [turn, ...later] = before.committed;
  return changed({ ...before, committed: later }, event.item_id, {
    state: 'writing',
    ...(turn !== undefined && { startMs: turn.startMs, endMs: turn.endMs, endedAtMs: turn.letGoMs }),
  });
}

function spoken(before: Conversation, { item }: Of<'response.output_item.added'>): Conversation {
  const { response } = before;
  if (response === undefined) return before;
  const begun = { ...before, response: { ...response, itemId: item.id } };
  return changed(begun, item.id, { side: 'spoken', text: response.text, state: 'speaking', lengthMs: 0 });
}

/** Bytes per ms of speech: 16-bit samples at 24 kHz. */
const BYTES_A_MS = 48;

function sounded(before: Conversation, event: Of<'response.audio.delta'>, nowMs: number): Conversation {
  const turn = turnOf(before, event.item_id);
  if (turn === undefined) return before;
  const { delta } = event;
  const padding = delta.endsWith('==') ? 2 : delta.endsWith('=') ? 1 : 0;
  const bytes = (delta.length / 4) * 3 - padding;
  return changed(before, event.item_id, {
    lengthMs: (turn.lengthMs ?? 0) + bytes / BYTES_A_MS,
    ...(turn.waitMs === undefined &&
      before.response !== undefined && { waitMs: nowMs - before.response.askedAtMs }),
  });
}

function answered(before: Conversation, { response: ended }: Of<'response.done'>): Conversation {
  const { response } = before;
  const { status, status_details } = ended;
  const after = { ...before, response: undefined };
  const state = status === 'completed' ? 'done' : status;
  const told = response?.itemId === undefined ? after : changed(after, response.itemId, { state });
  return status === 'failed' ? { ...told, speechFault: status_details.error.message } : told;
}

function refused(before: Conversation, event: Of<'error'>): Conversation {
  const { message, event_id: eventId } = event.error;
  if (isRefusedText(before, event)) return { ...before, speechFault: message };
  if (before.response !== undefined && eventId === before.response.askedBy) {
    // If its text was rejected before, that error is the cause.
    return { ...before, response: undefined, speechFault: before.speechFault ?? message };
  }
  if (before.cancelledBy !== undefined && eventId === before.cancelledBy) return before;
  return { ...before, sessionFault: message };
}

/** Whether the error rejects the text of the last requested response. */
export function isRefusedText({ response }: Conversation, { error }: Of<'error'>): boolean {
  return response !== undefined && error.event_id === response.textBy;
}
