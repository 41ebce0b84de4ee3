import { expect, test } from 'vitest';
import { ServiceError } from '../../client/service-error.ts';
import type { ResponseBody } from './response-wire.ts';
import { MAX_LOADED_TURNS, type StoredResponse, storedChain } from './stored-chain.ts';

/** Responses `1`, `2` …, each of which continues the previous one; those below `first` are deleted. */
const stored =
  (first: number, status = 404) =>
  async (id: string): Promise<StoredResponse> => {
    const number = Number(id);
    if (number < first) throw new ServiceError('gone', { status });
    const previous = number === 1 ? null : String(number - 1);
    return { input: [], response: { id, previous_response_id: previous } as ResponseBody };
  };

const ids = async (chain: ReturnType<typeof storedChain>) => (await chain).map(({ response }) => response.id);

test('a chain is returned oldest first', async () => {
  expect(await ids(storedChain(stored(1), '3'))).toEqual(['1', '2', '3']);
  expect(await ids(storedChain(stored(1), '1'))).toEqual(['1']);
});

test('the chain stops at a deleted response and at its maximum length', async () => {
  expect(await ids(storedChain(stored(3), '4'))).toEqual(['3', '4']);
  const long = await ids(storedChain(stored(1), '100'));
  expect(long).toHaveLength(MAX_LOADED_TURNS);
  expect(long.at(-1)).toBe('100');
});

test('a missing requested response, or a failed request for an older one, throws', async () => {
  await expect(storedChain(stored(5), '4')).rejects.toMatchObject({ status: 404 });
  await expect(storedChain(stored(3, 503), '4')).rejects.toMatchObject({ status: 503 });
});
