/** Turns of `server_vad`: started, stopped, committed, one at a time (spec 6.2 order rule 2; openai-wire 8.5). */

import type { Report } from './rules.ts';
import { detectsTurns } from './session-rules.ts';
import type { ServerFrame, State } from './state.ts';
import { shown, textAt } from './trace.ts';

export function turnRules(state: State, event: ServerFrame, report: Report): State {
  switch (event.type) {
    case 'input_audio_buffer.speech_started':
      return started(state, event, report);
    case 'input_audio_buffer.speech_stopped':
      return stopped(state, event, report);
    case 'input_audio_buffer.committed':
      return committed(state, event, report);
    case 'input_audio_buffer.cleared':
      if (state.turn?.stopped) report('turn-order', `${state.turn.itemId} stopped and was then cleared`);
      return { ...state, turn: undefined };
    default:
      return state;
  }
}

function started(state: State, event: ServerFrame, report: Report): State {
  const itemId = textAt(event.fields, 'item_id') ?? '';
  const startMs = timeOf(event, 'audio_start_ms', report);
  if (!detectsTurns(state)) report('turn-detected', 'speech_started, but turn_detection is null');
  if (state.turn !== undefined) {
    report('turn-order', `${itemId} starts while the turn of ${state.turn.itemId} is open`);
  }
  if (startMs < state.lastStartMs) {
    report('turn-times', `starts at ${startMs} ms, before the turn that started at ${state.lastStartMs} ms`);
  }
  return { ...state, turn: { itemId, stopped: false, startMs }, lastStartMs: startMs };
}

function stopped(state: State, event: ServerFrame, report: Report): State {
  const itemId = textAt(event.fields, 'item_id') ?? '';
  const endMs = timeOf(event, 'audio_end_ms', report);
  const { turn } = state;
  if (turn === undefined || turn.stopped) {
    report('turn-order', 'speech_stopped without speech_started');
  } else {
    if (turn.itemId !== itemId) report('turn-item', `${turn.itemId} started, ${shown(itemId)} stopped`);
    if (endMs < turn.startMs)
      report('turn-times', `ends at ${endMs} ms, before its start at ${turn.startMs} ms`);
  }
  if (endMs < state.lastEndMs) {
    report('turn-times', `ends at ${endMs} ms, before the end at ${state.lastEndMs} ms of the turn before`);
  }
  return {
    ...state,
    turn: { itemId: turn?.itemId ?? itemId, stopped: true, startMs: turn?.startMs ?? endMs },
    lastEndMs: Math.max(state.lastEndMs, endMs),
  };
}

function committed(state: State, event: ServerFrame, report: Report): State {
  const { turn } = state;
  if (turn === undefined) return state;
  const itemId = event.fields.item_id;
  if (!turn.stopped) report('turn-order', `committed, but the turn of ${turn.itemId} has not stopped`);
  if (turn.itemId !== itemId) report('turn-item', `${turn.itemId} stopped, ${shown(itemId)} is committed`);
  return { ...state, turn: undefined };
}

function timeOf(event: ServerFrame, name: string, report: Report): number {
  const time = event.fields[name];
  if (typeof time === 'number' && Number.isInteger(time) && time >= 0) return time;
  report('field-shape', `${name} must be a whole number of milliseconds, not ${shown(time)}`);
  return 0;
}
