import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { repetitions } from '../../../test/harness/tier.ts';
import { MAX_ITEM_BYTES, WINDOW_ITEMS } from '../limits.ts';
import type { ClientItem } from '../protocol/client-events.ts';
import { itemSchema } from '../protocol/event-schemas.ts';
import type { WireAssistantItem } from '../protocol/server-events.ts';
import {
  addAssistantItem,
  addAudioItem,
  type Conversation,
  type CreateItemParams,
  createItem,
  EMPTY_CONVERSATION,
  findItem,
  latestUserText,
  withItem,
  withTranscript,
} from './conversation.ts';

const ITEM = itemSchema({ audio: 'audio', text: 'text' });

function text(said: string, id?: string): ClientItem {
  return { ...(id === undefined ? {} : { id }), role: 'user', content: [{ type: 'input_text', text: said }] };
}

function ask(item: ClientItem, more: Partial<CreateItemParams> = {}): CreateItemParams {
  return { item, freshId: 'item_fresh', maxTextCharacters: 20, ...more };
}

/** Adds an item, which must be accepted. */
function created(conversation: Conversation, item: ClientItem, more: Partial<CreateItemParams> = {}) {
  const result = createItem(conversation, ask(item, more));
  if ('error' in result) throw new Error(`refused: ${result.error.message}`);
  expect([...Value.Errors(ITEM, result.item)]).toEqual([]);
  return result;
}

/** A conversation of text items with these ids. */
function of(...ids: string[]): Conversation {
  return ids.reduce(
    (conversation, id) => created(conversation, text(id, id)).conversation,
    EMPTY_CONVERSATION,
  );
}

function ids({ items }: Conversation): string[] {
  return items.map(({ id }) => id);
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `i${index}`);
}

const assistant: WireAssistantItem = {
  id: 'item_a',
  object: 'realtime.item',
  type: 'message',
  status: 'in_progress',
  role: 'assistant',
  content: [],
};

describe('an item of the client', () => {
  const common = { id: 'item_fresh', object: 'realtime.item', status: 'completed' };

  it.each([
    [
      'a message without a type',
      { role: 'user', content: [{ type: 'input_text', text: 'Hi.', extra: 1 }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
    ],
    [
      'audio without its bytes',
      {
        type: 'message',
        role: 'user',
        status: 'in_progress',
        content: [{ type: 'input_audio', audio: 'AAAA' }],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_audio', transcript: null }] },
    ],
    [
      'audio with its transcript',
      { role: 'user', content: [{ type: 'input_audio', audio: null, transcript: 'Hi.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_audio', transcript: 'Hi.' }] },
    ],
    [
      'an image without nulls',
      { role: 'user', content: [{ type: 'input_image', image_url: 'data:,', detail: null }] },
      { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }] },
    ],
    [
      'a system message',
      { role: 'system', status: null, object: null, content: [{ type: 'input_text', text: 'Be brief.' }] },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] },
    ],
    [
      "an assistant's message, with the names of the specification",
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'output_audio', audio: 'AAAA', transcript: 'c' },
          { type: 'audio', transcript: null },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'audio', transcript: 'c' },
          { type: 'audio', transcript: '' },
        ],
      },
    ],
    [
      'a function call without a call id',
      { type: 'function_call', name: 'f', arguments: '{}', call_id: null },
      { type: 'function_call', name: 'f', arguments: '{}' },
    ],
    [
      'a function call',
      { type: 'function_call', name: 'f', arguments: '{}', call_id: 'call_1' },
      { type: 'function_call', name: 'f', arguments: '{}', call_id: 'call_1' },
    ],
    [
      'a function call output',
      { type: 'function_call_output', call_id: 'call_1', output: '5' },
      { type: 'function_call_output', call_id: 'call_1', output: '5' },
    ],
  ] as [string, ClientItem, object][])('is normalized: %s', (_, item, expected) => {
    const { item: echoed, conversation, previousItemId } = created(EMPTY_CONVERSATION, item);
    expect(echoed).toEqual({ ...common, ...expected });
    expect(conversation.items).toEqual([echoed]);
    expect(previousItemId).toBeNull();
  });

  it('keeps its id', () => {
    expect(created(EMPTY_CONVERSATION, text('Hi.', 'mine')).item.id).toBe('mine');
  });

  it.each([
    ['at the end', {}, 'b', ['a', 'b', 'x']],
    ['at the end, with null', { previousItemId: null }, 'b', ['a', 'b', 'x']],
    ['after an item', { previousItemId: 'a' }, 'a', ['a', 'x', 'b']],
    ['at the front', { previousItemId: 'root' }, null, ['x', 'a', 'b']],
  ])('is inserted %s', (_, more, previousItemId, order) => {
    const placed = created(of('a', 'b'), text('Hi.', 'x'), more);
    expect([placed.previousItemId, ids(placed.conversation)]).toEqual([previousItemId, order]);
  });

  const long = 'x'.repeat(MAX_ITEM_BYTES);
  it.each([
    ['an id that is in use', text('Hi.', 'a'), {}, 'item.id'],
    ['an id of pending work', text('Hi.', 'turn'), { isReserved: (id: string) => id === 'turn' }, 'item.id'],
    ['an unknown previous item', text('Hi.'), { previousItemId: 'c' }, 'previous_item_id'],
    ['an empty previous item id', text('Hi.'), { previousItemId: '' }, 'previous_item_id'],
    ['itself as the previous item', text('Hi.', 'x'), { previousItemId: 'x' }, 'previous_item_id'],
    ['a text that is too long', text('x'.repeat(21)), {}, 'item.content'],
    ['a text far beyond the limit', text('x'.repeat(41)), {}, 'item.content'],
    [
      'text parts that are too long in total',
      {
        role: 'user',
        content: Array.from({ length: 3 }, () => ({ type: 'input_text', text: 'x'.repeat(7) })),
      },
      {},
      'item.content',
    ],
    [
      'an image that is too large',
      { role: 'user', content: [{ type: 'input_image', image_url: long }] },
      {},
      'item',
    ],
    [
      'a function output that is too large',
      { type: 'function_call_output', call_id: 'c', output: long },
      {},
      'item',
    ],
    [
      'a system message that is too large',
      { role: 'system', content: [{ type: 'input_text', text: long }] },
      {},
      'item',
    ],
  ] as [string, ClientItem, Partial<CreateItemParams>, string][])(
    'is rejected: %s',
    (_, item, more, param) => {
      const result = createItem(of('a', 'b'), ask(item, more));
      expect(result).toEqual({
        error: { code: 'invalid_request_error', param, message: expect.stringMatching(/^.{20,200}$/) },
      });
    },
  );

  it('may have the maximum size', () => {
    created(EMPTY_CONVERSATION, text('😀'.repeat(20)));
    created(EMPTY_CONVERSATION, text('x'.repeat(20)));
    const audio = { type: 'input_audio', audio: 'A'.repeat(10 * MAX_ITEM_BYTES) } as const;
    created(EMPTY_CONVERSATION, { role: 'user', content: [audio] });
    const overhead = JSON.stringify(
      created(EMPTY_CONVERSATION, { type: 'function_call_output', call_id: 'c', output: '' }).item,
    ).length;
    const output = (lengthBytes: number): ClientItem => ({
      type: 'function_call_output',
      call_id: 'c',
      output: 'ß'.repeat((lengthBytes - overhead) / 2) + 'x'.repeat((lengthBytes - overhead) % 2),
    });
    created(EMPTY_CONVERSATION, output(MAX_ITEM_BYTES));
    expect(createItem(EMPTY_CONVERSATION, ask(output(MAX_ITEM_BYTES + 1)))).toHaveProperty('error');
  });

  it('may have a longer text if it is not synthesized', () => {
    created(EMPTY_CONVERSATION, {
      role: 'system',
      content: [{ type: 'input_text', text: 'x'.repeat(9_000) }],
    });
  });
});

describe('items of the server', () => {
  it('include the audio of a turn, whose transcript follows later', () => {
    const { conversation, item, previousItemId } = addAudioItem(of('a'), 'item_1');
    expect([...Value.Errors(ITEM, item)]).toEqual([]);
    expect(item).toEqual({
      id: 'item_1',
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_audio', transcript: null }],
    });
    expect(previousItemId).toBe('a');
    const heard = withTranscript(conversation, 'item_1', 'Turn on the lights.');
    expect(findItem(heard, 'item_1')).toEqual({
      ...item,
      content: [{ type: 'input_audio', transcript: 'Turn on the lights.' }],
    });
    expect(ids(heard)).toEqual(['a', 'item_1']);
    expect(findItem(conversation, 'item_1')).toBe(item);
  });

  it('include the item of a response, which is completed later', () => {
    const { conversation, previousItemId } = addAssistantItem(of('a', 'b'), assistant);
    expect(previousItemId).toBe('b');
    const done = {
      ...assistant,
      status: 'completed',
      content: [{ type: 'audio', transcript: 'Hi.' }],
    } as const;
    expect(findItem(withItem(conversation, done), 'item_a')).toBe(done);
  });

  it('that were removed are ignored', () => {
    const full = of(...numbered(WINDOW_ITEMS));
    expect(withTranscript(full, 'gone', 'Hi.')).toBe(full);
    expect(withItem(full, assistant)).toBe(full);
    expect(withTranscript(addAssistantItem(full, assistant).conversation, 'item_a', 'Hi.')).toEqual(
      addAssistantItem(full, assistant).conversation,
    );
    expect(findItem(full, 'gone')).toBeUndefined();
  });
});

describe('the window', () => {
  it('keeps the last 64 items, and previous_item_id is then never null', () => {
    let conversation = of(...numbered(WINDOW_ITEMS));
    expect(ids(conversation)).toEqual(numbered(64));
    for (const id of ['x', 'y']) {
      const placed = created(conversation, text(id, id));
      expect(placed.previousItemId).not.toBeNull();
      conversation = placed.conversation;
    }
    expect(ids(conversation)).toEqual([...numbered(64).slice(2), 'x', 'y']);
    expect(created(conversation, text('Hi.', 'i0')).item.id).toBe('i0');
    expect(createItem(conversation, ask(text('Hi.'), { previousItemId: 'i1' }))).toHaveProperty('error');
  });

  it('keeps an item that was inserted at its front', () => {
    const { conversation, previousItemId } = created(of(...numbered(64)), text('Hi.', 'x'), {
      previousItemId: 'root',
    });
    expect(ids(conversation)).toEqual(['x', ...numbered(64).slice(1)]);
    expect(previousItemId).toBeNull();
    expect(ids(created(conversation, text('Hi.', 'y')).conversation)).toEqual([
      ...numbered(64).slice(1),
      'y',
    ]);
  });

  it('keeps an item that was inserted after the oldest one', () => {
    const { conversation, previousItemId } = created(of(...numbered(64)), text('Hi.', 'x'), {
      previousItemId: 'i0',
    });
    expect(ids(conversation)).toEqual(['x', ...numbered(64).slice(1)]);
    expect(previousItemId).toBe('i0');
  });
});

describe('the synthesized text', () => {
  it('is the last user text', () => {
    expect(latestUserText(EMPTY_CONVERSATION)).toBeUndefined();
    let conversation = of('first', 'second');
    const others: ClientItem[] = [
      { role: 'system', content: [{ type: 'input_text', text: 'Be brief.' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] },
      { type: 'function_call_output', call_id: 'c', output: '5' },
      { role: 'user', content: [{ type: 'input_audio', transcript: 'heard' }] },
      { role: 'user', content: [{ type: 'input_text', text: ' \n\u3000' }] },
      { role: 'user', content: [] },
    ];
    for (const [index, item] of others.entries()) {
      conversation = created(conversation, item, { freshId: `item_${index}` }).conversation;
    }
    expect(latestUserText(conversation)).toBe('second');
  });

  it('is all text of one item, unchanged', () => {
    const parts = ['Hello ', '', 'there.'].map((each) => ({ type: 'input_text', text: each }) as const);
    const audio = { type: 'input_audio', transcript: 'heard' } as const;
    const { conversation } = created(of('a'), { role: 'user', content: [audio, ...parts] });
    expect(latestUserText(conversation)).toBe('Hello there.');
  });

  it('is well-formed, although the echo is unchanged', () => {
    const { conversation, item } = created(EMPTY_CONVERSATION, text('a\ud800b'));
    expect(latestUserText(conversation)).toBe('a\ufffdb');
    expect(item).toMatchObject({ content: [{ text: 'a\ud800b' }] });
  });

  it('is determined by position, not by time', () => {
    const { conversation } = created(of('a', 'b'), text('Hi.', 'x'), { previousItemId: 'root' });
    expect(latestUserText(conversation)).toBe('b');
  });
});

type Step =
  | {
      readonly kind: 'create';
      readonly id: string;
      readonly previous: string | undefined;
      readonly said: string;
    }
  | { readonly kind: 'audio'; readonly id: `item_${string}` }
  | { readonly kind: 'heard'; readonly id: string; readonly said: string };

const someId = fc.integer({ min: 0, max: 150 }).map((index) => `item_${index}` as const);
const said = fc.constantFrom('Hi.', ' ', '', 'Hello there.');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('create'),
    id: someId,
    previous: fc.oneof(fc.constant(undefined), fc.constant(undefined), fc.constant('root'), someId),
    said,
  }),
  fc.record({ kind: fc.constant('audio'), id: someId }),
  fc.record({ kind: fc.constant('heard'), id: someId, said }),
);

/** A reference implementation that keeps the whole conversation in a list. */
class Model {
  order: string[] = [];
  dropped = new Set<string>();
  texts = new Map<string, string>();

  get window(): string[] {
    return this.order.filter((id) => !this.dropped.has(id));
  }

  add(id: string, after: string | undefined): string | null {
    this.order = this.order.filter((each) => each !== id);
    this.dropped.delete(id);
    const last = this.window.at(-1);
    const place = after ?? last;
    const index = place === undefined || place === 'root' ? 0 : this.order.indexOf(place) + 1;
    this.order.splice(index, 0, id);
    const oldest = this.window.find((each) => each !== id);
    const [first] = this.window;
    if (this.window.length > 64)
      this.dropped.add(after === 'root' && oldest !== undefined ? oldest : String(first));
    return this.order[index - 1] ?? null;
  }
}

test('any conversation matches the reference implementation', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 60, maxLength: 200 }), (steps) => {
      const model = new Model();
      let conversation = EMPTY_CONVERSATION;
      for (const each of steps) {
        const before = conversation;
        const isTaken = model.window.includes(each.id);
        if (each.kind === 'heard') {
          conversation = withTranscript(conversation, each.id, each.said);
        } else if (each.kind === 'audio') {
          // Ids of the server are unique.
          if (isTaken) continue;
          const placed = addAudioItem(conversation, each.id);
          expect(placed.previousItemId).toBe(model.add(each.id, undefined));
          model.texts.set(each.id, '');
          conversation = placed.conversation;
        } else {
          const { id, previous, said: words } = each;
          const result = createItem(before, ask(text(words, id), { previousItemId: previous }));
          const isPlace = previous === undefined || previous === 'root' || model.window.includes(previous);
          expect('error' in result).toBe(isTaken || !isPlace);
          if ('error' in result) continue;
          expect(result.previousItemId).toBe(model.add(id, previous));
          model.texts.set(id, words);
          conversation = result.conversation;
        }
        expect(ids(conversation)).toEqual(model.window);
        const spoken = model.window
          .map((id) => model.texts.get(id) ?? '')
          .findLast((words) => words.trim() !== '');
        expect(latestUserText(conversation)).toBe(spoken);
      }
      expect(conversation.items.length).toBeLessThanOrEqual(WINDOW_ITEMS);
      for (const item of conversation.items) expect(Value.Check(ITEM, item)).toBe(true);
    }),
    { numRuns: repetitions(34, 100) },
  );
});
