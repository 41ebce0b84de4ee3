/** The allowed responses to an event of the client (spec 6.1; openai-wire 8.4). */

import { at, type Fields, fieldsOf, isFields } from './trace.ts';

export type RequestKind =
  | 'update'
  | 'append'
  | 'commit'
  | 'clear'
  | 'create_item'
  | 'retrieve'
  | 'truncate'
  | 'create_response'
  | 'cancel'
  /** An unsupported or invalid event. */
  | 'other';

/** A request: an event of the client that may have a response. */
export interface ClientRequest {
  readonly kind: RequestKind;
  /** Number of the frame. */
  readonly index: number;
  readonly frame: Fields;
  /** The required `error.event_id`; undefined when it cannot be determined. */
  readonly echo: string | null | undefined;
  readonly mayBeAccepted: boolean;
  readonly mayBeRejected: boolean;
  /** Whether a response is optional. */
  readonly mayBeSilent: boolean;
  /** `param` of the errors that it has received. */
  readonly rejectedParams: readonly string[];
}

/** Maximum length of an `event_id` that a service must echo. */
const MAX_EVENT_ID = 512;
/** Maximum nesting of an event. Deeper events may be rejected, which the specification leaves open. */
const MAX_DEPTH = 12;
/** Maximum number of values and text characters of an event without its audio; likewise. */
const MAX_SIZE = 16 * 1024;

const KINDS: Readonly<Record<string, RequestKind>> = {
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

/** The response of each successful request; a successful append has none. */
export const ACCEPTANCES: Readonly<Partial<Record<string, RequestKind>>> = {
  'session.updated': 'update',
  'input_audio_buffer.cleared': 'clear',
  'conversation.item.created': 'create_item',
  'conversation.item.retrieved': 'retrieve',
  'conversation.item.truncated': 'truncate',
  'response.created': 'create_response',
};

/** The request of a client frame. */
export function clientRequestOf(frame: unknown, index: number): ClientRequest {
  const fields = fieldsOf(frame);
  const { type, event_id } = fields;
  const kind = (typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined) ?? 'other';
  const isUnclear = event_id === null || (kind !== 'append' && isTooLarge(frame));
  const invalid: ClientRequest = {
    kind,
    index,
    frame: fields,
    echo: echoOf(event_id, isUnclear),
    rejectedParams: [],
    mayBeAccepted: false,
    mayBeRejected: true,
    mayBeSilent: false,
  };
  const isNamed = event_id === undefined || event_id === null || echoOf(event_id, false) !== undefined;
  if (!isNamed || !hasFields(kind, fields)) return invalid;
  const either = { ...invalid, mayBeAccepted: true };
  if (isUnclear)
    return kind === 'append'
      ? { ...invalid, mayBeSilent: true }
      : { ...either, mayBeSilent: kind === 'update' };
  switch (kind) {
    case 'append':
      return appendRequest(invalid, String(fields.audio));
    case 'clear':
      return { ...either, mayBeRejected: false };
    default:
      return either;
  }
}

/** The id that an error must echo; undefined when it is not specified. */
function echoOf(eventId: unknown, isUnclear: boolean): string | null | undefined {
  if (eventId === undefined) return isUnclear ? undefined : null;
  return typeof eventId === 'string' && eventId.length <= MAX_EVENT_ID && !isUnclear ? eventId : undefined;
}

/** Whether an event has its required fields. */
function hasFields(kind: RequestKind, fields: Fields): boolean {
  switch (kind) {
    case 'update':
      return isFields(fields.session);
    case 'append':
      return typeof fields.audio === 'string';
    case 'create_item':
      return isFields(fields.item);
    case 'retrieve':
    case 'truncate':
      return typeof fields.item_id === 'string';
    case 'other':
      return false;
    default:
      return true;
  }
}

/** Strict base64 (RFC 4648, 4) has no response until the buffer is full; other audio is rejected. */
function appendRequest(invalid: ClientRequest, audio: string): ClientRequest {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(audio) || audio.length % 4 !== 0) return invalid;
  // A decoder may reject non-zero padding bits (RFC 4648, 3.5).
  const isClear = /(^|[A-Za-z0-9+/]|[AEIMQUYcgkosw048]=|[AQgw]==)$/.test(audio.slice(-3));
  return { ...invalid, mayBeSilent: true, mayBeAccepted: isClear };
}

/** Whether a frame exceeds the depth or the size. Stops early, because a frame may have the maximum size of the socket. */
function isTooLarge(frame: unknown): boolean {
  let left = MAX_SIZE;
  const isOver = (value: unknown, levels: number): boolean => {
    left -= typeof value === 'string' ? value.length : 1;
    if (left < 0) return true;
    if (typeof value !== 'object' || value === null) return false;
    return levels === 0 || Object.values(value).some((inner) => isOver(inner, levels - 1));
  };
  return isOver(frame, MAX_DEPTH);
}

/** Whether a `response.cancel` means this response. */
export function meansResponse(request: Pick<ClientRequest, 'frame'>, responseId: string): boolean {
  const named = at(request.frame, 'response_id');
  return named === undefined || named === null || named === responseId;
}
