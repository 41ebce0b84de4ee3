/** The end of a response: its settings, status, details, usage and items are consistent. */

import { type Fields, fieldsOf, isCount, isFields, same, shown } from '../rules/trace.ts';
import type { Report } from './rules.ts';
import type { OpenResponse } from './state.ts';

const REASONS: Readonly<Record<string, readonly unknown[]>> = {
  cancelled: ['turn_detected', 'client_cancelled'],
  incomplete: ['max_output_tokens', 'content_filter'],
};
/** Fields that change until the end. */
const PROGRESS = ['status', 'status_details', 'output', 'usage', 'timing'];

export function responseEnd(open: OpenResponse, response: Fields, report: Report): void {
  if (!same(settingsOf(open.fields), settingsOf(response))) {
    report('response-same', `${open.id} started as ${shown(settingsOf(open.fields))}`);
  }
  for (const { stage, itemId } of open.outputs) {
    if (stage !== 'done') report('output-order', `${itemId} has no response.output_item.done`);
  }
  const items = open.outputs.map(({ item }) => item);
  if (!same(response.output, items)) report('response-output', `the output of ${open.id} is not its items`);
  statusOf(open, response, report);
  usageOf(open, response, report);
}

function settingsOf(response: Fields): Fields {
  return Object.fromEntries(Object.entries(response).filter(([name]) => !PROGRESS.includes(name)));
}

function statusOf(open: OpenResponse, { status, status_details }: Fields, report: Report): void {
  const { type, reason, error } = fieldsOf(status_details);
  const reasons = typeof status === 'string' ? REASONS[status] : undefined;
  const isValid =
    status === 'completed'
      ? status_details === null
      : type === status && (reasons?.includes(reason) ?? (status === 'failed' && isFields(error)));
  if (!isValid) {
    report('response-status', `${open.id} is ${shown(status)}, but its details are ${shown(status_details)}`);
  }
  const expected = status === 'completed' ? 'completed' : 'incomplete';
  for (const { kind, item, itemId } of open.outputs) {
    if (kind === 'message' && item?.status !== expected) {
      report('response-status', `${open.id} is ${shown(status)}, but ${itemId} is ${shown(item?.status)}`);
    }
  }
}

/** A response that is cut off has no usage. */
function usageOf(open: OpenResponse, { status, usage }: Fields, report: Report): void {
  const isGenerated = status === 'completed' || status === 'incomplete';
  const { total_tokens, input_tokens, output_tokens } = fieldsOf(usage);
  const addsUp =
    isCount(input_tokens) && isCount(output_tokens) && total_tokens === input_tokens + output_tokens;
  if (isGenerated ? !addsUp : usage !== null) {
    report('response-usage', `${open.id} is ${shown(status)}, but its usage is ${shown(usage)}`);
  }
}
