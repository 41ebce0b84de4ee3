import { afterEach, beforeEach, expect, test } from 'vitest';
import { KEY_B, type TestApp, testApp } from '../../test/harness/test-app.ts';
import type { UsageEntry } from '../contract/accounts/usage.ts';
import { newId } from '../contract/core/id.ts';

const DAY_MS = 86_400_000;
const endpoint = '/v1/audio/speech';

let service: TestApp;
beforeEach(() => {
  const free = { inputToken: 0n, outputToken: 0n, character: 0n, audioSecond: 0n };
  service = testApp({ prices: [{ endpoint, model: 'svc-tts', request: 500_000_000_000n, ...free }] });
});
afterEach(() => service.close());

async function write(organization: string, overrides: Partial<UsageEntry> = {}): Promise<void> {
  const call = await service.calls.openCall({
    caller: { requestId: newId('req_'), organization, keyId: 'key' },
    endpoint,
    model: 'svc-tts',
    maxUsage: { inputTokens: 0, outputTokens: 0 },
    ...overrides,
  });
  const consumed = { inputTokens: 3, outputTokens: 4, characters: 12, audioSeconds: 1.25 };
  await call.close({ status: 'completed', ...consumed, ...overrides });
}

async function summary(query = '', key?: string): Promise<unknown> {
  const headers = key === undefined ? undefined : { headers: { 'x-api-key': key } };
  return (await service.send(`/v1/usage/summary${query}`, headers)).json();
}

const day = (ago = 0) => new Date(service.clock.now() - ago * DAY_MS).toISOString().slice(0, 10);

test('returns totals by day, endpoint and model, of the own organization and the requested days', async () => {
  await service.credits.grant('a', 10_000_000, 1);
  await service.credits.grant('b', 10_000_000, 1);
  await write('a');
  service.clock.advance(DAY_MS);
  await write('a');
  await write('a', { status: 'failed' });
  await write('b');
  const sums = { endpoint, model: 'svc-tts', input_tokens: 3, output_tokens: 4, characters: 12 };
  const one = { day: day(1), ...sums, requests: 1, failed: 0, audio_seconds: 1.25, credits: 0.5 };
  const two = await summary('?days=2');
  expect(two).toMatchObject({ object: 'usage.summary', from: day(1), to: day() });
  expect((two as { data: unknown[] }).data).toEqual([
    one,
    expect.objectContaining({ day: day(), requests: 2, failed: 1, input_tokens: 6, audio_seconds: 2.5 }),
  ]);
  expect(await summary('?days=1')).toMatchObject({ from: day(), data: [{ requests: 2 }] });
  expect(await summary('', KEY_B)).toMatchObject({ from: day(29), data: [{ requests: 1, credits: 0.5 }] });
  service.clock.advance(30 * DAY_MS);
  expect(await summary()).toMatchObject({ data: [] });
});

test.each(['days=0', 'days=93', 'days=x', 'days=1.5', 'days='])('refuses %s', async (query) => {
  const response = await service.send(`/v1/usage/summary?${query}`);
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect(error.param).toBe(query.split('=')[0]);
});
