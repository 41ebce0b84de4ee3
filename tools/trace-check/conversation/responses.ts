/** Responses: their cause, number, cancellation and end. */

import { type Fields, fieldsOf, shown, textAt } from '../rules/trace.ts';
import { cancels, createsResponse, take } from './requests.ts';
import { responseEnd } from './response-end.ts';
import type { Report } from './rules.ts';
import {
  type ConversationState,
  mainResponse,
  modalityOf,
  type OpenResponse,
  type Rules,
  type ServerEvent,
} from './state.ts';

const MAX_OUT_OF_BAND = 4;

export const responseRules: Rules = (state, event, report) => {
  if (event.type === 'response.created') return created(state, event, report);
  if (event.type === 'response.done') return ended(state, event, report);
  return state;
};

function created(state: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const response = fieldsOf(fields.response);
  const id = textAt(response, 'id') ?? '';
  if (!id.startsWith('resp_') || state.responseIds.has(id)) {
    report('response-known', `the id of a response is new and begins with resp_; ${shown(id)} is not`);
  }
  const isOutOfBand = response.conversation_id === null;
  limits(state, isOutOfBand, report);
  const { state: next, isWaiting } = caused(state, response, report);
  const open: OpenResponse = {
    id,
    isOutOfBand,
    modality: modalityOf(response),
    fields: response,
    outputs: [],
    isWaiting,
    isInterrupted: false,
  };
  return { ...next, responses: [...next.responses, open], responseIds: next.responseIds.with(id) };
}

function limits(state: ConversationState, isOutOfBand: boolean, report: Report): void {
  const main = mainResponse(state);
  const others = state.responses.filter((each) => each.isOutOfBand).length;
  if (!isOutOfBand && main !== undefined) report('response-one', `${main.id} is in progress`);
  if (isOutOfBand && others >= MAX_OUT_OF_BAND) report('response-one', `${others} others are in progress`);
}

/** Finds the cause of a response, and which turns it answers. */
function caused(
  state: ConversationState,
  response: Fields,
  report: Report,
): { readonly state: ConversationState; readonly isWaiting: OpenResponse['isWaiting'] } {
  const isPending = state.transcriptions.length > 0;
  const isRequest = (each: ConversationState['requests'][number]) => createsResponse(each, response);
  if (response.conversation_id !== null && mayBeAutomatic(state, response)) {
    // The request may come later: it is then refused.
    const requests = state.requests.map((each) => (isRequest(each) ? { ...each, mayBeSilent: true } : each));
    const isDoubtful = requests.some(isRequest);
    const owed = isDoubtful && state.owed !== 'no' ? 'maybe' : 'no';
    // An automatic response does not wait.
    return { state: { ...state, requests, owed }, isWaiting: isDoubtful && isPending ? 'maybe' : 'no' };
  }
  const taken = take(state, isRequest, report);
  const { request } = taken;
  if (request === undefined) {
    report('response-cause', `${shown(response.id)} follows no request and no turn with words`);
    return { state, isWaiting: 'no' };
  }
  // A response with its own input does not wait, and answers no turn.
  const answersTurns =
    response.conversation_id !== null && (fieldsOf(request.frame.response).input ?? undefined) === undefined;
  const isWaiting = answersTurns && isPending ? 'yes' : 'no';
  return {
    state: answersTurns && !isPending ? { ...taken.state, owed: 'no' } : taken.state,
    isWaiting,
  };
}

function mayBeAutomatic(state: ConversationState, { metadata }: Fields): boolean {
  if (metadata !== null || state.turn !== undefined) return false;
  return state.permittedAt === state.events - 1 || (state.owed !== 'no' && state.transcriptions.length === 0);
}

function ended(before: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const response = fieldsOf(fields.response);
  const open = before.responses.find(({ id }) => id === response.id);
  if (open === undefined) {
    report('response-known', `${shown(response.id)} has not started or has ended`);
    return before;
  }
  responseEnd(open, response, report);
  const state = cancelled(before, open, response, report);
  const { status } = response;
  if (open.isInterrupted && status !== 'cancelled') {
    report('response-cut', `speech ended ${open.id}, but its status is ${shown(status)}`);
  }
  return { ...state, responses: state.responses.filter((each) => each !== open) };
}

function cancelled(
  state: ConversationState,
  open: OpenResponse,
  { status, status_details }: Fields,
  report: Report,
): ConversationState {
  if (status !== 'cancelled') return state;
  const { reason } = fieldsOf(status_details);
  if (open.isInterrupted || reason === 'turn_detected') {
    if (!open.isInterrupted || reason !== 'turn_detected') {
      report('response-cancel', `${open.id} is cancelled for ${shown(reason)}, without its cause`);
    }
    return state;
  }
  const taken = take(state, (each) => cancels(each, open.id, open.isOutOfBand), report);
  if (taken.request === undefined) {
    report('response-cancel', `${open.id} is cancelled, but the client did not cancel it`);
  }
  return taken.state;
}

/** Speech that interrupts a response ends it before anything else happens. */
export function checkInterrupted(
  state: ConversationState,
  type: string,
  { response_id, response }: Fields,
  report: Report,
): void {
  const main = mainResponse(state);
  if (main?.isInterrupted !== true) return;
  const id = response_id ?? fieldsOf(response).id;
  const isEnd = type === 'conversation.item.done' || (type.startsWith('response.') && id === main.id);
  if (!isEnd) report('response-cut', `speech has ended ${main.id}, but ${type} precedes its end`);
}

/** Reports what the responses lack at a quiet end. */
export function unfinished(state: ConversationState, report: Report): void {
  for (const { id } of state.responses) report('response-known', `${id} has no response.done`);
  if (state.owed === 'yes' && state.turn === undefined && !state.isEnding) {
    report('response-missing', 'a turn with words was not answered');
  }
}
