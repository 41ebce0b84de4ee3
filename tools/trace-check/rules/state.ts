/** State of the rules for one connection; immutable. */

import type { ConversationState, EarlyFrame } from '../conversation/state.ts';
import type { ClientRequest } from './client-requests.ts';
import type { Report } from './rules.ts';
import { SeenIds } from './seen-ids.ts';
import type { Fields } from './trace.ts';

export type Dialect = 'spec' | 'ga';
/** The dialects of conversations: the current names, and those of OpenAI's beta protocol. */
export type ConversationDialect = 'conversation' | 'beta_conversation';

/** A detected turn that is not yet committed. */
export interface OpenTurn {
  readonly itemId: string;
  readonly stopped: boolean;
  readonly startMs: number;
}

/** The unfinished transcription of a committed item. */
export interface OpenTranscription {
  readonly itemId: string;
  /** Its deltas so far. */
  readonly text: string;
}

/** Progress of a response: its last event. */
export type Stage =
  | 'created'
  | 'item_added'
  | 'part_added'
  | 'audio'
  | 'transcript'
  | 'transcript_done'
  | 'audio_done'
  | 'part_done'
  | 'item_done';

export interface OpenResponse {
  readonly id: string;
  readonly stage: Stage;
  readonly conversationId: string | undefined;
  readonly itemId: string | undefined;
  /** The item before the assistant's. */
  readonly previousItemId: string | null;
  readonly dialect: Dialect | undefined;
  /** Whether `conversation.item.added` of the assistant's item was received; `concluded`: `conversation.item.done`. */
  readonly announced: boolean;
  readonly concluded: boolean;
  /** Deltas of the transcript so far. */
  readonly text: string;
  /** The transcript of `…audio_transcript.done`. */
  readonly transcript: string | undefined;
  readonly partTranscript: string | undefined;
  /** The item of `response.output_item.done`. */
  readonly item: unknown;
}

/** An item of the user whose next event is due for GA clients. */
export interface Announcement {
  readonly itemId: string;
  readonly previousItemId: unknown;
  readonly next: 'added' | 'done';
}

export interface State {
  /** Number of frames. */
  readonly index: number;
  readonly over: boolean;
  readonly eventIds: SeenIds;
  readonly dialect: Dialect | ConversationDialect | undefined;
  /** State of the rules of a conversation; undefined for other sessions, whose rules use the other fields. */
  readonly conversation: ConversationState | undefined;
  /** Client frames before the first event of the server. */
  readonly early: readonly EarlyFrame[];

  /** The session as last sent; undefined before `session.created`. */
  readonly session: Fields | undefined;
  /** Whether the first `session.update` chose the GA names. */
  readonly choseGa: boolean | undefined;

  /** Client events that may still have a response, in their order. */
  readonly requests: readonly ClientRequest[];
  /** Every `event_id` of the client. */
  readonly clientIds: SeenIds;
  /** Valid appends, which only the buffer limit can reject: their `event_id`s, and whether one has none. */
  readonly appendIds: SeenIds;
  readonly unnamedAppend: boolean;

  readonly turn: OpenTurn | undefined;
  /** Start and end of the last turns, in ms of audio. */
  readonly lastStartMs: number;
  readonly lastEndMs: number;
  readonly transcriptions: readonly OpenTranscription[];

  readonly itemIds: SeenIds;
  readonly lastItemId: string | null;
  readonly announcement: Announcement | undefined;

  readonly response: OpenResponse | undefined;
  readonly responseIds: SeenIds;
}

export const initial: State = {
  index: 0,
  over: false,
  eventIds: SeenIds.none,
  dialect: undefined,
  conversation: undefined,
  early: [],
  session: undefined,
  choseGa: undefined,
  requests: [],
  clientIds: SeenIds.none,
  appendIds: SeenIds.none,
  unnamedAppend: false,
  turn: undefined,
  lastStartMs: 0,
  lastEndMs: 0,
  transcriptions: [],
  itemIds: SeenIds.none,
  lastItemId: null,
  announcement: undefined,
  response: undefined,
  responseIds: SeenIds.none,
};

/** An event of the server, and the request that it answers. */
export interface ServerFrame {
  readonly type: string;
  readonly fields: Fields;
  readonly repliesTo: ClientRequest | undefined;
}

/** Rules of one subject: check an event of the server, report violations, and return the next state. */
export type Rules = (state: State, event: ServerFrame, report: Report) => State;
