/** Matches responses of the server with requests of the client (spec 3.4, 6.1, 7; openai-wire 8.1, 8.4, 8.8). */

import { type Ask, askOf, GRANTS, meansResponse } from './asks.ts';
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
  const ask = askOf(frame, state.index);
  const clientIds = typeof ask.echo === 'string' ? state.clientIds.with(ask.echo) : state.clientIds;
  const mayChoose = ask.kind === 'update' && ask.mayBeGranted && state.choseGa === undefined;
  const choosesGa = at(ask.frame, 'session.type') === 'realtime';
  // If the whole update may be rejected, the next update may choose the dialect.
  const choseGa = mayChoose && (choosesGa || !ask.mayBeSilent) ? choosesGa : state.choseGa;
  const next = { ...state, clientIds, choseGa };
  // Appends are numerous and have no response, so they are not queued.
  if (ask.kind === 'append' && ask.mayBeSilent && ask.mayBeGranted) {
    return typeof ask.echo === 'string'
      ? { ...next, appendIds: state.appendIds.with(ask.echo) }
      : { ...next, unnamedAppend: true };
  }
  return { ...next, asks: [...state.asks, ask] };
}

/** Finds the request that an event of the server answers, and removes it from the queue. */
export function answered(state: State, type: string, fields: Fields, report: Report): Answered {
  if (type === 'error') return errorAnswered(state, fields, report);
  const kind = Object.hasOwn(GRANTS, type) ? GRANTS[type] : undefined;
  if (kind !== undefined) {
    const reportUnasked = () => report('answer-unasked', `${type} answers no request`);
    const isOne = (ask: Ask) => ask.kind === kind;
    return granted(state, isOne, reportUnasked, report, (ask) => isOne(ask) && fits(state, ask, fields));
  }
  if (type === 'input_audio_buffer.committed') return committed(state, report);
  if (type === 'response.done' && at(fields, 'response.status') === 'cancelled') {
    return cancelled(state, fields, report);
  }
  return { state, ask: undefined };
}

interface Answered {
  readonly state: State;
  readonly ask: Ask | undefined;
}

type Choice = (ask: Ask) => boolean;

/** Whether a response matches the content of a request. Only responses to `conversation.item.create` have such content. */
function fits(state: State, ask: Ask, answer: Fields): boolean {
  if (ask.kind !== 'create_item') return true;
  const sent = fieldsOf(ask.frame.item);
  const item = fieldsOf(answer.item);
  const hasOtherId = typeof sent.id !== 'string' && textAt(item, 'id')?.startsWith('item_') !== true;
  const hasPosition = previousOf(ask.frame, state.lastItemId) === answer.previous_item_id;
  return !hasOtherId && hasPosition && mirrorErrors(sent, item).length === 0;
}

function granted(
  state: State,
  wanted: Choice,
  otherwise: () => void,
  report: Report,
  preferred: Choice = wanted,
): Answered {
  const taken = dequeue(
    state.asks,
    (ask) => ask.mayBeGranted && wanted(ask),
    (ask) => ask.mayBeGranted && preferred(ask),
    report,
  );
  if (taken === undefined) {
    otherwise();
    return { state, ask: undefined };
  }
  // If the whole update may have been rejected, it is unknown whether this is its answer.
  const isSure = taken.ask.kind !== 'update' || needsResponse(taken.ask);
  return { state: { ...state, asks: taken.rest }, ask: isSure ? taken.ask : undefined };
}

interface Taken {
  readonly ask: Ask;
  readonly rest: readonly Ask[];
  /** Whether the event may also be the response to a later request. */
  readonly doubtful: boolean;
}

/**
 * Removes a request and all requests before it from the queue: the first preferred one up to the first that requires a response,
 * else the first wanted one.
 */
function dequeue(asks: readonly Ask[], wanted: Choice, preferred: Choice, report: Report): Taken | undefined {
  const firstRequired = asks.findIndex(needsResponse);
  const place = asks.findIndex((ask, at) => preferred(ask) && (firstRequired === -1 || at <= firstRequired));
  return dequeueAt(asks, place === -1 ? asks.findIndex(wanted) : place, preferred, report);
}

function dequeueAt(
  asks: readonly Ask[],
  place: number,
  preferred: Choice,
  report: Report,
): Taken | undefined {
  const ask = asks[place];
  if (ask === undefined) return undefined;
  for (const passed of asks.slice(0, place).filter(needsResponse)) {
    report(
      'answer-order',
      `answers frame ${ask.index}, but frame ${passed.index} (${shown(passed.frame.type)}) came before it and has no answer`,
    );
  }
  const rest = asks.slice(place + 1);
  if (needsResponse(ask)) return { ask, rest, doubtful: false };
  // This request may be complete without a response, so the event may belong to the next request.
  const next = rest.findIndex(needsResponse);
  const required = rest[next];
  const doubtful = required !== undefined && preferred(required);
  return { ask, rest: doubtful ? rest.with(next, { ...required, mayBeSilent: true }) : rest, doubtful };
}

function needsResponse(ask: Ask): boolean {
  return !ask.mayBeSilent;
}

/** A detected turn is committed by the server, everything else by the client. */
function committed(state: State, report: Report): Answered {
  const isCommit = (ask: Ask) => ask.kind === 'commit';
  if (state.turn === undefined) {
    const reportUnasked = () =>
      report('commit-cause', 'committed, but no turn had ended and the client did not commit');
    return granted(state, isCommit, reportUnasked, report);
  }
  // The turn may have ended just before a client commit arrived, which then has its own response.
  const place = state.asks.findIndex(needsResponse);
  const first = state.asks[place];
  if (first === undefined || !isCommit(first)) return { state, ask: undefined };
  const asks = state.asks.with(place, { ...first, mayBeSilent: true });
  return { state: { ...state, asks }, ask: undefined };
}

function cancelled(state: State, fields: Fields, report: Report): Answered {
  const id = textAt(fields, 'response.id') ?? '';
  const reportUnasked = () =>
    report('response-cancel', `${shown(id)} is cancelled, but the client did not cancel it`);
  return granted(state, (ask) => ask.kind === 'cancel' && meansResponse(ask, id), reportUnasked, report);
}

function errorAnswered(state: State, fields: Fields, report: Report): Answered {
  const error = fieldsOf(fields.error);
  const { code, event_id: echo } = error;
  errorShape(error, report);
  if (code === 'buffer_overflow' && isOfAppend(state, echo)) return { state, ask: undefined };
  if (echo === null && isServerError(code)) {
    // An internal error may be the response to any of these requests, or to none.
    const asks = state.asks.map((each) => (each.echo === null ? { ...each, mayBeSilent: true } : each));
    return { state: { ...state, asks }, ask: undefined };
  }
  const wanted = (ask: Ask) => ask.mayBeRefused && (ask.echo === undefined || ask.echo === echo);
  const ofItsKind = (ask: Ask) =>
    wanted(ask) && (code !== 'response_in_progress' || ask.kind === 'create_response');
  const taken = dequeue(state.asks, wanted, ofItsKind, report);
  if (taken === undefined) {
    unasked(state, error, report);
    return { state, ask: undefined };
  }
  const { ask, rest } = taken;
  if (!taken.doubtful) errorCause(state, ask, code, report);
  if (ask.kind !== 'update' || !ask.mayBeGranted) return { state: { ...state, asks: rest }, ask };
  // The other fields of the update apply, so its `session.updated` follows.
  const param = typeof error.param === 'string' ? [error.param] : [];
  if (needsResponse(ask) && param.some((each) => ask.refused.includes(each))) {
    report('answer-unasked', `a second error for ${shown(error.param)} of frame ${ask.index}`);
  }
  const refused = { ...ask, refused: [...ask.refused, ...param] };
  return { state: { ...state, asks: [refused, ...rest] }, ask: refused };
}

function isServerError(code: unknown): boolean {
  return code === 'upstream_error' || code === 'internal_error';
}

function isOfAppend(state: State, echo: unknown): boolean {
  return typeof echo === 'string' ? state.appendIds.has(echo) : echo === null && state.unnamedAppend;
}

/** Checks an error that answers no request: allowed only for internal errors. */
function unasked(state: State, error: Fields, report: Report): void {
  const { code, event_id: echo } = error;
  if (typeof echo === 'string' && !state.clientIds.has(echo)) {
    report('error-echo', `error.event_id ${shown(echo)} is not an event_id of the client`);
  } else if (typeof echo === 'string') {
    report('answer-unasked', `an error for ${shown(echo)}, which needs no further response`);
  } else if (!isServerError(code)) {
    const named = state.asks.find((ask) => ask.mayBeRefused);
    if (named === undefined) report('answer-unasked', `an error (${shown(code)}) answers no request`);
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
function errorCause(state: State, ask: Ask, code: unknown, report: Report): void {
  const { response } = state;
  if (code === 'response_in_progress' && (ask.kind !== 'create_response' || response === undefined)) {
    report('error-cause', 'response_in_progress, but no response is in flight or none was requested');
  }
  if (code === 'buffer_overflow' && ask.kind !== 'append') {
    report('error-cause', `buffer_overflow answers frame ${ask.index}, which appends nothing`);
  }
  const cancels = ask.kind === 'cancel' && ask.mayBeGranted && ask.echo !== undefined && !isServerError(code);
  if (cancels && response !== undefined && meansResponse(ask, response.id)) {
    report(
      'error-cause',
      `frame ${ask.index} is rejected, though ${response.id} is in flight and can be cancelled`,
    );
  }
}

/** Reports the requests without a response at a quiet end. */
export function unanswered(state: State, report: Report): void {
  for (const ask of state.asks.filter(needsResponse)) {
    report('answer-missing', `frame ${ask.index} (${shown(ask.frame.type)}) has no answer`);
  }
}
