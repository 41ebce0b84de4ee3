/** Errors: their shape, the request that they answer, and their cause. */

import { at, type Fields, fieldsOf, shown } from '../rules/trace.ts';
import { cancels, take } from './requests.ts';
import type { Report } from './rules.ts';
import { type ConversationState, knownItem, mainResponse, type Request } from './state.ts';

const TYPES: ReadonlySet<unknown> = new Set([
  'invalid_request_error',
  'server_error',
  'rate_limit_error',
  'insufficient_quota',
]);
/** The client event that a code answers. Other codes answer any event. */
const KINDS: Readonly<Record<string, Request['kind']>> = {
  response_cancel_not_active: 'cancel',
  conversation_already_has_active_response: 'create_response',
  too_many_responses: 'create_response',
  item_reference_invalid_item_id: 'create_response',
  item_create_duplicate_item_id: 'create_item',
  item_create_invalid_previous_item_id: 'create_item',
  invalid_tool_call_id: 'create_item',
  item_delete_invalid_item_id: 'delete',
  item_retrieve_invalid_item_id: 'retrieve',
  item_truncate_invalid_item_id: 'truncate',
  input_audio_buffer_commit_empty: 'commit',
};
const OVERFLOW = 'input_audio_buffer_overflow';
/** Codes that reject a valid commit, apart from that of an empty buffer. */
const COMMIT_CODES: ReadonlySet<unknown> = new Set([OVERFLOW, 'server_shutting_down']);
/** The conversation stores this many items; the oldest ones are removed without an event. */
const MAX_ITEMS = 2000;

/** Matches an error with its request. */
export function matchError(state: ConversationState, fields: Fields, report: Report): ConversationState {
  const error = fieldsOf(fields.error);
  errorShape(error, report);
  const { code, event_id: echo } = error;
  if (code === OVERFLOW && isOfAppend(state, echo)) return state;
  if (endsSession(error)) return { ...state, isEnding: true };
  const kind = typeof code === 'string' && Object.hasOwn(KINDS, code) ? KINDS[code] : undefined;
  const wanted = (request: Request) =>
    request.mayBeRejected &&
    (request.echo === undefined || request.echo === echo) &&
    (kind === undefined ? !isWaitingCommit(request) || COMMIT_CODES.has(code) : request.kind === kind);
  if (echo === null && error.type === 'server_error') {
    // An error of an engine may be the reply to any of these requests, or to none.
    const requests = state.requests.map((each) => (wanted(each) ? { ...each, mayBeSilent: true } : each));
    return { ...state, requests };
  }
  const taken = take(state, wanted, report, kind !== 'commit' && code !== OVERFLOW);
  const { request } = taken;
  if (request === undefined) {
    reportUnrequested(state, error, report);
    return state;
  }
  if (!taken.isDoubtful) errorCause(state, request, error, report);
  if (request.kind !== 'update' || !request.mayBeAccepted) return taken.state;
  // The other fields of the update apply, so its `session.updated` follows.
  const param = typeof error.param === 'string' ? [error.param] : [];
  if (!request.mayBeSilent && param.some((each) => request.rejectedParams.includes(each))) {
    report('reply-unrequested', `a second error for ${shown(error.param)} of frame ${request.index}`);
  }
  const rejected = { ...request, rejectedParams: [...request.rejectedParams, ...param] };
  return { ...taken.state, requests: [rejected, ...taken.state.requests] };
}

/** A valid commit may wait until it is known whether its turn is an interruption. */
function isWaitingCommit({ kind, mayBeAccepted, echo }: Request): boolean {
  return kind === 'commit' && mayBeAccepted && echo !== undefined;
}

function errorShape(error: Fields, report: Report): void {
  const { type, code, message, param, event_id } = error;
  if (!TYPES.has(type)) report('error-shape', `error.type ${shown(type)} is unknown`);
  if (typeof code !== 'string' || code === '')
    report('error-shape', `error.code must be a text, not ${shown(code)}`);
  if (typeof message !== 'string' || message === '') report('error-shape', 'error.message must be a text');
  if (typeof param !== 'string' && param !== null)
    report('error-shape', 'error.param must be a text or null');
  if (typeof event_id !== 'string' && event_id !== null) {
    report('error-echo', `error.event_id must be a text or null, not ${shown(event_id)}`);
  }
}

/** After these errors the server closes the connection. */
function endsSession({ code, type, event_id }: Fields): boolean {
  return event_id === null && (code === 'session_expired' || type === 'insufficient_quota');
}

function isOfAppend(state: ConversationState, echo: unknown): boolean {
  return typeof echo === 'string' ? state.appendIds.has(echo) : echo === null && state.unnamedAppend;
}

function reportUnrequested(state: ConversationState, { code, event_id: echo }: Fields, report: Report): void {
  if (typeof echo === 'string' && !state.clientIds.has(echo)) {
    report('error-echo', `error.event_id ${shown(echo)} is not an event_id of the client`);
    return;
  }
  const named = echo === null ? state.requests.find((each) => each.mayBeRejected) : undefined;
  if (named === undefined)
    report('reply-unrequested', `an error (${shown(code)}) answers no event of the client`);
  else report('error-echo', `error.event_id is null, but the error answers ${shown(named.echo)}`);
}

/** The server answers in its own order, so that the state at the error is that of its cause. */
function errorCause(state: ConversationState, request: Request, error: Fields, report: Report): void {
  const { code, message } = error;
  const { frame, kind } = request;
  const main = mainResponse(state);
  if (code === 'conversation_already_has_active_response') {
    if (main === undefined) report('error-cause', `${code}, but no response is in progress`);
    else if (!String(message).includes(main.id)) report('error-cause', `${code} must name ${main.id}`);
  }
  // Only an `event_id` identifies the request for certain.
  if (typeof request.echo !== 'string') return;
  if (code === 'response_cancel_not_active') {
    const active = state.responses.find(({ id, isOutOfBand }) => cancels(request, id, isOutOfBand));
    if (active !== undefined) report('error-cause', `${code}, but ${active.id} is in progress`);
  }
  if (state.items.length >= MAX_ITEMS) return;
  const isUnknown = /^item_(delete|retrieve)_invalid_item_id$/.test(String(code));
  if (isUnknown && knownItem(state, frame.item_id) !== undefined) {
    report('error-cause', `${code}, but ${shown(frame.item_id)} is in the conversation`);
  }
  const id = at(frame, 'item.id');
  if (code === 'item_create_duplicate_item_id' && !(typeof id === 'string' && state.itemIds.has(id))) {
    report('error-cause', `${code}, but no item had the id ${shown(id)}`);
  }
  const previous = frame.previous_item_id;
  const hasPrevious = previous === 'root' || previous == null || knownItem(state, previous) !== undefined;
  if (kind === 'create_item' && code === 'item_create_invalid_previous_item_id' && hasPrevious) {
    report('error-cause', `${code}, but ${shown(previous)} is in the conversation`);
  }
}
