/** Output items of responses: their order, places, texts and function calls. */

import { at, type Fields, fieldsOf, same, shown, textAt } from '../rules/trace.ts';
import { announceOutput, mayBeRemoved, newItem, withWords } from './items.ts';
import type { Report } from './rules.ts';
import {
  type ConversationState,
  knownItem,
  type OpenResponse,
  type Output,
  partKind,
  partText,
  type Rules,
} from './state.ts';

/** Checks an event of an output. Returns its next state. */
type OutputRules = (output: Output, fields: Fields, response: OpenResponse, report: Report) => Output;

export const outputRules: Rules = (state, { type, fields }, report) => {
  if (type === 'conversation.item.done') return concluded(state, fields, report);
  if (!type.startsWith('response.') || type === 'response.created' || type === 'response.done') return state;
  const response = state.responses.find(({ id }) => id === fields.response_id);
  if (response === undefined) {
    report('response-known', `${type} of ${shown(fields.response_id)}, which has not started or has ended`);
    return state;
  }
  if (response.isInterrupted && !type.endsWith('.done')) {
    report('response-cut', `${type} of ${response.id}, which speech has ended`);
  }
  if (type === 'response.output_item.added') return added(state, response, fields, report);
  const output = response.outputs[Number(fields.output_index)];
  const itemId = at(fields, 'item.id') ?? fields.item_id;
  if (output === undefined || output.itemId !== itemId) {
    report('output-index', `${type} of ${shown(itemId)} at output_index ${shown(fields.output_index)}`);
    return state;
  }
  if (fields.content_index !== undefined && fields.content_index !== 0) {
    report('output-index', 'content_index must be 0');
  }
  if (type === 'response.output_item.done') return itemDone(state, response, output, fields, report);
  const rules = Object.hasOwn(RULES, type) ? RULES[type] : undefined;
  return rules === undefined ? state : withOutput(state, response, rules(output, fields, response, report));
};

function withOutput(state: ConversationState, response: OpenResponse, output: Output): ConversationState {
  const outputs = response.outputs.map((each) => (each.itemId === output.itemId ? output : each));
  const responses = state.responses.map((each) => (each === response ? { ...response, outputs } : each));
  return { ...state, responses };
}

function added(
  state: ConversationState,
  response: OpenResponse,
  fields: Fields,
  report: Report,
): ConversationState {
  const item = fieldsOf(fields.item);
  const itemId = textAt(item, 'id') ?? '';
  const isCall = item.type === 'function_call';
  if (fields.output_index !== response.outputs.length) {
    report(
      'output-index',
      `output_index must be ${response.outputs.length}, not ${shown(fields.output_index)}`,
    );
  }
  const isEmpty = isCall ? item.arguments === '' : same(item.content, []);
  const hasKind = isCall ? typeof item.call_id === 'string' : item.role === 'assistant';
  if (item.status !== 'in_progress' || !isEmpty || !hasKind) {
    report('item-shape', `the item ${itemId} must be in progress and empty: ${shown(item)}`);
  }
  const output: Output = {
    itemId,
    kind: isCall ? 'function_call' : 'message',
    stage: isCall ? 'open' : 'added',
    previousItemId: state.items.at(-1)?.id ?? null,
    text: '',
    doneText: undefined,
    isAudioDone: false,
    isTruncated: false,
    item: undefined,
    call: isCall ? { callId: item.call_id, name: item.name } : undefined,
  };
  const next = newItem(state, itemId, report);
  const responses = next.responses.map((each) =>
    each === response ? { ...each, outputs: [...each.outputs, output] } : each,
  );
  const extended = { ...next, responses };
  return response.isOutOfBand ? extended : announceOutput(extended, item);
}

/** The text or transcript delta. */
const textDelta =
  (modality: OpenResponse['modality']): OutputRules =>
  (output, { delta }, response, report) => {
    inModality(modality, response, report);
    if (output.stage !== 'open' || output.kind !== 'message' || output.doneText !== undefined) {
      report('output-order', `a delta of ${output.itemId}, whose text has not started or is complete`);
    }
    return { ...output, text: output.text + String(delta) };
  };

const textDone =
  (modality: OpenResponse['modality'], field: 'text' | 'transcript'): OutputRules =>
  (output, fields, response, report) => {
    inModality(modality, response, report);
    const text = String(fields[field]);
    if (output.stage !== 'open' || output.doneText !== undefined) {
      report('output-order', `the text of ${output.itemId} has not started or is complete`);
    }
    // Words of speech that were not played are removed at its end.
    const isValid = modality === 'audio' ? output.text.startsWith(text) : output.text === text;
    if (!isValid) report('output-text', `the text of ${output.itemId} differs from its deltas`);
    return { ...output, doneText: text };
  };

const RULES: Readonly<Record<string, OutputRules>> = {
  'response.content_part.added': (output, { part }, response, report) => {
    if (output.stage !== 'added' || output.kind !== 'message') {
      report('output-order', `a second part of ${output.itemId}`);
    }
    if (at(part, 'type') !== response.modality || partText(part) !== '') {
      report('output-modality', `the part must be an empty ${response.modality}, not ${shown(part)}`);
    }
    return { ...output, stage: 'open' };
  },
  'response.output_text.delta': textDelta('text'),
  'response.output_audio_transcript.delta': textDelta('audio'),
  'response.output_text.done': textDone('text', 'text'),
  'response.output_audio_transcript.done': textDone('audio', 'transcript'),
  'response.output_audio.delta': (output, { delta }, response, report) => {
    inModality('audio', response, report);
    if (output.stage !== 'open' || output.isAudioDone) {
      report('output-order', `audio of ${output.itemId}, which has not started or is complete`);
    }
    if (typeof delta !== 'string' || delta === '') report('output-text', 'audio without bytes');
    return output;
  },
  'response.output_audio.done': (output, _, response, report) => {
    inModality('audio', response, report);
    if (output.stage !== 'open' || output.isAudioDone) {
      report('output-order', `the audio of ${output.itemId} has not started or is complete`);
    }
    return { ...output, isAudioDone: true };
  },
  'response.content_part.done': (output, { part }, response, report) => {
    const isComplete = output.doneText !== undefined && (output.isAudioDone || response.modality === 'text');
    if (output.stage !== 'open' || output.kind !== 'message' || !isComplete) {
      report('output-order', `the part of ${output.itemId} ends before its text and audio, or twice`);
    }
    if (at(part, 'type') !== response.modality) {
      report('output-modality', `the part must be ${response.modality}, not ${shown(part)}`);
    }
    if (partText(part) !== output.doneText) {
      report('output-text', `the part of ${output.itemId} has another text`);
    }
    return { ...output, stage: 'closed' };
  },
  'response.function_call_arguments.delta': (output, fields, _, report) => {
    callFields(output, fields, report);
    if (output.stage !== 'open') report('output-order', `the arguments of ${output.itemId} are complete`);
    return { ...output, text: output.text + String(fields.delta) };
  },
  'response.function_call_arguments.done': (output, fields, _, report) => {
    callFields(output, fields, report);
    const args = String(fields.arguments);
    if (output.stage !== 'open') report('output-order', `the arguments of ${output.itemId} are complete`);
    if (fields.name !== output.call?.name) report('call-arguments', 'the call has another name');
    if (args !== output.text || !isJson(args)) {
      report('call-arguments', `the arguments of ${output.itemId} differ from their deltas, or are not JSON`);
    }
    return { ...output, stage: 'closed', doneText: args };
  },
};

function inModality(modality: OpenResponse['modality'], response: OpenResponse, report: Report): void {
  if (response.modality === modality) return;
  report('output-modality', `${response.id} has the modality ${response.modality}, not ${modality}`);
}

function callFields(output: Output, { call_id }: Fields, report: Report): void {
  if (output.kind !== 'function_call') report('output-order', `${output.itemId} is not a call`);
  else if (call_id !== output.call?.callId) {
    report('call-arguments', `the call is ${shown(output.call?.callId)}, not ${shown(call_id)}`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `conversation.item.done` of an output item. The beta protocol has no such event. */
function concluded(
  state: ConversationState,
  { item, previous_item_id }: Fields,
  report: Report,
): ConversationState {
  const id = textAt(item, 'id');
  for (const response of state.responses) {
    const output = response.outputs.find(({ itemId }) => itemId === id);
    if (output === undefined) continue;
    if (output.stage !== 'closed')
      report('output-order', `${output.itemId} is done before its content, or twice`);
    if (previous_item_id !== output.previousItemId) {
      report('item-chain', `previous_item_id of ${output.itemId} was ${shown(output.previousItemId)}`);
    }
    finishedItem(output, fieldsOf(item), response, report);
    return withOutput(state, response, { ...output, stage: 'concluded', item: fieldsOf(item) });
  }
  return state;
}

function itemDone(
  state: ConversationState,
  response: OpenResponse,
  output: Output,
  fields: Fields,
  report: Report,
): ConversationState {
  const item = fieldsOf(fields.item);
  // A deleted item is not concluded.
  const isConcluded =
    response.isOutOfBand ||
    state.names === 'beta' ||
    mayBeRemoved(state) ||
    knownItem(state, output.itemId) === undefined;
  const expected = isConcluded && output.stage !== 'concluded' ? 'closed' : 'concluded';
  if (output.stage !== expected) {
    report('output-order', `${output.itemId} is done, but it is ${output.stage}`);
  }
  finishedItem(output, item, response, report);
  if (output.item !== undefined && !same(output.item, item)) {
    report('output-text', `${output.itemId} differs from its conversation.item.done`);
  }
  const spoken = withWords(state, output.itemId, output.text);
  const done = withOutput(spoken, response, { ...output, stage: 'done', item });
  if (state.names === 'ga') return done;
  const items = done.items.map((each) => (each.id === output.itemId ? { ...each, item } : each));
  return { ...done, items };
}

function finishedItem(output: Output, item: Fields, response: OpenResponse, report: Report): void {
  if (output.kind === 'function_call') {
    const { callId, name } = output.call ?? {};
    if (item.status !== 'completed' || item.call_id !== callId || item.name !== name) {
      report('item-shape', `the call ${output.itemId} is ${shown(item)}`);
    }
    if (item.arguments !== output.doneText) report('call-arguments', `${output.itemId} has other arguments`);
    return;
  }
  const parts = Array.isArray(item.content) ? item.content : [];
  if (item.role !== 'assistant' || parts.length !== 1 || partKind(parts[0]) !== response.modality) {
    report('item-shape', `${output.itemId} must have one part of ${response.modality}: ${shown(item)}`);
  }
  if (partText(parts[0]) !== output.doneText)
    report('output-text', `${output.itemId} has another text than its part`);
  if (item.status !== 'completed' && item.status !== 'incomplete') {
    report('item-shape', `${output.itemId} is done, but ${shown(item.status)}`);
  }
  const isWhole = item.status === 'completed' && !output.isTruncated;
  if (isWhole && output.doneText !== output.text) {
    report('output-text', `${output.itemId} is completed without all of its deltas`);
  }
}
