/** Matches responses of the server with requests of the client (spec 3.4, 6.1, 7; openai-wire 8.1, 8.4, 8.8). */

import { ACCEPTANCES, type ClientRequest, clientRequestOf, meansResponse } from './client-requests.ts';
import { mirrorErrors, previousOf } from './mirror.ts';
import type { Report } from './rules.ts';
import type { State } from './state.ts';
import { at, type Fields, fieldsOf, shown, textAt } from './trace.ts';

/** `error.type` of each code (openai-wire 8.8). */
const ERROR_TYPES: Readonly<Record<string, string>> = {
  invalid_request_error: 'invalid_request_error',
  unsupported_feature: 'invalid_request_error',
  buffer_overflow: 'invalid_request_error',
  response_in_progress: 'invalid_request_error',
  upstream_error: 'server_error',
  internal_error: 'server_error',
};

/** Queues a frame of the client until its response. */
export function clientFrame(state: State, frame: unknown): State {
  const request = clientRequestOf(frame, state.index);
  const clientIds = typeof request.echo === 'string' ? state.clientIds.with(request.echo) : state.clientIds;
  const mayChoose = request.kind === 'update' && request.mayBeAccepted && state.choseGa === undefined;
  const choosesGa = at(request.frame, 'session.type') === 'realtime';
  // If the whole update may be rejected, the next update may choose the dialect.
  const choseGa = mayChoose && (choosesGa || !request.mayBeSilent) ? choosesGa : state.choseGa;
  const next = { ...state, clientIds, choseGa };
  // Appends are numerous and have no response, so they are not queued.
  if (request.kind === 'append' && request.mayBeSilent && request.mayBeAccepted) {
    return typeof request.echo === 'string'
      ? { ...next, appendIds: state.appendIds.with(request.echo) }
      : { ...next, unnamedAppend: true };
  }
  return { ...next, requests: [...state.requests, request] };
}

/** Finds the request that an event of the server answers, and removes it from the queue. */
export function matchEvent(state: State, type: string, fields: Fields, report: Report): Match {
  if (type === 'error') return matchError(state, fields, report);
  const kind = Object.hasOwn(ACCEPTANCES, type) ? ACCEPTANCES[type] : undefined;
  if (kind !== undefined) {
    const reportMissing = () => report('reply-unrequested', `${type} answers no request`);
    const isOne = (request: ClientRequest) => request.kind === kind;
    return matchAcceptance(
      state,
      isOne,
      reportMissing,
      report,
      (request) => isOne(request) && fits(state, request, fields),
    );
  }
  if (type === 'input_audio_buffer.committed') return committed(state, report);
  if (type === 'response.done' && at(fields, 'response.status') === 'cancelled') {
    return cancelled(state, fields, report);
  }
  return { state, request: undefined };
}

interface Match {
  readonly state: State;
  readonly request: ClientRequest | undefined;
}

type Choice = (request: ClientRequest) => boolean;

/** Whether a response matches the content of a request. Only responses to `conversation.item.create` have such content. */
function fits(state: State, request: ClientRequest, reply: Fields): boolean {
  if (request.kind !== 'create_item') return true;
  const sent = fieldsOf(request.frame.item);
  const item = fieldsOf(reply.item);
  const hasOtherId = typeof sent.id !== 'string' && textAt(item, 'id')?.startsWith('item_') !== true;
  const hasPosition = previousOf(request.frame, state.lastItemId) === reply.previous_item_id;
  return !hasOtherId && hasPosition && mirrorErrors(sent, item).length === 0;
}

function matchAcceptance(
  state: State,
  wanted: Choice,
  otherwise: () => void,
  report: Report,
  preferred: Choice = wanted,
): Match {
  const taken = dequeue(
    state.requests,
    (request) => request.mayBeAccepted && wanted(request),
    (request) => request.mayBeAccepted && preferred(request),
    report,
  );
  if (taken === undefined) {
    otherwise();
    return { state, request: undefined };
  }
  // If the whole update may have been rejected, it is unknown whether this is its reply.
  const isSure = taken.request.kind !== 'update' || needsResponse(taken.request);
  return { state: { ...state, requests: taken.rest }, request: isSure ? taken.request : undefined };
}

interface Taken {
  readonly request: ClientRequest;
  readonly rest: readonly ClientRequest[];
  /** Whether the event may also be the response to a later request. */
  readonly doubtful: boolean;
}

/**
 * Removes a request and all requests before it from the queue: the first preferred one up to the first that requires a response,
 * else the first wanted one.
 */
function dequeue(
  requests: readonly ClientRequest[],
  wanted: Choice,
  preferred: Choice,
  report: Report,
): Taken | undefined {
  const firstRequired = requests.findIndex(needsResponse);
  const index = requests.findIndex(
    (request, at) => preferred(request) && (firstRequired === -1 || at <= firstRequired),
  );
  return dequeueAt(requests, index === -1 ? requests.findIndex(wanted) : index, preferred, report);
}

function dequeueAt(
  requests: readonly ClientRequest[],
  index: number,
  preferred: Choice,
  report: Report,
): Taken | undefined {
  const request = requests[index];
  if (request === undefined) return undefined;
  for (const passed of requests.slice(0, index).filter(needsResponse)) {
    report(
      'reply-order',
      `answers frame ${request.index}, but frame ${passed.index} (${shown(passed.frame.type)}) came before it and has no reply`,
    );
  }
  const rest = requests.slice(index + 1);
  if (needsResponse(request)) return { request, rest, doubtful: false };
  // This request may be complete without a response, so the event may belong to the next request.
  const next = rest.findIndex(needsResponse);
  const required = rest[next];
  const doubtful = required !== undefined && preferred(required);
  return { request, rest: doubtful ? rest.with(next, { ...required, mayBeSilent: true }) : rest, doubtful };
}

function needsResponse(request: ClientRequest): boolean {
  return !request.mayBeSilent;
}

/** A detected turn is committed by the server, everything else by the client. */
function committed(state: State, report: Report): Match {
  const isCommit = (request: ClientRequest) => request.kind === 'commit';
  if (state.turn === undefined) {
    const reportMissing = () =>
      report('commit-cause', 'committed, but no turn had ended and the client did not commit');
    return matchAcceptance(state, isCommit, reportMissing, report);
  }
  // The turn may have ended just before a client commit arrived, which then has its own response.
  const index = state.requests.findIndex(needsResponse);
  const first = state.requests[index];
  if (first === undefined || !isCommit(first)) return { state, request: undefined };
  const requests = state.requests.with(index, { ...first, mayBeSilent: true });
  return { state: { ...state, requests }, request: undefined };
}

function cancelled(state: State, fields: Fields, report: Report): Match {
  const id = textAt(fields, 'response.id') ?? '';
  const reportMissing = () =>
    report('response-cancel', `${shown(id)} is cancelled, but the client did not cancel it`);
  return matchAcceptance(
    state,
    (request) => request.kind === 'cancel' && meansResponse(request, id),
    reportMissing,
    report,
  );
}

function matchError(state: State, fields: Fields, report: Report): Match {
  const error = fieldsOf(fields.error);
  const { code, event_id: echo } = error;
  errorShape(error, report);
  if (code === 'buffer_overflow' && isOfAppend(state, echo)) return { state, request: undefined };
  if (echo === null && isServerError(code)) {
    // An internal error may be the response to any of these requests, or to none.
    const requests = state.requests.map((each) =>
      each.echo === null ? { ...each, mayBeSilent: true } : each,
    );
    return { state: { ...state, requests }, request: undefined };
  }
  const wanted = (request: ClientRequest) =>
    request.mayBeRejected && (request.echo === undefined || request.echo === echo);
  const ofItsKind = (request: ClientRequest) =>
    wanted(request) && (code !== 'response_in_progress' || request.kind === 'create_response');
  const taken = dequeue(state.requests, wanted, ofItsKind, report);
  if (taken === undefined) {
    reportUnrequested(state, error, report);
    return { state, request: undefined };
  }
  const { request, rest } = taken;
  if (!taken.doubtful) errorCause(state, request, code, report);
  if (request.kind !== 'update' || !request.mayBeAccepted)
    return { state: { ...state, requests: rest }, request };
  // The other fields of the update apply, so its `session.updated` follows.
  const param = typeof error.param === 'string' ? [error.param] : [];
  if (needsResponse(request) && param.some((each) => request.rejectedParams.includes(each))) {
    report('reply-unrequested', `a second error for ${shown(error.param)} of frame ${request.index}`);
  }
  const rejected = { ...request, rejectedParams: [...request.rejectedParams, ...param] };
  return { state: { ...state, requests: [rejected, ...rest] }, request: rejected };
}

function isServerError(code: unknown): boolean {
  return code === 'upstream_error' || code === 'internal_error';
}

function isOfAppend(state: State, echo: unknown): boolean {
  return typeof echo === 'string' ? state.appendIds.has(echo) : echo === null && state.unnamedAppend;
}

/** Checks an error that answers no request: allowed only for internal errors. */
function reportUnrequested(state: State, error: Fields, report: Report): void {
  const { code, event_id: echo } = error;
  if (typeof echo === 'string' && !state.clientIds.has(echo)) {
    report('error-echo', `error.event_id ${shown(echo)} is not an event_id of the client`);
  } else if (typeof echo === 'string') {
    report('reply-unrequested', `an error for ${shown(echo)}, which needs no further response`);
  } else if (!isServerError(code)) {
    const named = state.requests.find((request) => request.mayBeRejected);
    if (named === undefined) report('reply-unrequested', `an error (${shown(code)}) answers no request`);
    else report('error-echo', `error.event_id is null, but the error answers ${shown(named.echo)}`);
  }
}

function errorShape(error: Fields, report: Report): void {
  const { type, code, message, param, event_id } = error;
  const known = typeof code === 'string' && Object.hasOwn(ERROR_TYPES, code);
  if (!known) report('error-shape', `error.code ${shown(code)} is not in the table`);
  else if (type !== ERROR_TYPES[code]) {
    report('error-shape', `error.type of ${code} must be ${shown(ERROR_TYPES[code])}, not ${shown(type)}`);
  }
  if (typeof message !== 'string' || message === '') report('error-shape', 'error.message must be a string');
  if (typeof param !== 'string' && param !== null)
    report('error-shape', 'error.param must be a string or null');
  if (typeof event_id !== 'string' && event_id !== null) {
    report('error-echo', `error.event_id must be a string or null, not ${shown(event_id)}`);
  }
}

/** Checks that the error code has its cause (spec 7). */
function errorCause(state: State, request: ClientRequest, code: unknown, report: Report): void {
  const { response } = state;
  if (code === 'response_in_progress' && (request.kind !== 'create_response' || response === undefined)) {
    report('error-cause', 'response_in_progress, but no response is in flight or none was requested');
  }
  if (code === 'buffer_overflow' && request.kind !== 'append') {
    report('error-cause', `buffer_overflow answers frame ${request.index}, which appends nothing`);
  }
  const cancels =
    request.kind === 'cancel' && request.mayBeAccepted && request.echo !== undefined && !isServerError(code);
  if (cancels && response !== undefined && meansResponse(request, response.id)) {
    report(
      'error-cause',
      `frame ${request.index} is rejected, though ${response.id} is in flight and can be cancelled`,
    );
  }
}

/** Reports the requests without a response at a quiet end. */
export function reportMissingReplies(state: State, report: Report): void {
  for (const request of state.requests.filter(needsResponse)) {
    report('reply-missing', `frame ${request.index} (${shown(request.frame.type)}) has no reply`);
  }
}
