/** Who asked, in which order, and was everybody answered (spec 3.4, 6.1, 7; openai-wire 8.1, 8.4, 8.8). */

import { type Ask, askOf, GRANTS, meansResponse } from './asks.ts';
import { mirrorFaults, previousOf } from './mirror.ts';
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

/** Remembers what a frame of the client asks for. */
export function asked(state: State, frame: unknown): State {
  const ask = askOf(frame, state.index);
  const clientIds = typeof ask.echo === 'string' ? state.clientIds.with(ask.echo) : state.clientIds;
  const mayChoose = ask.kind === 'update' && ask.mayBeGranted && state.choseGa === undefined;
  const choosesGa = at(ask.frame, 'session.type') === 'realtime';
  // An update that may be refused as a whole leaves the choice to the next.
  const choseGa = mayChoose && (choosesGa || !ask.mayBeSilent) ? choosesGa : state.choseGa;
  const next = { ...state, clientIds, choseGa };
  // Appends come by the thousand and are not answered, so they do not wait in the queue.
  if (ask.kind === 'append' && ask.mayBeSilent && ask.mayBeGranted) {
    return typeof ask.echo === 'string'
      ? { ...next, appendIds: state.appendIds.with(ask.echo) }
      : { ...next, unnamedAppend: true };
  }
  return { ...next, asks: [...state.asks, ask] };
}

/** Finds what an event of the server answers, and takes it off the queue. */
export function answered(state: State, type: string, fields: Fields, report: Report): Answered {
  if (type === 'error') return errorAnswered(state, fields, report);
  const kind = Object.hasOwn(GRANTS, type) ? GRANTS[type] : undefined;
  if (kind !== undefined) {
    const uncalled = () => report('answer-unasked', `${type} answers nothing that was asked`);
    const isOne = (ask: Ask) => ask.kind === kind;
    return granted(state, isOne, uncalled, report, (ask) => isOne(ask) && fits(state, ask, fields));
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

/** Whether an answer looks like that of this question, where it holds something of it. */
function fits(state: State, ask: Ask, answer: Fields): boolean {
  if (ask.kind !== 'create_item') return true;
  const sent = fieldsOf(ask.frame.item);
  const item = fieldsOf(answer.item);
  const isForeign = typeof sent.id !== 'string' && textAt(item, 'id')?.startsWith('item_') !== true;
  const isBehind = previousOf(ask.frame, state.lastItemId) === answer.previous_item_id;
  return !isForeign && isBehind && mirrorFaults(sent, item).length === 0;
}

function granted(
  state: State,
  wanted: Choice,
  otherwise: () => void,
  report: Report,
  preferred: Choice = wanted,
): Answered {
  const taken = take(
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
  const isSure = taken.ask.kind !== 'update' || isOwed(taken.ask);
  return { state: { ...state, asks: taken.rest }, ask: isSure ? taken.ask : undefined };
}

interface Taken {
  readonly ask: Ask;
  readonly rest: readonly Ask[];
  /** It may have been the answer of a later one. */
  readonly doubtful: boolean;
}

/**
 * Removes one expected entry and all entries before it from the queue: the first preferred one among those
 * that can be meant, else the first.
 */
function take(asks: readonly Ask[], wanted: Choice, preferred: Choice, report: Report): Taken | undefined {
  const firstOwed = asks.findIndex(isOwed);
  const place = asks.findIndex((ask, at) => preferred(ask) && (firstOwed === -1 || at <= firstOwed));
  return takeAt(asks, place === -1 ? asks.findIndex(wanted) : place, preferred, report);
}

function takeAt(asks: readonly Ask[], place: number, preferred: Choice, report: Report): Taken | undefined {
  const ask = asks[place];
  if (ask === undefined) return undefined;
  for (const passed of asks.slice(0, place).filter(isOwed)) {
    report(
      'answer-order',
      `answers frame ${ask.index}, but frame ${passed.index} (${shown(passed.frame.type)}) came before it and has no answer`,
    );
  }
  const rest = asks.slice(place + 1);
  if (isOwed(ask)) return { ask, rest, doubtful: false };
  // Perhaps that one had its answer long ago, and this is the answer of the next.
  const next = rest.findIndex(isOwed);
  const owed = rest[next];
  const doubtful = owed !== undefined && preferred(owed);
  return { ask, rest: doubtful ? rest.with(next, { ...owed, mayBeSilent: true }) : rest, doubtful };
}

function isOwed(ask: Ask): boolean {
  return !ask.mayBeSilent;
}

/** A turn that ended by itself is committed without a word of the client; else a commit was asked for. */
function committed(state: State, report: Report): Answered {
  const isCommit = (ask: Ask) => ask.kind === 'commit';
  if (state.turn === undefined) {
    const uncalled = () =>
      report('commit-cause', 'committed, but no turn had ended and the client did not commit');
    return granted(state, isCommit, uncalled, report);
  }
  // The turn may have ended a moment before a commit arrived, which then has an answer of its own.
  const place = state.asks.findIndex(isOwed);
  const first = state.asks[place];
  if (first === undefined || !isCommit(first)) return { state, ask: undefined };
  const asks = state.asks.with(place, { ...first, mayBeSilent: true });
  return { state: { ...state, asks }, ask: undefined };
}

function cancelled(state: State, fields: Fields, report: Report): Answered {
  const id = textAt(fields, 'response.id') ?? '';
  const uncalled = () =>
    report('response-cancel', `${shown(id)} is cancelled, but the client did not cancel it`);
  return granted(state, (ask) => ask.kind === 'cancel' && meansResponse(ask, id), uncalled, report);
}

function errorAnswered(state: State, fields: Fields, report: Report): Answered {
  const error = fieldsOf(fields.error);
  const { code, event_id: echo } = error;
  errorShape(error, report);
  if (code === 'buffer_overflow' && isOfAppend(state, echo)) return { state, ask: undefined };
  if (echo === null && isFault(code)) {
    // A fault of the server: it may answer any of them, or none.
    const asks = state.asks.map((each) => (each.echo === null ? { ...each, mayBeSilent: true } : each));
    return { state: { ...state, asks }, ask: undefined };
  }
  const wanted = (ask: Ask) => ask.mayBeRefused && (ask.echo === undefined || ask.echo === echo);
  const ofItsKind = (ask: Ask) =>
    wanted(ask) && (code !== 'response_in_progress' || ask.kind === 'create_response');
  const taken = take(state.asks, wanted, ofItsKind, report);
  if (taken === undefined) {
    unasked(state, error, report);
    return { state, ask: undefined };
  }
  const { ask, rest } = taken;
  if (!taken.doubtful) errorCause(state, ask, code, report);
  if (ask.kind !== 'update' || !ask.mayBeGranted) return { state: { ...state, asks: rest }, ask };
  // The other fields of an update apply, and its answer still comes.
  const param = typeof error.param === 'string' ? [error.param] : [];
  if (isOwed(ask) && param.some((each) => ask.refused.includes(each))) {
    report('answer-unasked', `a second error for ${shown(error.param)} of frame ${ask.index}`);
  }
  const refused = { ...ask, refused: [...ask.refused, ...param] };
  return { state: { ...state, asks: [refused, ...rest] }, ask: refused };
}

function isFault(code: unknown): boolean {
  return code === 'upstream_error' || code === 'internal_error';
}

function isOfAppend(state: State, echo: unknown): boolean {
  return typeof echo === 'string' ? state.appendIds.has(echo) : echo === null && state.unnamedAppend;
}

/** An error that answers nothing: a fault of the server, or wrong. */
function unasked(state: State, error: Fields, report: Report): void {
  const { code, event_id: echo } = error;
  if (typeof echo === 'string' && !state.clientIds.has(echo)) {
    report('error-echo', `error.event_id ${shown(echo)} is not an event_id of the client`);
  } else if (typeof echo === 'string') {
    report('answer-unasked', `an error for ${shown(echo)}, which needs no answer any more`);
  } else if (!isFault(code)) {
    const named = state.asks.find((ask) => ask.mayBeRefused);
    if (named === undefined)
      report('answer-unasked', `an error (${shown(code)}) answers nothing that was asked`);
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
  if (typeof message !== 'string' || message === '') report('error-shape', 'error.message must be a text');
  if (typeof param !== 'string' && param !== null)
    report('error-shape', 'error.param must be a text or null');
  if (typeof event_id !== 'string' && event_id !== null) {
    report('error-echo', `error.event_id must be a text or null, not ${shown(event_id)}`);
  }
}

/** Each code of the table has its cause (spec 7). */
function errorCause(state: State, ask: Ask, code: unknown, report: Report): void {
  const { response } = state;
  if (code === 'response_in_progress' && (ask.kind !== 'create_response' || response === undefined)) {
    report('error-cause', 'response_in_progress, but no response is in flight or none was asked for');
  }
  if (code === 'buffer_overflow' && ask.kind !== 'append') {
    report('error-cause', `buffer_overflow answers frame ${ask.index}, which appends nothing`);
  }
  const cancels = ask.kind === 'cancel' && ask.mayBeGranted && ask.echo !== undefined && !isFault(code);
  if (cancels && response !== undefined && meansResponse(ask, response.id)) {
    report(
      'error-cause',
      `frame ${ask.index} is refused, though ${response.id} is in flight and can be cancelled`,
    );
  }
}

/** What a quiet end leaves unanswered. */
export function unanswered(state: State, report: Report): void {
  for (const ask of state.asks.filter(isOwed)) {
    report('answer-missing', `frame ${ask.index} (${shown(ask.frame.type)}) has no answer`);
  }
}
