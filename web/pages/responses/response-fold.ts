/** Reduces the events of a stream to the response so far. Pure. */

import type {
  Citation,
  ContentPart,
  ItemStatus,
  OutputItem,
  ResponseBody,
  ResponseUsage,
  StreamEvent,
} from './response-wire.ts';

/** The part of a response that was received so far. */
export interface ResponseView {
  /** Undefined until the first event. */
  readonly id: string | undefined;
  readonly status: 'waiting' | ResponseBody['status'];
  readonly stored: boolean;
  readonly output: readonly OutputItem[];
  readonly usage: ResponseUsage | undefined;
  /** Why it failed or is incomplete, as reported by the service. */
  readonly problem: string | undefined;
}

/** State before the first event. */
export const EMPTY_RESPONSE: ResponseView = {
  id: undefined,
  status: 'waiting',
  stored: false,
  output: [],
  usage: undefined,
  problem: undefined,
};

/** View of a complete response. */
export function viewOf(response: ResponseBody): ResponseView {
  const { id, status, store, output, usage, error, incomplete_details: details } = response;
  const problem = error?.message ?? (details === null ? undefined : `Incomplete: ${details.reason}.`);
  return { id, status, stored: store, output, usage: usage ?? undefined, problem };
}

/** Position fields of an event, and its content. */
interface EventFields {
  readonly response: ResponseBody;
  readonly item: OutputItem;
  readonly output_index: number;
  readonly content_index: number;
  readonly part: ContentPart;
  readonly annotation: Citation;
  readonly delta: string;
  readonly text: string;
  readonly refusal: string;
  readonly arguments: string;
  readonly code: string;
  readonly message: string;
}

/** Applies an event. Unknown and irrelevant events leave the view unchanged. */
export function applyEvent(view: ResponseView, event: StreamEvent): ResponseView {
  const fields = event as unknown as EventFields;
  const item = (change: (item: OutputItem) => OutputItem) => withItem(view, fields.output_index, change);
  const part = (change: (part: ContentPart) => ContentPart) =>
    item((each) => withPart(each, fields.content_index, change));
  switch (event.type) {
    case 'response.created':
    case 'response.in_progress':
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return viewOf(fields.response);
    case 'response.output_item.added':
    case 'response.output_item.done':
      return { ...view, output: view.output.toSpliced(fields.output_index, 1, fields.item) };
    case 'response.content_part.added':
    case 'response.content_part.done':
      return item((each) =>
        'content' in each
          ? { ...each, content: each.content.toSpliced(fields.content_index, 1, fields.part) }
          : each,
      );
    case 'response.output_text.delta':
    case 'response.refusal.delta':
    case 'response.reasoning_text.delta':
      return part((each) => withText(each, textOf(each) + fields.delta));
    case 'response.output_text.done':
    case 'response.reasoning_text.done':
      return part((each) => withText(each, fields.text));
    case 'response.refusal.done':
      return part((each) => withText(each, fields.refusal));
    case 'response.output_text.annotation.added':
      return part((each) =>
        each.type === 'output_text'
          ? { ...each, annotations: [...each.annotations, fields.annotation] }
          : each,
      );
    case 'response.function_call_arguments.delta':
      return item((each) => withArguments(each, (written) => written + fields.delta));
    case 'response.function_call_arguments.done':
      return item((each) => withArguments(each, () => fields.arguments));
    case 'response.code_interpreter_call_code.delta':
      return item((each) => withCode(each, (written) => written + fields.delta));
    case 'response.code_interpreter_call_code.done':
      return item((each) => withCode(each, () => fields.code));
    case 'error':
      return { ...view, status: 'failed', problem: fields.message };
    default: {
      const status = toolStatus(event.type);
      return status === undefined ? view : item((each) => ({ ...each, status }) as OutputItem);
    }
  }
}

/** Whether this is the last event of a stream. */
export function endsResponse({ type }: StreamEvent): boolean {
  return /^response\.(completed|incomplete|failed)$/.test(type);
}

/** Text of a content part. */
export function textOf(part: ContentPart): string {
  return part.type === 'refusal' ? part.refusal : part.text;
}

/** Status of a built-in tool from an event type such as `response.web_search_call.searching`. */
function toolStatus(type: string): ItemStatus | undefined {
  const [, status] =
    /^response\.(?:web_search|code_interpreter)_call\.(in_progress|searching|interpreting|completed)$/.exec(
      type,
    ) ?? [];
  return status as ItemStatus | undefined;
}

function withItem(view: ResponseView, index: number, change: (item: OutputItem) => OutputItem): ResponseView {
  const item = view.output[index];
  return item === undefined ? view : { ...view, output: view.output.with(index, change(item)) };
}

function withPart(item: OutputItem, index: number, change: (part: ContentPart) => ContentPart): OutputItem {
  if (!('content' in item)) return item;
  const part = item.content[index];
  return part === undefined ? item : { ...item, content: item.content.with(index, change(part)) };
}

function withText(part: ContentPart, text: string): ContentPart {
  return part.type === 'refusal' ? { ...part, refusal: text } : { ...part, text };
}

function withArguments(item: OutputItem, change: (written: string) => string): OutputItem {
  return item.type === 'function_call' ? { ...item, arguments: change(item.arguments) } : item;
}

function withCode(item: OutputItem, change: (written: string) => string): OutputItem {
  return item.type === 'code_interpreter_call' ? { ...item, code: change(item.code ?? '') } : item;
}
