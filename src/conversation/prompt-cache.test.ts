import { expect, test } from 'vitest';
import type { Caller } from '../contract/accounts/caller.ts';
import type { PromptStart, TextEngine } from '../contract/engines/text.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { promptMessages } from './items/prompt.ts';
import { PromptCache } from './prompt-cache.ts';

const prompt = (instructions: string) => ({ messages: promptMessages(instructions, []), tools: [] });
const INITIAL = prompt('Be brief.');

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
  cache.evaluate(prompt('Be brief.'));
  cache.evaluate(prompt('Be kind.'));
  cache.evaluate(prompt('Be kind.'));
  await cache.close();
  expect(starts).toEqual([{ ...prompt('Be kind.'), fairnessKey: 'key_1' }]);
  expect(errors).toEqual([]);
});

test('an engine without a cache of prompts evaluates nothing', async () => {
  const { cache, errors } = opened(undefined);
  cache.evaluate(prompt('Be kind.'));
  await cache.close();
  expect(errors).toEqual([]);
});

test('stops the evaluation of a prompt that is replaced, and at the end', async () => {
  const stopped: PromptStart['messages'][] = [];
  const { cache, errors } = opened(async ({ messages }, signal) => {
    await waitForAbort(signal);
    stopped.push(messages);
    signal.throwIfAborted();
  });
  cache.evaluate(prompt('First.'));
  cache.evaluate(prompt('Second.'));
  await cache.close();
  expect(stopped).toEqual([prompt('First.').messages, prompt('Second.').messages]);
  expect(errors).toEqual([]);
});

test('stops the last evaluation at the end, after earlier ones have finished', async () => {
  const running = new Set<string>();
  const { cache } = opened(async ({ messages: [system] }, signal) => {
    const text = system?.role === 'system' ? system.text : '';
    running.add(text);
    await waitForAbort(signal);
    running.delete(text);
  });
  cache.evaluate(prompt('First.'));
  cache.evaluate(prompt('Second.'));
  await expect.poll(() => [...running]).toEqual(['Second.']);
  await cache.close();
  expect(running.size).toBe(0);
});

test('reports an error', async () => {
  const failure = new Error('no memory');
  const { cache, errors } = opened(() => Promise.reject(failure));
  cache.evaluate(prompt('Be kind.'));
  await expect.poll(() => errors).toEqual([failure]);
  await cache.close();
});
