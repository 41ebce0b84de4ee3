/** Turns of the user: detected speech, commits, and idle timeouts. */

import { at, shown, textAt } from '../rules/trace.ts';
import { newItem } from './items.ts';
import { needsReply, take } from './requests.ts';
import type { Report } from './rules.ts';
import {
  type ConversationState,
  detectionOf,
  lastItemId,
  mainResponse,
  type Rules,
  type ServerEvent,
} from './state.ts';

const MAX_IDLE_TIMEOUTS = 2;

export const turnRules: Rules = (state, event, report) => {
  switch (event.type) {
    case 'input_audio_buffer.speech_started':
      return started(state, event, report);
    case 'input_audio_buffer.speech_stopped':
      return stopped(state, event, report);
    case 'input_audio_buffer.committed':
      return committed(state, event, report);
    case 'input_audio_buffer.timeout_triggered':
      return timedOut(state, event, report);
    case 'input_audio_buffer.cleared':
      if (state.turn?.isStopped) report('turn-order', `${state.turn.itemId} stopped and was then cleared`);
      return { ...state, turn: undefined };
    default:
      return state;
  }
};

function started(state: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const itemId = textAt(fields, 'item_id') ?? '';
  const startMs = Number(fields.audio_start_ms);
  const detection = detectionOf(state);
  if (!state.hasDetected) report('turn-detected', 'speech_started without turn detection');
  if (state.turn !== undefined) {
    report('turn-order', `${itemId} starts while the turn of ${state.turn.itemId} is open`);
  }
  if (startMs < state.lastStartMs) {
    report('turn-times', `starts at ${startMs} ms, before the turn that started at ${state.lastStartMs} ms`);
  }
  const responses =
    detection?.interrupt_response === true
      ? state.responses.map((each) => (each.isOutOfBand ? each : { ...each, isInterrupted: true }))
      : state.responses;
  const next = newItem(state, itemId, report);
  const turn = { itemId, startMs, isStopped: false };
  return { ...next, turn, lastStartMs: startMs, idleTimeouts: 0, responses };
}

function stopped(state: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const { turn } = state;
  const endMs = Number(fields.audio_end_ms);
  if (turn === undefined || turn.isStopped) {
    report('turn-order', 'speech_stopped without speech_started');
    return state;
  }
  if (turn.itemId !== fields.item_id) {
    report('turn-item', `${turn.itemId} started, ${shown(fields.item_id)} stopped`);
  }
  if (endMs < turn.startMs) {
    report('turn-times', `ends at ${endMs} ms, before its start at ${turn.startMs} ms`);
  }
  return { ...state, turn: { ...turn, isStopped: true } };
}

function committed(before: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const itemId = textAt(fields, 'item_id') ?? '';
  const { turn, announcement } = before;
  const isTimeout = announcement?.next === 'committed';
  const isDetected = !isTimeout && turn !== undefined;
  let state = before;
  if (isDetected) {
    if (!turn.isStopped) report('turn-order', `committed, but the turn of ${turn.itemId} has not stopped`);
    if (turn.itemId !== itemId) report('turn-item', `${turn.itemId} stopped, ${shown(itemId)} is committed`);
    state = withOptionalCommit(state);
  } else if (!isTimeout) {
    const taken = take(state, ({ kind, mayBeAccepted }) => kind === 'commit' && mayBeAccepted, report, false);
    if (taken.request === undefined) {
      report('commit-cause', 'committed, but no turn has ended and the client did not commit');
    }
    state = newItem(taken.state, itemId, report);
  }
  const previousItemId = lastItemId(state);
  if (fields.previous_item_id !== previousItemId) {
    report(
      'item-chain',
      `previous_item_id must be ${shown(previousItemId)}, not ${shown(fields.previous_item_id)}`,
    );
  }
  return {
    ...state,
    ...(isDetected && { turn: undefined }),
    idleTimeouts: isTimeout ? state.idleTimeouts : 0,
    transcriptions: isTimeout
      ? state.transcriptions
      : [...state.transcriptions, { itemId, text: '', hasReply: answering(state, isDetected) }],
    announcement: {
      itemId,
      previousItemId,
      next: 'added',
      isComplete: true,
      item: undefined,
      transcript: isTimeout ? '' : null,
    },
  };
}

function answering(state: ConversationState, isDetected: boolean): 'no' | 'maybe' | 'yes' {
  if (!isDetected) return 'no';
  // Turn detection that is turned off ends the turn, with the settings of the update.
  if (state.requests.some(({ kind }) => kind === 'update')) return 'maybe';
  return detectionOf(state)?.create_response === true ? 'yes' : 'no';
}

/** The turn may have ended just before a commit of the client, which then has its own answer. */
function withOptionalCommit(state: ConversationState): ConversationState {
  const index = state.requests.findIndex((each) => each.kind === 'commit' && needsReply(each));
  const commit = state.requests[index];
  if (commit === undefined) return state;
  return { ...state, requests: state.requests.with(index, { ...commit, mayBeSilent: true }) };
}

function timedOut(state: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const itemId = textAt(fields, 'item_id') ?? '';
  const timeoutMs = at(detectionOf(state), 'idle_timeout_ms');
  if (typeof timeoutMs !== 'number') report('timeout-cause', 'timeout_triggered without idle_timeout_ms');
  if (state.turn !== undefined || mainResponse(state) !== undefined) {
    report('timeout-cause', 'timeout_triggered while the user or the assistant speaks');
  }
  if (state.idleTimeouts >= MAX_IDLE_TIMEOUTS) report('timeout-cause', 'a third timeout without speech');
  if (Number(fields.audio_end_ms) < Number(fields.audio_start_ms)) {
    report('turn-times', 'the idle time ends before its start');
  }
  const next = newItem(state, itemId, report);
  return {
    ...next,
    idleTimeouts: state.idleTimeouts + 1,
    announcement: {
      itemId,
      previousItemId: lastItemId(state),
      next: 'committed',
      isComplete: true,
      item: undefined,
      transcript: '',
    },
  };
}
