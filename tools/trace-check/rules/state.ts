/** All that the rules remember of a connection. Every part is a value; nothing in it is changed. */

import type { Ask } from './asks.ts';
import type { Report } from './rules.ts';
import { SeenIds } from './seen-ids.ts';
import type { Fields } from './trace.ts';

export type Dialect = 'spec' | 'ga';

/** The turn of `server_vad` that is not committed yet. */
export interface OpenTurn {
  readonly itemId: string;
  readonly stopped: boolean;
  readonly startMs: number;
}

/** An item that was committed and whose transcription has not ended. */
export interface OpenTranscription {
  readonly itemId: string;
  /** Its deltas so far. */
  readonly text: string;
}

/** How far a response is: the last of its events that came. */
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
  /** `conversation.item.added` and `.done` of the assistant's item came. */
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

/** An item of the user of which GA clients must hear next. */
export interface Announcement {
  readonly itemId: string;
  readonly previousItemId: unknown;
  readonly next: 'added' | 'done';
}

export interface State {
  /** Frames so far. */
  readonly index: number;
  readonly over: boolean;
  readonly eventIds: SeenIds;
  readonly dialect: Dialect | undefined;

  /** The session as last sent; undefined before `session.created`. */
  readonly session: Fields | undefined;
  /** The first `session.update` chose the GA names. */
  readonly choseGa: boolean | undefined;

  /** Events of the client that still need an answer, in their order. */
  readonly asks: readonly Ask[];
  /** Every `event_id` of the client. */
  readonly clientIds: SeenIds;
  /** Of appends that nothing but the limit of the buffer can refuse: the `event_id`s, and whether any had none. */
  readonly appendIds: SeenIds;
  readonly unnamedAppend: boolean;

  readonly turn: OpenTurn | undefined;
  /** Where the last turn started, and where the last one ended. */
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
  session: undefined,
  choseGa: undefined,
  asks: [],
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

/** An event of the server, and what it answers. */
export interface ServerFrame {
  readonly type: string;
  readonly fields: Fields;
  readonly answers: Ask | undefined;
}

/** The rules of one subject: looks at an event of the server, reports, and remembers. */
export type Rules = (state: State, event: ServerFrame, report: Report) => State;
