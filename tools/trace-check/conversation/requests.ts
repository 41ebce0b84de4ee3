/** Matches events of the server with requests of the client. */

import { clientRequestOf, meansResponse } from '../rules/client-requests.ts';
import { at, type Fields, fieldsOf, same, shown, textAt } from '../rules/trace.ts';
import { mirrorErrors } from './mirror.ts';
import type { Report } from './rules.ts';
import { type ConversationState, lastItemId, type Request } from './state.ts';

/** Queues a frame of the client until its reply. */
export function clientFrame(state: ConversationState, frame: unknown): ConversationState {
  const request = requestOf(frame, state.index);
  const { echo } = request;
  const clientIds = typeof echo === 'string' ? state.clientIds.with(echo) : state.clientIds;
  const next = { ...state, clientIds };
  // Appends are numerous and have no reply, so they are not queued.
  if (request.kind === 'append' && request.mayBeSilent && request.mayBeAccepted) {
    return typeof echo === 'string'
      ? { ...next, appendIds: state.appendIds.with(echo) }
      : { ...next, unnamedAppend: true };
  }
  return { ...next, requests: [...state.requests, request] };
}

/** The events of plain sessions, except that items can be deleted and sessions have one name for updates. */
function requestOf(frame: unknown, index: number): Request {
  const request = clientRequestOf(frame, index);
  const type = textAt(frame, 'type');
  if (type === 'transcription_session.update') return { ...request, kind: 'other', mayBeAccepted: false };
  // Such a commit may be rejected in order, or wait.
  if (request.kind === 'commit' && request.echo === undefined)
    return { ...request, mayBeSilent: request.mayBeAccepted };
  if (type !== 'conversation.item.delete') return request;
  return { ...request, kind: 'delete', mayBeAccepted: typeof request.frame.item_id === 'string' };
}

/** Whether a reply is required. */
export function needsReply(request: Request): boolean {
  return !request.mayBeSilent;
}

interface Taken {
  readonly state: ConversationState;
  readonly request: Request | undefined;
  /** Whether the event may also be the reply to a later request. */
  readonly isDoubtful: boolean;
}

/**
 * Removes the first wanted request. Earlier ones must have their replies, except commits, which may wait until a turn is decided.
 * @param inOrder whether the order is checked.
 */
export function take(
  state: ConversationState,
  wanted: (request: Request) => boolean,
  report: Report,
  inOrder = true,
): Taken {
  const { requests } = state;
  const firstRequired = requests.findIndex((each) => needsReply(each) && each.kind !== 'commit');
  const index = requests.findIndex(wanted);
  const request = requests[index];
  if (request === undefined) return { state, request, isDoubtful: false };
  if (inOrder && firstRequired !== -1 && firstRequired < index) {
    const passed = requests[firstRequired];
    report(
      'reply-order',
      `answers frame ${request.index}, but frame ${passed?.index} (${shown(passed?.frame.type)}) came before it and has no reply`,
    );
  }
  const kept = requests.slice(0, index).filter(({ kind }) => !inOrder || kind === 'commit');
  const rest = requests.slice(index + 1);
  // A request without a required reply may be complete, so that the event belongs to the next request.
  const isNext = (each: Request) => needsReply(each) && (each.kind !== 'commit' || wanted(each));
  const next = needsReply(request) ? -1 : rest.findIndex(isNext);
  const required = rest[next];
  const isDoubtful = required !== undefined && wanted(required);
  const after = isDoubtful ? rest.with(next, { ...required, mayBeSilent: true }) : rest;
  return { state: { ...state, requests: [...kept, ...after] }, request, isDoubtful };
}

/** The requests that each event of the server grants. */
const ACCEPTANCES: Readonly<
  Record<string, (request: Request, event: Fields, state: ConversationState) => boolean>
> = {
  'session.updated': ({ kind }) => kind === 'update',
  'input_audio_buffer.cleared': ({ kind }) => kind === 'clear',
  'conversation.item.deleted': ({ kind, frame }, event) =>
    kind === 'delete' && frame.item_id === event.item_id,
  'conversation.item.retrieved': ({ kind, frame }, event) =>
    kind === 'retrieve' && frame.item_id === at(event, 'item.id'),
  'conversation.item.truncated': ({ kind, frame }, event) =>
    kind === 'truncate' && frame.item_id === event.item_id && frame.audio_end_ms === event.audio_end_ms,
  'conversation.item.added': (request, event, state) =>
    request.kind === 'create_item' && createsItem(request, event, state),
};

/** Finds the request that an event of the server answers, and removes it from the queue. Errors and responses are matched elsewhere. */
export function matchAcceptance(
  state: ConversationState,
  type: string,
  fields: Fields,
  report: Report,
): { readonly state: ConversationState; readonly request: Request | undefined } {
  const accepts = Object.hasOwn(ACCEPTANCES, type) ? ACCEPTANCES[type] : undefined;
  // The other items are announced by the server.
  const isAnnounced = type === 'conversation.item.added' && state.announcement?.next === 'added';
  if (accepts === undefined || isAnnounced) return { state, request: undefined };
  const taken = take(state, (each) => each.mayBeAccepted && accepts(each, fields, state), report);
  if (taken.request === undefined) {
    report(unrequestedRule(state, type, fields), `${type} answers no event of the client`);
  }
  return taken;
}

function unrequestedRule(state: ConversationState, type: string, fields: Fields) {
  if (type !== 'conversation.item.added') return 'reply-unrequested';
  const outputs = state.responses.flatMap((each) => (each.isOutOfBand ? each.outputs : []));
  return outputs.some(({ itemId }) => itemId === at(fields, 'item.id')) ? 'out-of-band' : 'item-mirror';
}

function createsItem({ frame }: Request, event: Fields, state: ConversationState): boolean {
  const sent = fieldsOf(frame.item);
  return (
    event.previous_item_id === expectedPrevious(frame, state) &&
    mirrorErrors(sent, fieldsOf(event.item)).length === 0
  );
}

/** The expected `previous_item_id` of an item of the client. */
function expectedPrevious(frame: Fields, state: ConversationState): unknown {
  const previous = frame.previous_item_id ?? undefined;
  if (previous === undefined) return lastItemId(state);
  return previous === 'root' ? null : previous;
}

/** Whether a request may have created a response. */
export function createsResponse({ kind, frame, mayBeAccepted }: Request, response: Fields): boolean {
  const isOutOfBand = at(frame, 'response.conversation') === 'none';
  return (
    kind === 'create_response' &&
    mayBeAccepted &&
    isOutOfBand === (response.conversation_id === null) &&
    same(at(frame, 'response.metadata') ?? null, response.metadata)
  );
}

/** Whether a request cancels a response. Without an id, it cancels the response of the conversation. */
export function cancels(request: Request, responseId: string, isOutOfBand: boolean): boolean {
  const isNamed = typeof request.frame.response_id === 'string';
  return request.kind === 'cancel' && (isNamed || !isOutOfBand) && meansResponse(request, responseId);
}

/** Reports the requests without a reply at a quiet end. */
export function reportMissingReplies(state: ConversationState, report: Report): void {
  for (const { index, frame } of state.requests.filter(needsReply)) {
    report('reply-missing', `frame ${index} (${shown(frame.type)}) has no reply`);
  }
}
