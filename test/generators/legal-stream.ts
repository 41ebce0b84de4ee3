import type { ResponseEvent } from '../../plugins/responses/responses/stream/state.ts';

/** State of an item, as received by a client. */
interface SeenItem {
  readonly id: string;
  readonly type: string;
  parts: number;
  open: boolean;
  /** Type of the open part. */
  part: string | undefined;
  /** Concatenated deltas of the part or item, and whether its complete text was received. */
  delta: string;
  isTextDone: boolean;
}

/** State of a response, as received by a client. */
interface Seen {
  readonly items: SeenItem[];
  ended: boolean;
}

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly status: string;
}

/** Fields of events; any of them may be missing. */
interface WireEvent {
  readonly type: string;
  readonly response?: {
    readonly id: string;
    readonly status: string;
    readonly output: readonly Shown[];
    readonly output_text?: string;
  };
  readonly output_index?: number;
  readonly content_index?: number;
  readonly item_id?: string;
  readonly item?: Shown;
  readonly part?: { readonly type: string };
  readonly delta?: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly arguments?: string;
  readonly code?: string;
}

/** Item type by event name. */
const ITEM_TYPES: Readonly<Record<string, string>> = {
  output_text: 'message',
  refusal: 'message',
  reasoning_text: 'reasoning',
  function_call_arguments: 'function_call',
  web_search_call: 'web_search_call',
  code_interpreter_call: 'code_interpreter_call',
  code_interpreter_call_code: 'code_interpreter_call',
};
const TEXT_OF: Readonly<Record<string, 'text' | 'refusal' | 'arguments' | 'code'>> = {
  output_text: 'text',
  refusal: 'refusal',
  reasoning_text: 'text',
  function_call_arguments: 'arguments',
  code_interpreter_call_code: 'code',
};

/**
 * Checks the events of a stream. Implemented by the rules of openai-wire 6.10, independently of the product code.
 * @throws Error with the violated rule and the index of the event.
 */
export function legalStream(events: readonly ResponseEvent[]): void {
  const seen: Seen = { items: [], ended: false };
  const [first, second] = events;
  require(first?.type === 'response.created', 'the first event is response.created', 0);
  require(second?.type === 'response.in_progress', 'the second is response.in_progress', 1);
  const { response } = first as WireEvent;
  for (const [at, event] of events.entries()) {
    require(!seen.ended, 'nothing follows the end', at);
    require(event.sequence_number === at, 'numbers have no gaps', at);
    const wire: WireEvent = event;
    if (wire.response === undefined) checkItem(wire, seen, at);
    else checkWhole(wire.type, wire.response, response?.id, seen, at);
  }
  require(seen.ended, 'there is an end', events.length);
}

function checkWhole(
  type: string,
  response: NonNullable<WireEvent['response']>,
  id: string | undefined,
  seen: Seen,
  at: number,
): void {
  require(response.id === id, 'the response is the same one', at);
  if (at < 2) {
    require(response.status === 'in_progress' && response.output.length === 0, 'it begins empty', at);
    require(!('output_text' in response), 'no text is sent before the end', at);
    return;
  }
  require(type === `response.${response.status}`, 'the end has the status', at);
  require(seen.items.every((item) => !item.open), 'every item is finished before the end', at);
  const shown = response.output.map((item) => item.id);
  require(shown.join() === seen.items.map((item) => item.id).join(), 'the end shows every item', at);
  seen.ended = true;
}

function checkItem(event: WireEvent, seen: Seen, at: number): void {
  const name = event.type.replace('response.', '');
  if (name === 'output_item.added') {
    const shown = itemOf(event, at);
    require(event.output_index === seen.items.length, 'items are numbered in order', at);
    require(seen.items.every((item) => !item.open), 'an item is finished before the next', at);
    require(shown.status === 'in_progress', 'an item begins in progress', at);
    require(seen.items.every((item) => item.id !== shown.id), 'ids of items differ', at);
    const { id, type } = shown;
    seen.items.push({ id, type, parts: 0, open: true, part: undefined, delta: '', isTextDone: false });
    return;
  }
  const item = seen.items[event.output_index ?? -1];
  if (item === undefined || !item.open) throw new Error(`event ${at}: its item is open`);
  if (name === 'output_item.done') {
    const shown = itemOf(event, at);
    require(shown.id === item.id && shown.type === item.type, 'an item stays the same', at);
    require(shown.status !== 'in_progress', 'a finished item has a last status', at);
    require(item.part === undefined, 'parts are finished before their item', at);
    require(item.isTextDone ||
      item.type !== 'function_call', 'complete arguments are sent before their call', at);
    item.open = false;
    return;
  }
  require(event.item_id === item.id, 'item_id and output_index name the same item', at);
  checkInside(name, event, item, at);
}

function checkInside(name: string, event: WireEvent, item: SeenItem, at: number): void {
  if (name === 'content_part.added') {
    require(item.part === undefined && event.content_index === item.parts, 'parts come in order', at);
    const expected = event.part?.type === 'reasoning_text' ? 'reasoning' : 'message';
    require(item.type === expected, 'parts fit their item', at);
    item.part = event.part?.type;
    item.delta = '';
    item.isTextDone = false;
    return;
  }
  if (name === 'content_part.done') {
    require(event.part?.type === item.part &&
      event.content_index === item.parts, 'the open part is finished', at);
    require(item.isTextDone, 'a complete text is sent before its part', at);
    item.part = undefined;
    item.parts += 1;
    return;
  }
  const [kind = '', step] = name.split('.');
  require(ITEM_TYPES[kind] === item.type, 'events fit their item', at);
  if ('content_index' in event) {
    require(item.part === kind && event.content_index === item.parts, 'text belongs to the open part', at);
  }
  const text = TEXT_OF[kind];
  require(text === undefined || !item.isTextDone, 'nothing follows the whole text', at);
  if (step === 'delta') item.delta += event.delta ?? '';
  if (step !== 'done') return;
  require(text !== undefined && event[text] === item.delta, 'the deltas form the whole text', at);
  item.isTextDone = true;
}

function itemOf({ item }: WireEvent, at: number): Shown {
  if (item === undefined) throw new Error(`event ${at}: the event has an item`);
  return item;
}

function require(holds: boolean, rule: string, at: number): void {
  if (!holds) throw new Error(`event ${at}: ${rule}`);
}
