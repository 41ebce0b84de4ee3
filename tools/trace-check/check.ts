/**
 * Checks traces of WS /v1/realtime against the order rules: a pure fold over the frames of one connection, in the order in which
 * one side recorded them. It implements the specification (3.4, 4.7, 6, 7) and the event reference (openai-wire 8), independently
 * of the state machines of the service. Conversations have their own rules (`conversation/`). Client frames are recorded when they are sent, so other events may precede their response.
 */

import {
  checkConversation,
  finishConversation,
  startConversation,
} from './conversation/check-conversation.ts';
import { CONVERSATION_RULES, type Report as ConversationReport } from './conversation/rules.ts';
import type { ConversationState } from './conversation/state.ts';
import { eventRules } from './rules/event-rules.ts';
import { itemRules } from './rules/item-rules.ts';
import { clientFrame, matchEvent, reportMissingReplies } from './rules/request-rules.ts';
import { responseRules } from './rules/response-rules.ts';
import { type Report, RULES, type Violation } from './rules/rules.ts';
import { sessionRules } from './rules/session-rules.ts';
import { initial, type Rules, type State } from './rules/state.ts';
import { type FrameEntry, fieldsOf, shown, type TraceEntry } from './rules/trace.ts';
import { transcriptionRules } from './rules/transcription-rules.ts';
import { turnRules } from './rules/turn-rules.ts';

export { CONVERSATION_RULES } from './conversation/rules.ts';
export { RULES, type RuleName, type Violation } from './rules/rules.ts';
export {
  type EndEntry,
  type FrameEntry,
  parseTraceLine,
  type TraceEntry,
} from './rules/trace.ts';
export { initial, type State };

/** The rules in their order. Each receives the state of the previous one: item rules use the turn before turn rules commit it. */
const SUBJECTS: readonly Rules[] = [
  eventRules,
  sessionRules,
  itemRules,
  turnRules,
  transcriptionRules,
  responseRules,
];

export interface Checked {
  readonly state: State;
  readonly violations: readonly Violation[];
}

/** Checks the next entry of a connection. Each connection has a separate state. */
export function check(state: State, entry: TraceEntry): Checked {
  if ('end' in entry) return entry.end === 'quiet' ? finish(state) : { state: cut(state), violations: [] };
  const conversation = state.conversation ?? conversationAt(state, entry);
  if (conversation !== undefined) return checkedConversation(state, conversation, entry);
  const { violations, report } = reporter(state.index);
  if (state.over) report('session-first', 'a frame after the end of the connection');
  const next =
    entry.from === 'client' ? clientFrame(state, entry.frame) : serverFrame(state, entry.frame, report);
  const isEarly = entry.from === 'client' && state.session === undefined;
  const early = isEarly ? [...state.early, { index: state.index, frame: entry.frame }] : [];
  return { state: { ...next, early, index: state.index + 1 }, violations };
}

/** The first event of the server decides whether the session is a conversation. */
function conversationAt(state: State, { from, frame }: FrameEntry): ConversationState | undefined {
  if (from === 'client' || state.session !== undefined) return undefined;
  return startConversation(frame, state.early, state.index);
}

function checkedConversation(state: State, before: ConversationState, entry: FrameEntry): Checked {
  const { violations, report } = conversationReporter(state.index);
  const conversation = checkConversation(before, entry, report);
  const dialect = conversation.names === 'ga' ? 'conversation' : 'beta_conversation';
  const session = state.session ?? {};
  return {
    state: { ...state, session, dialect, conversation, early: [], index: state.index + 1 },
    violations,
  };
}

function cut(state: State): State {
  const { conversation } = state;
  return { ...state, over: true, ...(conversation && { conversation: { ...conversation, over: true } }) };
}

/** Checks that no event is missing at the end of a quiet connection. */
export function finish(state: State): Checked {
  if (state.conversation !== undefined) {
    const { violations, report } = conversationReporter(state.index);
    finishConversation(state.conversation, report);
    const conversation = { ...state.conversation, over: true };
    return { state: { ...state, over: true, conversation }, violations };
  }
  const { violations, report } = reporter(state.index);
  if (state.session === undefined) report('session-first', 'session.created never came');
  reportMissingReplies(state, report);
  for (const { itemId } of state.transcriptions) {
    report('transcription-order', `the transcription of ${itemId} has neither completed nor failed`);
  }
  if (state.turn?.stopped)
    report('turn-order', `the turn of ${state.turn.itemId} stopped and was not committed`);
  if (state.response !== undefined) report('response-end', `${state.response.id} has no response.done`);
  const { announcement } = state;
  if (announcement !== undefined && (state.dialect === 'ga' || announcement.next === 'done')) {
    report('item-announced', `conversation.item.${announcement.next} of ${announcement.itemId} never came`);
  }
  return { state: { ...state, over: true }, violations };
}

/** Whether no event is outstanding: every request has its response, and everything that started has ended. */
export function isQuiet(state: State): boolean {
  return finish(state).violations.length === 0;
}

function serverFrame(state: State, frame: unknown, report: Report): State {
  const fields = fieldsOf(frame);
  const type = typeof fields.type === 'string' ? fields.type : '';
  if (type === '') report('known-event', `a frame of the server needs a type: ${shown(frame)}`);
  const { state: next, request } = matchEvent(state, type, fields, report);
  return SUBJECTS.reduce(
    (before, rules) => rules(before, { type, fields, repliesTo: request }, report),
    next,
  );
}

function reporter(index: number): { readonly violations: Violation[]; readonly report: Report } {
  const violations: Violation[] = [];
  const report: Report = (rule, message) =>
    violations.push({ rule, section: RULES[rule][0], message: `frame ${index}: ${message}`, index });
  return { violations, report };
}

function conversationReporter(index: number): {
  readonly violations: Violation[];
  readonly report: ConversationReport;
} {
  const violations: Violation[] = [];
  const report: ConversationReport = (rule, message) => {
    const [section] = CONVERSATION_RULES[rule];
    violations.push({ rule: `conversation/${rule}`, section, message: `frame ${index}: ${message}`, index });
  };
  return { violations, report };
}

/** Checks a complete trace of one connection. */
export function checkTrace(entries: Iterable<TraceEntry>): readonly Violation[] {
  const all: Violation[] = [];
  let state: State = initial;
  for (const entry of entries) {
    const checked = check(state, entry);
    state = checked.state;
    all.push(...checked.violations);
  }
  return all;
}
