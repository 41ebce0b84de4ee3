/** What one event of a client may be answered with (spec 6.1; openai-wire 8.4). */

import { at, type Fields, fieldsOf, isFields } from './trace.ts';

export type AskKind =
  | 'update'
  | 'append'
  | 'commit'
  | 'clear'
  | 'create_item'
  | 'retrieve'
  | 'truncate'
  | 'create_response'
  | 'cancel'
  /** Whatever the service does not do or cannot read. */
  | 'other';

export interface Ask {
  readonly kind: AskKind;
  /** Number of the frame. */
  readonly index: number;
  readonly frame: Fields;
  /** What `error.event_id` must say; undefined when that cannot be told. */
  readonly echo: string | null | undefined;
  readonly mayBeGranted: boolean;
  readonly mayBeRefused: boolean;
  /** Nothing need follow. */
  readonly mayBeSilent: boolean;
  /** Params of the errors that it got so far. */
  readonly refused: readonly string[];
}

/** Longest `event_id` that a service must be able to give back. */
const LONGEST_EVENT_ID = 512;
/** Deeper than anything that the events of the list need: whether such a frame is read is not laid down. */
const DEEP = 12;

const KINDS: Readonly<Record<string, AskKind>> = {
  'session.update': 'update',
  'transcription_session.update': 'update',
  'input_audio_buffer.append': 'append',
  'input_audio_buffer.commit': 'commit',
  'input_audio_buffer.clear': 'clear',
  'conversation.item.create': 'create_item',
  'conversation.item.retrieve': 'retrieve',
  'conversation.item.truncate': 'truncate',
  'response.create': 'create_response',
  'response.cancel': 'cancel',
};

/** The answer that grants each kind; an append is granted in silence. */
export const GRANTS: Readonly<Partial<Record<string, AskKind>>> = {
  'session.updated': 'update',
  'input_audio_buffer.cleared': 'clear',
  'conversation.item.created': 'create_item',
  'conversation.item.retrieved': 'retrieve',
  'conversation.item.truncated': 'truncate',
  'response.created': 'create_response',
};

/** Reads a frame of the client as a question. */
export function askOf(frame: unknown, index: number): Ask {
  const fields = fieldsOf(frame);
  const { type, event_id } = fields;
  const kind = (typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined) ?? 'other';
  const named = typeof event_id === 'string' && event_id.length <= LONGEST_EVENT_ID;
  const unnamed = event_id === undefined || event_id === null;
  const ask = { kind, index, frame: fields, refused: [] };
  const echo = named ? event_id : unnamed ? null : undefined;
  const refuse = { ...ask, echo, mayBeGranted: false, mayBeRefused: true, mayBeSilent: false };
  if (echo === undefined || kind === 'other') return refuse;
  const either = { ...refuse, mayBeGranted: true };
  const deep = depth(frame) > DEEP;
  switch (kind) {
    case 'update':
      // Its fields are refused one by one, and what is left applies.
      if (!isFields(fields.session)) return refuse;
      return deep ? { ...either, mayBeSilent: true } : either;
    case 'append':
      return appendAsk(refuse, fields.audio);
    case 'clear':
      return deep ? either : { ...either, mayBeRefused: false };
    case 'create_item':
      return isFields(fields.item) ? either : refuse;
    case 'retrieve':
    case 'truncate':
      return typeof fields.item_id === 'string' ? either : refuse;
    case 'create_response':
    case 'cancel':
    case 'commit':
      return either;
  }
}

/** Strict base64 is taken in silence until the buffer is full; anything else is refused. */
function appendAsk(refuse: Ask, audio: unknown): Ask {
  if (typeof audio !== 'string' || /[^A-Za-z0-9+/=]/.test(audio)) return refuse;
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(audio) && audio.length % 4 === 0) {
    return { ...refuse, mayBeSilent: true, mayBeGranted: true };
  }
  // Without padding, or empty: the specification leaves open how strict strict is.
  return { ...refuse, mayBeSilent: true };
}

function depth(value: unknown): number {
  let deepest = 0;
  let level: readonly unknown[] = [value];
  while (level.length > 0 && deepest <= DEEP) {
    level = level.flatMap((inner) =>
      typeof inner === 'object' && inner !== null ? Object.values(inner) : [],
    );
    if (level.length > 0) deepest += 1;
  }
  return deepest;
}

/** Whether a `response.cancel` means this response. */
export function meansResponse(ask: Ask, responseId: string): boolean {
  const named = at(ask.frame, 'response_id');
  return named === undefined || named === null || named === responseId;
}
