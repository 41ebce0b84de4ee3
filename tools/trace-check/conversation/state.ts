/** State of the rules for the connection of a conversation; immutable. */

import type { ClientRequest } from '../rules/client-requests.ts';
import { SeenIds } from '../rules/seen-ids.ts';
import { at, type Fields, textAt } from '../rules/trace.ts';
import type { Report } from './rules.ts';

/** `beta`: the names of OpenAI's beta protocol. */
export type Names = 'ga' | 'beta';

/** A request: an event of the client that may have an answer. */
export interface Request extends Omit<ClientRequest, 'kind'> {
  readonly kind: ClientRequest['kind'] | 'delete';
}

/** An item of the conversation, as the client last saw it. */
export interface KnownItem {
  readonly id: string;
  readonly item: Fields;
  /** All words of a spoken item, also those that were not played. */
  readonly words: string | undefined;
}

/** An item whose next event must follow immediately. */
export interface Announcement {
  readonly itemId: string;
  readonly previousItemId: string | null;
  readonly next: 'committed' | 'added' | 'done';
  /** Whether `conversation.item.done` follows `conversation.item.added`. */
  readonly isComplete: boolean;
  /** The item of the event before, which must be the same. */
  readonly item: Fields | undefined;
  /** Transcript of the audio: null before its transcription, `''` for an idle timeout; undefined for the items of a response. */
  readonly transcript: string | null | undefined;
}

/** A detected turn that is not committed yet. */
export interface OpenTurn {
  readonly itemId: string;
  readonly startMs: number;
  readonly isStopped: boolean;
}

/** A committed turn that is not transcribed yet. */
export interface OpenTranscription {
  readonly itemId: string;
  /** Its deltas so far. */
  readonly text: string;
  /** Whether the turn is answered automatically; `maybe`: an update in progress may change this. */
  readonly hasReply: 'no' | 'maybe' | 'yes';
}

/** Progress of an output item. */
export interface Output {
  readonly itemId: string;
  readonly kind: 'message' | 'function_call';
  readonly previousItemId: string | null;
  /** `open`: deltas may follow. `closed`: the content is complete. `concluded`: so is the item of the conversation. */
  readonly stage: 'added' | 'open' | 'closed' | 'concluded' | 'done';
  /** Deltas of the text, the transcript or the arguments. */
  readonly text: string;
  /** The text of the `done` event. */
  readonly doneText: string | undefined;
  readonly isAudioDone: boolean;
  /** Whether the client truncated its audio. */
  readonly isTruncated: boolean;
  readonly call: { readonly callId: unknown; readonly name: unknown } | undefined;
  /** The finished item. */
  readonly item: Fields | undefined;
}

export interface OpenResponse {
  readonly id: string;
  readonly isOutOfBand: boolean;
  readonly modality: 'audio' | 'text';
  /** As in `response.created`. */
  readonly fields: Fields;
  readonly outputs: readonly Output[];
  /** Whether it waits for transcripts, and answers their turns. */
  readonly isWaiting: 'no' | 'maybe' | 'yes';
  /** Whether speech of the user has cancelled it. */
  readonly isInterrupted: boolean;
}

export interface ConversationState {
  /** Number of frames. */
  readonly index: number;
  readonly over: boolean;
  readonly names: Names;
  readonly eventIds: SeenIds;
  /** As last sent. */
  readonly session: Fields;

  /** Client events that may still have an answer, in their order. */
  readonly requests: readonly Request[];
  readonly clientIds: SeenIds;
  /** Valid appends, which only a full buffer rejects: their `event_id`s, and whether one has none. */
  readonly appendIds: SeenIds;
  readonly unnamedAppend: boolean;

  readonly turn: OpenTurn | undefined;
  /** Start of the last turn, in ms of audio. */
  readonly lastStartMs: number;
  /** Whether turns were detected at any time. Speech may be reported after its detection was turned off. */
  readonly hasDetected: boolean;
  readonly transcriptions: readonly OpenTranscription[];
  /** Number of idle timeouts since the user last spoke. */
  readonly idleTimeouts: number;

  /** In the order of the conversation. */
  readonly items: readonly KnownItem[];
  /** Ids of all items, also deleted ones. */
  readonly itemIds: SeenIds;
  readonly announcement: Announcement | undefined;

  readonly responses: readonly OpenResponse[];
  readonly responseIds: SeenIds;
  /** Whether transcribed turns wait for their automatic response. */
  readonly owed: 'no' | 'maybe' | 'yes';
  /** Number of events of the server. */
  readonly events: number;
  /** The event that permits an automatic response directly after it: a failed transcription, or an idle timeout. */
  readonly permittedAt: number;
  /** Whether the session ends: nothing new starts. */
  readonly isEnding: boolean;
}

/** A client frame before the first event of the server, with its number. */
export interface EarlyFrame {
  readonly index: number;
  readonly frame: unknown;
}

/** The state before `session.created`. */
export const initialConversation: ConversationState = {
  index: 0,
  over: false,
  names: 'ga',
  eventIds: SeenIds.none,
  session: {},
  requests: [],
  clientIds: SeenIds.none,
  appendIds: SeenIds.none,
  unnamedAppend: false,
  turn: undefined,
  lastStartMs: 0,
  hasDetected: false,
  transcriptions: [],
  idleTimeouts: 0,
  items: [],
  itemIds: SeenIds.none,
  announcement: undefined,
  responses: [],
  responseIds: SeenIds.none,
  owed: 'no',
  events: 0,
  permittedAt: -1,
  isEnding: false,
};

/** An event of the server, with the names of the current protocol. */
export interface ServerEvent {
  readonly type: string;
  readonly fields: Fields;
  /** The request that it answers. */
  readonly request: Request | undefined;
}

/** Rules of one subject: check an event of the server, report violations, and return the next state. */
export type Rules = (state: ConversationState, event: ServerEvent, report: Report) => ConversationState;

/** Turn detection of the session; undefined if it is off. */
export function detectionOf({ session }: ConversationState): Fields | undefined {
  const found = at(session, 'audio.input.turn_detection') ?? session.turn_detection;
  return typeof found === 'object' && found !== null ? (found as Fields) : undefined;
}

/** The response of the conversation. */
export function mainResponse({ responses }: ConversationState): OpenResponse | undefined {
  return responses.find(({ isOutOfBand }) => !isOutOfBand);
}

export function knownItem({ items }: ConversationState, id: unknown): KnownItem | undefined {
  return items.findLast((each) => each.id === id);
}

export function lastItemId({ items }: ConversationState): string | null {
  return items.at(-1)?.id ?? null;
}

/** Modality of a response, in the names of either protocol. Text and audio together mean audio. */
export function modalityOf(response: unknown): 'audio' | 'text' {
  const modalities = at(response, 'output_modalities') ?? at(response, 'modalities');
  return Array.isArray(modalities) && modalities.includes('audio') ? 'audio' : 'text';
}

/** Kind of a part in the names of either protocol: `output_audio` is `audio`. */
export function partKind(part: unknown): string | undefined {
  return textAt(part, 'type')?.replace(/^output_/, '');
}

/** Text or transcript of a part. */
export function partText(part: unknown): unknown {
  return at(part, 'transcript') ?? at(part, 'text');
}
