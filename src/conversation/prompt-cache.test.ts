import { expect, test } from 'vitest';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import type { Caller } from '../contract/accounts/caller.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { PromptStart, TextEngine } from '../contract/engines/text.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { promptMessages } from './items/prompt.ts';
import { PromptCache } from './prompt-cache.ts';

const prompt = (instructions: string) => ({ messages: promptMessages(instructions, []), tools: [] });
const INITIAL = prompt('Be brief.');

function opened(prepare: TextEngine['prepare']) {
  const log = new RecordingLogger();
  const engine = { prepare } as TextEngine;
  const cache = new PromptCache(
    {
      text: { ids: ['llm'], get: () => engine },
      caller: { keyId: 'key_1', requestId: 'req_1' } as unknown as Caller,
      model: { llm: 'llm' },
      log,
    },
    INITIAL,
  );
  return { cache, log };
}

test('evaluates a changed prompt once', async () => {
  const starts: PromptStart[] = [];
  const { cache, log } = opened(async (start) => void starts.push(start));
  cache.evaluate(prompt('Be brief.'));
  cache.evaluate(prompt('Be kind.'));
  cache.evaluate(prompt('Be kind.'));
  await cache.close();
  expect(starts).toEqual([{ ...prompt('Be kind.'), fairnessKey: 'key_1' }]);
  expect(log.lines).toEqual([]);
});

test('an engine without a cache of prompts evaluates nothing', async () => {
  const { cache, log } = opened(undefined);
  cache.evaluate(prompt('Be kind.'));
  await cache.close();
  expect(log.lines).toEqual([]);
});

test('stops the evaluation of a prompt that is replaced, and at the end', async () => {
  const stopped: PromptStart['messages'][] = [];
  const { cache, log } = opened(async ({ messages }, signal) => {
    await waitForAbort(signal);
    stopped.push(messages);
    signal.throwIfAborted();
  });
  cache.evaluate(prompt('First.'));
  cache.evaluate(prompt('Second.'));
  await cache.close();
  expect(stopped).toEqual([prompt('First.').messages, prompt('Second.').messages]);
  expect(log.lines).toEqual([]);
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

test.each([
  ['error', new Error('no memory')],
  ['info', new ServiceError('overloaded', 'Too many requests.')],
])('logs a failure as %s', async (level, failure) => {
  const { cache, log } = opened(() => Promise.reject(failure));
  cache.evaluate(prompt('Be kind.'));
  const line = { level, message: 'evaluation of the prompt failed', fields: { request_id: 'req_1' } };
  await expect.poll(() => log.lines).toMatchObject([line]);
  await cache.close();
});
