/**
 * Checks a conversation (`model` of kind `conversation`) against its ordering rules: a fold over the frames of one connection,
 * independent of the state machine of the service.
 */

import { fieldsOf, shown } from '../rules/trace.ts';
import { matchError } from './errors.ts';
import { checkAnnouncement, itemRules } from './items.ts';
import { currentName } from './names.ts';
import { outputRules } from './outputs.ts';
import { clientFrame, matchAcceptance, reportMissingReplies } from './requests.ts';
import { checkInterrupted, responseRules, unfinished } from './responses.ts';
import type { Report } from './rules.ts';
import { namesOf, sessionRules } from './session.ts';
import { type ConversationState, type EarlyFrame, initialConversation, type Rules } from './state.ts';
import { transcriptionRules, untranscribed } from './transcriptions.ts';
import { turnRules } from './turns.ts';

/** Each receives the state of the previous one: items of responses are checked before they replace the known ones. */
const SUBJECTS: readonly Rules[] = [
  sessionRules,
  turnRules,
  outputRules,
  itemRules,
  transcriptionRules,
  responseRules,
];

/**
 * The state of a conversation before its first event.
 * @param frame the first event of the server.
 * @param early client frames before it.
 * @returns undefined if the event starts another session.
 */
export function startConversation(
  frame: unknown,
  early: readonly EarlyFrame[],
  index: number,
): ConversationState | undefined {
  const fields = fieldsOf(frame);
  const names = fields.type === 'session.created' ? namesOf(fields.session) : undefined;
  if (names === undefined) return undefined;
  let state: ConversationState = { ...initialConversation, names };
  for (const each of early) state = clientFrame({ ...state, index: each.index }, each.frame);
  return { ...state, index };
}

/** Checks the next frame. */
export function checkConversation(
  state: ConversationState,
  { from, frame }: { readonly from: 'client' | 'server'; readonly frame: unknown },
  report: Report,
): ConversationState {
  if (state.over) report('session-first', 'a frame after the end of the connection');
  const next = from === 'client' ? clientFrame(state, frame) : serverFrame(state, frame, report);
  return { ...next, index: state.index + 1 };
}

function serverFrame(before: ConversationState, frame: unknown, report: Report): ConversationState {
  const fields = fieldsOf(frame);
  const type = typeof fields.type === 'string' ? currentName(fields.type, before.names) : undefined;
  const identified = withEventId({ ...before, events: before.events + 1 }, fields.event_id, report);
  if (type === undefined) {
    report('known-event', `${shown(fields.type)} is not an event of this protocol`);
    return identified;
  }
  const announced = checkAnnouncement(identified, type, report);
  checkInterrupted(announced, type, fields, report);
  if (type === 'error') return matchError(announced, fields, report);
  const { state: matched, request } = matchAcceptance(announced, type, fields, report);
  const event = { type, fields, request };
  return SUBJECTS.reduce((state, rules) => rules(state, event, report), matched);
}

function withEventId(state: ConversationState, id: unknown, report: Report): ConversationState {
  if (typeof id !== 'string' || id === '') {
    report('event-id', `event_id must be a text, not ${shown(id)}`);
    return state;
  }
  if (state.eventIds.has(id)) report('event-id', `event_id ${shown(id)} was used before`);
  return { ...state, eventIds: state.eventIds.with(id) };
}

/** Checks that no event is missing at the end of a quiet connection. */
export function finishConversation(state: ConversationState, report: Report): void {
  reportMissingReplies(state, report);
  untranscribed(state, report);
  unfinished(state, report);
  const { turn, announcement } = state;
  if (turn?.isStopped) report('turn-order', `the turn of ${turn.itemId} stopped and was not committed`);
  if (announcement !== undefined) {
    report('item-announced', `conversation.item.${announcement.next} of ${announcement.itemId} never came`);
  }
}
