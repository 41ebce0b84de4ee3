import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KEY_B, type TestApp, testApp } from '../../test/harness/test-app.ts';
import type { UsageEntry } from '../contract/accounts/usage.ts';
import { newId } from '../contract/core/id.ts';

let service: TestApp;
beforeEach(() => {
  service = testApp();
});
afterEach(() => service.close());

function entry(overrides: Partial<UsageEntry> = {}): UsageEntry {
  return {
    endpoint: '/v1/audio/speech',
    organization: 'a',
    requestId: newId('req_'),
    model: 'svc-tts',
    status: 'completed',
    inputTokens: 3,
    outputTokens: 40,
    ...overrides,
  };
}

/** Writes a row by opening and closing a call. */
async function write({ status, requestId, organization, endpoint, model, ...consumed }: UsageEntry) {
  const most = { inputTokens: 0, outputTokens: 0 };
  const call = await service.calls.openCall({
    caller: { requestId, organization, keyId: 'key' },
    endpoint,
    model,
    maxUsage: most,
  });
  await call.close({ status, ...consumed });
}

interface UsagePage {
  readonly object: string;
  readonly data: readonly Record<string, unknown>[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

async function page(query = '', headers?: Record<string, string>): Promise<UsagePage> {
  const response = await service.send(`/v1/usage${query}`, headers === undefined ? {} : { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as UsagePage;
}

describe('GET /v1/usage', () => {
  test('is an empty list at first', async () => {
    expect(await page()).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  test('returns rows as in the contract, with optional fields only if present', async () => {
    const full = entry({ characters: 12, audioBytes: 48_044, audioSeconds: 1, transcript: 'hello' });
    await write(full);
    const bare = entry({ status: 'failed' });
    await write(bare);
    const { data } = await page();
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^usage_[0-9a-f]{32}$/),
        object: 'usage.record',
        created_at: 1_767_323_045,
        endpoint: '/v1/audio/speech',
        model: 'svc-tts',
        status: 'failed',
        input_tokens: 3,
        output_tokens: 40,
        request_id: bare.requestId,
      },
      expect.objectContaining({
        characters: 12,
        audio_bytes: 48_044,
        audio_seconds: 1,
        transcript: 'hello',
        request_id: full.requestId,
      }),
    ]);
  });

  test('pages by 20, or by `limit`, with `after`', async () => {
    for (let row = 0; row < 45; row += 1) await write(entry({ inputTokens: row }));
    const seen: unknown[] = [];
    let query = '';
    for (let pages = 0; pages < 3; pages += 1) {
      const list = await page(query);
      expect(list.has_more).toBe(pages < 2);
      expect(list.first_id).toBe(list.data[0]?.id);
      expect(list.last_id).toBe(list.data.at(-1)?.id);
      seen.push(...list.data.map((row) => row.input_tokens));
      query = `?after=${list.last_id}`;
    }
    expect(seen).toEqual(Array.from({ length: 45 }, (_, row) => 44 - row));
    expect((await page('?limit=100')).data).toHaveLength(45);
    expect((await page('?limit=1')).data).toHaveLength(1);
  });

  test('the official SDK iterates the pages', async () => {
    for (let row = 0; row < 5; row += 1) await write(entry({ inputTokens: row }));
    const client = new OpenAI({
      apiKey: 'key-of-a',
      baseURL: 'http://service.test/v1',
      fetch: (input, init) => Promise.resolve(service.app.handle(new Request(input as string, init))),
    });
    const first = await client.get<UsagePage>('/usage', { query: { limit: 2 } });
    const second = await client.get<UsagePage>('/usage', {
      query: { limit: 2, after: first.last_id },
    });
    expect([...first.data, ...second.data].map((row) => row.input_tokens)).toEqual([4, 3, 2, 1]);
  });

  test('returns only rows of the own organization', async () => {
    await write(entry());
    await write(entry({ organization: 'b', model: 'other' }));
    expect((await page()).data).toMatchObject([{ model: 'svc-tts' }]);
    const foreign = await page('', { 'x-api-key': KEY_B });
    expect(foreign.data).toMatchObject([{ model: 'other' }]);
    expect((await service.send(`/v1/usage?after=${foreign.first_id}`)).status).toBe(400);
  });

  test('endpoint matches the exact label', async () => {
    await write(entry());
    expect((await page(`?endpoint=${encodeURIComponent('/v1/audio/speech')}`)).data).toHaveLength(1);
    expect((await page('?endpoint=/v1/audio/speech')).data).toHaveLength(1);
    expect((await page('?endpoint=POST+/v1/responses')).data).toHaveLength(0);
  });

  test.each([
    ['?limit=0', 'limit', 'from 1 to 100'],
    ['?limit=101', 'limit', 'from 1 to 100'],
    ['?limit=ten', 'limit', 'from 1 to 100'],
    ['?limit=', 'limit', 'from 1 to 100'],
    ['?limit=1.5', 'limit', 'from 1 to 100'],
    ['?limit=-1', 'limit', 'from 1 to 100'],
    ['?limit=1e1', 'limit', 'from 1 to 100'],
    ['?limit=99999999999999999999', 'limit', 'from 1 to 100'],
    ['?limit=2&limit=3', 'limit', 'Duplicate query parameter'],
    ['?after=usage_unknown', 'after', 'one of your usage rows'],
  ])('%s is rejected with param %s', async (query, param, words) => {
    const response = await service.send(`/v1/usage${query}`);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
    expect(error.message).toContain(words);
  });
});

test('rows are counted in metrics', async () => {
  await write(entry({ characters: 12, audioSeconds: 1.5 }));
  await write(entry({ status: 'cancelled', characters: 3 }));
  const text = await service.metrics.render();
  expect(text).toContain('usage_rows_total{endpoint="/v1/audio/speech",status="cancelled"} 1');
  expect(text).toContain('usage_characters_total{endpoint="/v1/audio/speech"} 15');
  expect(text).toContain('usage_audio_seconds_total{endpoint="/v1/audio/speech"} 1.5');
});
