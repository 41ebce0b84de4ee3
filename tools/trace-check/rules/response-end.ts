/** The end of a response: its status, details, usage and item are consistent (openai-wire 8.6, 8.7). */

import type { Report } from './rules.ts';
import type { OpenResponse } from './state.ts';
import { at, type Fields, fieldsOf, isCount, isFields, same, shown } from './trace.ts';

export function responseEnd(open: OpenResponse, response: Fields, report: Report): void {
  const { status, conversation_id, output } = response;
  if (status !== 'completed' && status !== 'cancelled' && status !== 'failed') {
    report('response-status', `a response ends completed, cancelled or failed, not ${shown(status)}`);
    return;
  }
  if (conversation_id !== open.conversationId) {
    report('response-ids', `conversation_id was ${open.conversationId} and is now ${shown(conversation_id)}`);
  }
  if (!Array.isArray(output) || output.length !== 1 || !same(output[0], open.item)) {
    report('response-output', `the output of ${open.id} is not the item of response.output_item.done`);
  }
  if (status === 'completed' && open.transcript === undefined) {
    report('response-order', `${open.id} is completed without its transcript`);
  }
  if (status !== 'completed' && open.transcript !== undefined) {
    report('response-order', `${open.id} is ${status} after its whole transcript`);
  }
  details(open, status, response.status_details, report);
  item(open, status, report);
  usage(open, status, response.usage, report);
}

function details(open: OpenResponse, status: string, value: unknown, report: Report): void {
  const code = at(value, 'error.code');
  const isValid =
    status === 'completed'
      ? value === null
      : status === 'cancelled'
        ? same(value, { type: 'cancelled', reason: 'client_cancelled' })
        : at(value, 'type') === 'failed' && (code === 'upstream_error' || code === 'internal_error');
  if (!isValid) report('response-status', `${open.id} is ${status}, but its details are ${shown(value)}`);
}

function item(open: OpenResponse, status: string, report: Report): void {
  const { status: itemStatus, content, role } = fieldsOf(open.item);
  const expected = status === 'completed' ? 'completed' : 'incomplete';
  if (itemStatus !== expected || role !== 'assistant') {
    report(
      'response-status',
      `${open.id} is ${status}, but its item is ${shown(itemStatus)} of ${shown(role)}`,
    );
  }
  const type = open.dialect === 'ga' ? 'output_audio' : 'audio';
  const parts = Array.isArray(content) ? content : [undefined];
  // A response that ended before any audio may have no part.
  if (parts.length === 0 && status !== 'completed') return;
  if (parts.length !== 1 || at(parts[0], 'type') !== type) {
    report('item-shape', `the item of ${open.id} must hold one part of the type ${type}`);
  }
  if (at(parts[0], 'transcript') !== open.partTranscript) {
    report('response-text', `the item of ${open.id} has another transcript than its part`);
  }
}

function usage(open: OpenResponse, status: string, value: unknown, report: Report): void {
  const { total_tokens, input_tokens, output_tokens } = fieldsOf(value);
  const counted =
    isFields(value) &&
    isCount(input_tokens) &&
    isCount(output_tokens) &&
    total_tokens === input_tokens + output_tokens;
  if (status === 'completed' ? !counted : value !== null) {
    report('response-usage', `${open.id} is ${status}, but its usage is ${shown(value)}`);
  }
}
