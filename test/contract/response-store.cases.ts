import { describe, expect, test } from 'vitest';
import { newId } from '../../src/contract/core/id.ts';
import type { ResponseStore, StoredItem, StoredResponse } from '../../src/contract/stores/response-store.ts';

const NOW = 1_767_323_045;

/** A message item with a text. */
export function storedMessage(id: string, text = id): StoredItem & { text: string } {
  return { id, text };
}

export function storedResponse(overrides: Partial<StoredResponse> = {}): StoredResponse {
  return {
    id: newId('resp_'),
    created_at: NOW,
    status: 'completed',
    previous_response_id: null,
    output: [],
    ...overrides,
  };
}

/** Contract of the response store. `open` returns an empty store. */
export function responseStoreCases(open: () => Promise<ResponseStore>): void {
  /** Stores a chain of responses, each with one input item and one output item. */
  async function conversation(store: ResponseStore, turns: number, organization = 'a') {
    const responses: StoredResponse[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const output = [storedMessage(`out_${turn}`)];
      responses.push(storedResponse({ previous_response_id: responses.at(-1)?.id ?? null, output }));
    }
    const input = (turn: number) => [storedMessage(`in_${turn}`)];
    await Promise.all(responses.map((response, turn) => store.put(organization, response, input(turn))));
    return responses.map(({ id }) => id);
  }
  const rejectionOf = (work: Promise<unknown>) =>
    work.then(
      () => {
        throw new Error('the call was not rejected');
      },
      (error: unknown) => error,
    );

  describe('a response', () => {
    test('is read with all its fields, for any text', async () => {
      const store = await open();
      const text = 'Grüße, 你好 👋 \0 \ud800 "\\" \u2028';
      const response = { ...storedResponse({ output: [storedMessage('msg_1', text)] }), metadata: { text } };
      await store.put('a', response, [storedMessage('msg_0', text)]);
      expect(await store.get('a', response.id)).toEqual(response);
      const page = await store.inputItems('a', response.id, { limit: 5, order: 'asc' });
      expect(page).toEqual({ items: [storedMessage('msg_0', text)], hasMore: false });
    });

    test('can be updated repeatedly until it ends', async () => {
      const store = await open();
      const started = storedResponse({ status: 'in_progress' });
      await store.put('a', started, []);
      for (const output of [[storedMessage('o1')], [storedMessage('o1'), storedMessage('o2')]]) {
        expect(await store.update('a', { ...started, output })).toBe(true);
        expect(await store.get('a', started.id)).toEqual({ ...started, output });
      }
      const ended = { ...started, status: 'completed' as const, output: [storedMessage('o3')] };
      expect(await store.update('a', ended)).toBe(true);
      expect(await store.get('a', started.id)).toEqual(ended);
      expect(await store.chain('a', started.id)).toEqual([storedMessage('o3')]);
    });

    test('ends once; a later update changes nothing', async () => {
      const store = await open();
      const started = storedResponse({ status: 'in_progress' });
      await store.put('a', started, []);
      const ended = { ...started, status: 'completed' as const, output: [storedMessage('o1')] };
      const late = { ...started, status: 'failed' as const };
      const ends = await Promise.all([store.update('a', ended), store.update('a', late)]);
      expect(ends.filter((counts) => counts)).toHaveLength(1);
      const stored = await store.get('a', started.id);
      expect(stored).toEqual(ends[0] ? ended : late);
      expect(await store.update('a', started)).toBe(false);
      expect(await store.get('a', started.id)).toEqual(stored);
    });

    test('does not exist after its deletion, and cannot be updated', async () => {
      const store = await open();
      const response = storedResponse({ status: 'in_progress' });
      await store.put('a', response, [storedMessage('i')]);
      expect(await store.delete('a', response.id)).toBe(true);
      expect(await store.delete('a', response.id)).toBe(false);
      expect(await store.update('a', response)).toBe(false);
      expect(await store.get('a', response.id)).toBeUndefined();
      expect(await store.inputItems('a', response.id, { limit: 1, order: 'asc' })).toBeUndefined();
    });

    test('cannot be stored twice', async () => {
      const store = await open();
      const response = storedResponse();
      await store.put('a', response, []);
      await expect(store.put('a', response, [])).rejects.toThrow();
    });

    test.each(['resp_unknown', '', '\0', "' OR 1=1 --"])('does not find the id %j', async (id) => {
      const store = await open();
      await store.put('a', storedResponse(), [storedMessage('i')]);
      expect(await store.get('a', id)).toBeUndefined();
      expect(await store.delete('a', id)).toBe(false);
      expect(await store.inputItems('a', id, { limit: 1, order: 'desc' })).toBeUndefined();
      expect(await rejectionOf(store.chain('a', id))).toMatchObject({ code: 'previous_response_not_found' });
    });
  });

  test('organizations do not see each other', async () => {
    const store = await open();
    const [id = ''] = await conversation(store, 1, 'b');
    expect(await store.get('a', id)).toBeUndefined();
    expect(await store.update('a', { ...storedResponse(), id: id as StoredResponse['id'] })).toBe(false);
    expect(await store.delete('a', id)).toBe(false);
    expect(await store.inputItems('a', id, { limit: 1, order: 'asc' })).toBeUndefined();
    expect(await rejectionOf(store.chain('a', id))).toMatchObject({
      kind: 'invalid_request',
      code: 'previous_response_not_found',
      message: `Previous response with id '${id}' not found.`,
    });
    expect(await store.chain('b', id)).toHaveLength(2);
    // A reference to a response of another organization has no effect.
    const thief = storedResponse({ previous_response_id: id });
    await store.put('a', thief, []);
    expect(await rejectionOf(store.chain('a', thief.id))).toMatchObject({
      code: 'previous_response_not_found',
    });
  });

  describe('input items', () => {
    const ids = async (
      store: ResponseStore,
      id: string,
      query: Parameters<ResponseStore['inputItems']>[2],
    ) => {
      const page = await store.inputItems('a', id, query);
      return [page?.items.map((item) => item.id), page?.hasMore];
    };

    test('are paged in both orders without gap or overlap', async () => {
      const store = await open();
      const response = storedResponse();
      await store.put(
        'a',
        response,
        ['i1', 'i2', 'i3', 'i4', 'i5'].map((id) => storedMessage(id)),
      );
      expect(await ids(store, response.id, { limit: 5, order: 'asc' })).toEqual([
        ['i1', 'i2', 'i3', 'i4', 'i5'],
        false,
      ]);
      expect(await ids(store, response.id, { limit: 2, order: 'asc' })).toEqual([['i1', 'i2'], true]);
      expect(await ids(store, response.id, { limit: 2, order: 'asc', after: 'i2' })).toEqual([
        ['i3', 'i4'],
        true,
      ]);
      expect(await ids(store, response.id, { limit: 2, order: 'asc', after: 'i4' })).toEqual([['i5'], false]);
      expect(await ids(store, response.id, { limit: 3, order: 'desc' })).toEqual([['i5', 'i4', 'i3'], true]);
      expect(await ids(store, response.id, { limit: 3, order: 'desc', after: 'i3' })).toEqual([
        ['i2', 'i1'],
        false,
      ]);
      expect(await ids(store, response.id, { limit: 3, order: 'desc', after: 'i1' })).toEqual([[], false]);
    });

    test('exclude those of earlier responses of the chain', async () => {
      const store = await open();
      const [, second = ''] = await conversation(store, 2);
      expect(await ids(store, second, { limit: 9, order: 'asc' })).toEqual([['in_1'], false]);
    });

    test.each(['i9', '', '\0'])('reject the cursor %j', async (after) => {
      const store = await open();
      const response = storedResponse();
      await store.put('a', response, [storedMessage('i1')]);
      await store.put('a', storedResponse(), [storedMessage('i9')]);
      const rejected = await rejectionOf(
        store.inputItems('a', response.id, { limit: 1, order: 'asc', after }),
      );
      expect(rejected).toMatchObject({ kind: 'invalid_request', param: 'after' });
    });

    test('with duplicate ids are rejected, and nothing is stored', async () => {
      const store = await open();
      const response = storedResponse();
      const rejected = await rejectionOf(store.put('a', response, [storedMessage('i'), storedMessage('i')]));
      expect(rejected).toMatchObject({ kind: 'invalid_request', param: 'input' });
      expect(await store.get('a', response.id)).toBeUndefined();
    });

    test('can number 20,001', async () => {
      const store = await open();
      const response = storedResponse();
      const many = Array.from({ length: 20_001 }, (_, index) => storedMessage(`i${index}`));
      await store.put('a', response, many);
      expect(await store.chain('a', response.id)).toEqual(many);
    });
  });

  describe('an item', () => {
    test('is found by its id in the input or output of its response', async () => {
      const store = await open();
      const response = storedResponse({ output: [storedMessage('out', 'Hello.')] });
      await store.put('a', response, [storedMessage('in_0'), storedMessage('in_1', 'Grüße \0')]);
      await store.put('a', storedResponse(), [storedMessage('other')]);
      expect(await store.item('a', response.id, 'in_1')).toEqual(storedMessage('in_1', 'Grüße \0'));
      expect(await store.item('a', response.id, 'out')).toEqual(storedMessage('out', 'Hello.'));
      for (const id of ['other', '', '\0', response.id]) {
        expect(await store.item('a', response.id, id)).toBeUndefined();
      }
    });

    test('belongs to one organization only', async () => {
      const store = await open();
      const response = storedResponse({ output: [storedMessage('out')] });
      await store.put('a', response, [storedMessage('in')]);
      for (const id of ['in', 'out']) {
        expect(await store.item('b', response.id, id)).toBeUndefined();
        expect(await store.item('a', 'resp_unknown', id)).toBeUndefined();
      }
    });
  });

  describe('a chain', () => {
    test('of an unknown id is rejected with the first 100 characters of the id', async () => {
      const store = await open();
      const { message } = (await rejectionOf(store.chain('a', 'x'.repeat(5000)))) as Error;
      expect(message).toBe(`Previous response with id '${'x'.repeat(100)}' not found.`);
    });

    test('has input and output of every response, oldest first', async () => {
      const store = await open();
      const turns = await conversation(store, 3);
      const chain = await store.chain('a', turns[2] ?? '');
      expect(chain.map(({ id }) => id)).toEqual(['in_0', 'out_0', 'in_1', 'out_1', 'in_2', 'out_2']);
      expect((await store.chain('a', turns[1] ?? '')).map(({ id }) => id)).toEqual([
        ...['in_0', 'out_0', 'in_1', 'out_1'],
      ]);
    });

    test('can fork', async () => {
      const store = await open();
      const [root = ''] = await conversation(store, 1);
      for (const name of ['left', 'right']) {
        const response = storedResponse({ previous_response_id: root });
        await store.put('a', response, [storedMessage(name)]);
        expect((await store.chain('a', response.id)).map(({ id }) => id)).toEqual(['in_0', 'out_0', name]);
      }
    });

    test('includes the partial output of failed responses', async () => {
      const store = await open();
      const failed = storedResponse({ status: 'failed', output: [storedMessage('half')] });
      await store.put('a', failed, [storedMessage('i')]);
      expect((await store.chain('a', failed.id)).map(({ id }) => id)).toEqual(['i', 'half']);
    });

    test.each([0, 1])(
      'whose response %i was deleted cannot be continued; the others are kept',
      async (lost) => {
        const store = await open();
        const turns = await conversation(store, 3);
        await store.delete('a', turns[lost] ?? '');
        const last = turns[2] ?? '';
        const rejected = await rejectionOf(store.chain('a', last));
        expect(rejected).toMatchObject({
          kind: 'invalid_request',
          param: 'previous_response_id',
          code: 'previous_response_not_found',
          message: `Response '${last}' cannot be continued, because its predecessor '${turns[lost]}' was deleted.`,
        });
        expect(await store.get('a', last)).toMatchObject({ output: [storedMessage('out_2')] });
        expect((await store.inputItems('a', last, { limit: 1, order: 'asc' }))?.items).toEqual([
          storedMessage('in_2'),
        ]);
      },
    );

    test('up to the response before a deleted one can be continued', async () => {
      const store = await open();
      const turns = await conversation(store, 3);
      await store.delete('a', turns[2] ?? '');
      expect(await store.chain('a', turns[1] ?? '')).toHaveLength(4);
    });

    test('is at most 1000 responses long', async () => {
      const store = await open();
      const turns = await conversation(store, 1001);
      expect(await store.chain('a', turns[999] ?? '')).toHaveLength(2000);
      expect(await rejectionOf(store.chain('a', turns[1000] ?? ''))).toMatchObject({
        kind: 'invalid_request',
        param: 'previous_response_id',
        code: 'context_length_exceeded',
      });
    });

    test('is at most 16 million characters long', async () => {
      const store = await open();
      const half = 'x'.repeat(7_999_000);
      const first = storedResponse({ output: [storedMessage('o', half)] });
      await store.put('a', first, []);
      const second = storedResponse({ previous_response_id: first.id });
      await store.put('a', second, [storedMessage('i', half)]);
      expect(await store.chain('a', second.id)).toHaveLength(2);
      const third = storedResponse({ previous_response_id: second.id });
      await store.put('a', third, [storedMessage('i', half.slice(0, 9000))]);
      expect(await rejectionOf(store.chain('a', third.id))).toMatchObject({
        code: 'context_length_exceeded',
      });
    });
  });

  test('lists stale responses of all organizations, oldest first', async () => {
    const store = await open();
    const started = (created_at: number) => storedResponse({ status: 'in_progress', created_at });
    const [old, older, young] = [started(NOW - 10), started(NOW - 20), started(NOW)];
    await store.put('a', old, []);
    await store.put('b', older, []);
    await store.put('a', young, []);
    await store.put('a', storedResponse({ created_at: NOW - 30 }), []);
    const all = [
      { organization: 'b', response: older },
      { organization: 'a', response: old },
    ];
    expect(await store.listStale(NOW, 5)).toEqual(all);
    expect(await store.listStale(NOW, 1)).toEqual(all.slice(0, 1));
    await store.recordHeartbeat([old.id, young.id, 'resp_unknown'], NOW + 1);
    expect(await store.listStale(NOW, 5)).toEqual(all.slice(0, 1));
    expect(await store.listStale(NOW + 2, 5)).toHaveLength(3);
    await store.recordHeartbeat([old.id], NOW - 10);
    await store.recordHeartbeat([], NOW);
    expect(await store.listStale(NOW, 5)).toEqual(all);
    await store.update('b', { ...older, status: 'failed' });
    expect(await store.listStale(NOW, 5)).toEqual(all.slice(1));
  });
}
