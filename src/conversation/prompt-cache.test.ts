import { expect, test } from 'vitest';
import type { Caller } from '../contract/accounts/caller.ts';
import type { PromptStart, TextEngine } from '../contract/engines/text.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { PromptCache } from './prompt-cache.ts';

const INITIAL = { instructions: 'Be brief.', tools: [] };

function opened(prepare: TextEngine['prepare']) {
  const errors: unknown[] = [];
  const engine = { prepare } as TextEngine;
  const cache = new PromptCache(
    {
      text: { ids: ['llm'], get: () => engine },
      caller: { keyId: 'key_1' } as Caller,
      model: { llm: 'llm' },
      onError: (error) => errors.push(error),
    },
    INITIAL,
  );
  return { cache, errors };
}

test('evaluates a changed prompt once', async () => {
  const starts: PromptStart[] = [];
  const { cache, errors } = opened(async (start) => void starts.push(start));
  cache.update(INITIAL);
  const changed = { ...INITIAL, instructions: 'Be kind.' };
  cache.update(changed);
  cache.update({ ...changed });
  await cache.close();
  expect(starts).toEqual([{ ...changed, fairnessKey: 'key_1' }]);
  expect(errors).toEqual([]);
});

test('stops the evaluation of a prompt that is replaced, and at the end', async () => {
  const stopped: string[] = [];
  const { cache, errors } = opened(async ({ instructions }, signal) => {
    await waitForAbort(signal);
    stopped.push(instructions);
    signal.throwIfAborted();
  });
  cache.update({ ...INITIAL, instructions: 'First.' });
  cache.update({ ...INITIAL, instructions: 'Second.' });
  await cache.close();
  expect(stopped).toEqual(['First.', 'Second.']);
  expect(errors).toEqual([]);
});

test('stops the last evaluation at the end, after earlier ones have finished', async () => {
  const running = new Set<string>();
  const { cache } = opened(async ({ instructions }, signal) => {
    running.add(instructions);
    await waitForAbort(signal);
    running.delete(instructions);
  });
  cache.update({ ...INITIAL, instructions: 'First.' });
  cache.update({ ...INITIAL, instructions: 'Second.' });
  await expect.poll(() => [...running]).toEqual(['Second.']);
  await cache.close();
  expect(running.size).toBe(0);
});

test('reports an error', async () => {
  const failure = new Error('no memory');
  const { cache, errors } = opened(() => Promise.reject(failure));
  cache.update({ ...INITIAL, instructions: 'Be kind.' });
  await expect.poll(() => errors).toEqual([failure]);
  await cache.close();
});
