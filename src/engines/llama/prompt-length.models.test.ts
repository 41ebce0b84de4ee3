import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSmallLlama } from '../../../tools/harness/models/real-llama.ts';
import { textRequest } from '../../../tools/harness/models/text-responses.ts';
import { loadConfig } from '../../config/config.ts';
import type { TextEngine } from '../../contract/engines/text.ts';

/** Long prompts of one key while another key reads a response. */

let engine: TextEngine;
beforeAll(async () => {
  const { inference } = loadConfig(process.env);
  engine = await openSmallLlama({ inference: { ...inference, threads: 1 } });
});
afterAll(() => engine?.close());

const never = new AbortController().signal;
const ask = (text: string, fairnessKey: string, maxTokens = 1) =>
  engine.generate(
    textRequest({ messages: [{ role: 'user', parts: [{ kind: 'text', text }] }], fairnessKey, maxTokens }),
    never,
  );
const TOO_LONG = { kind: 'invalid_request', code: 'context_length_exceeded' };

it.each([
  ['white space between words', `a${' '.repeat(8_300_000)}b`],
  ['letters', 'a'.repeat(8_300_000)],
  ['digits', '7'.repeat(8_300_000)],
  ['ideographs', '漢'.repeat(2_700_000)],
])('rejects 8 MB of %s', async (_, text) => {
  const rejected = { ...TOO_LONG, message: expect.stringMatching(/resulted in at least \d+ tokens/) };
  await expect(Array.fromAsync(ask(text, 'a'))).rejects.toMatchObject(rejected);
});

it('continues a response of another key while prompts are rejected', async () => {
  const response = ask('Count to one hundred.', 'b', 40)[Symbol.asyncIterator]();
  expect((await response.next()).value).toMatchObject({ kind: 'text' });
  const spaces = `a${' '.repeat(8_300_000)}b`;
  const rejected = Array.from({ length: 20 }, () =>
    Array.fromAsync(ask(spaces, 'a')).catch((error) => error),
  );
  for (const error of await Promise.all(rejected)) expect(error).toMatchObject(TOO_LONG);
  let last: unknown;
  for (;;) {
    const { done, value } = await response.next();
    if (done) break;
    last = value;
  }
  expect(last).toMatchObject({ kind: 'end' });
});

it('rejects a prompt above the context that the bound permits, when there are too many tokens', async () => {
  const error = await Array.fromAsync(ask('one two three '.repeat(400), 'a')).catch((reason) => reason);
  expect(error).toMatchObject(TOO_LONG);
  expect(error.message).toMatch(/resulted in at least \d{3,4} tokens/);
});
