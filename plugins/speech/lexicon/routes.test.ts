import { describe, expect, onTestFinished, test } from 'vitest';
import { bind } from '../../../src/http/route.ts';
import { cachedLexicons } from '../../../src/records/stores/cached-lexicons.ts';
import { lexiconStore } from '../../../src/records/stores/lexicon-store.ts';
import { KEY_A, KEY_B, testApp } from '../../../test/harness/test-app.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../../tools/harness/doubles/memory-records.ts';
import { LEXICON_ROUTES } from './routes.ts';

const PATH = '/v1/audio/lexicon';
const NGUYEN = { word: 'Nguyen', language: 'en', phonemes: 'wɪn' };

function setUp() {
  const clock = new ManualClock();
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const lexicons = cachedLexicons(lexiconStore(records, clock), [], clock);
  const app = testApp({ routes: [bind(LEXICON_ROUTES, { lexicons })] });
  onTestFinished(() => app.close());
  const call = async (init: RequestInit, query = '', key = KEY_A) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const response = await app.send(PATH + query, { headers, ...init });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const put = (body: unknown, key?: string) => call({ method: 'PUT', body: JSON.stringify(body) }, '', key);
  const remove = (query: Record<string, string>, key?: string) =>
    call({ method: 'DELETE' }, `?${new URLSearchParams(query)}`, key);
  const words = async (key?: string) =>
    ((await call({}, '', key)).body.data as { word: string }[]).map(({ word }) => word);
  return { app, clock, lexicons, call, put, remove, words };
}

test('an entry is set, listed, replaced and deleted', async () => {
  const { clock, call, put, remove } = setUp();
  const entry = {
    object: 'audio.lexicon.entry',
    ...NGUYEN,
    respelling: null,
    updated_at: Math.floor(clock.now() / 1000),
  };
  expect(await put(NGUYEN)).toEqual({ status: 200, body: entry });
  expect(await put(NGUYEN)).toEqual({ status: 200, body: entry });
  expect(await call({})).toEqual({ status: 200, body: { object: 'list', data: [entry], has_more: false } });
  const respelled = { ...entry, word: 'nguyen', phonemes: null, respelling: 'win' };
  expect((await put({ word: ' nguyen ', language: 'EN', respelling: 'win', phonemes: null })).body).toEqual(
    respelled,
  );
  expect((await call({})).body).toMatchObject({ data: [respelled] });
  expect(await remove({ word: 'NGUYEN', language: 'en' })).toMatchObject({ status: 404 });
  expect(await remove({ word: 'Nguyen', language: 'en' })).toEqual({
    status: 200,
    body: { object: 'audio.lexicon.entry.deleted', word: 'Nguyen', language: 'en', deleted: true },
  });
  expect((await call({})).body).toMatchObject({ data: [] });
});

test('organizations do not see and change each other’s entries; speech uses them immediately', async () => {
  const { lexicons, put, remove, words } = setUp();
  expect(await lexicons.lexiconOf('a')).toMatchObject({ own: [] });
  await put({ word: 'a', respelling: 'x' });
  await put({ word: 'b', respelling: 'y' }, KEY_B);
  expect([await words(), await words(KEY_B)]).toEqual([['a'], ['b']]);
  expect(await remove({ word: 'a' }, KEY_B)).toMatchObject({ status: 404 });
  expect(await lexicons.lexiconOf('a')).toMatchObject({ own: [{ word: 'a', respelling: 'x' }] });
  await remove({ word: 'a' });
  expect(await lexicons.lexiconOf('a')).toMatchObject({ own: [] });
});

describe('an invalid request', () => {
  test.each<[unknown, string, string]>([
    [{ phonemes: 'a' }, 'word', 'missing_required_parameter'],
    [{ word: 1, phonemes: 'a' }, 'word', 'invalid_type'],
    [{ word: '', phonemes: 'a' }, 'word', 'missing_required_parameter'],
    [{ word: 'a', phonemes: 'a', language: 'klingon' }, 'language', 'invalid_value'],
    [{ word: 'a' }, 'phonemes', 'missing_required_parameter'],
    [{ word: 'a', phonemes: 'W IH1 N' }, 'phonemes', 'invalid_value'],
    [{ word: 'a', phonemes: 'a', respelling: 'a' }, 'respelling', 'mutually_exclusive_parameters'],
    [{ word: 'a', respelling: 'a'.repeat(201) }, 'respelling', 'string_above_max_length'],
    [{ word: 'a', phoneme: 'a' }, 'phoneme', 'unknown_parameter'],
  ])('%j names the field', async (body, param, code) => {
    const { put } = setUp();
    const refused = await put(body);
    expect(refused).toMatchObject({ status: 400, body: { error: { param, code } } });
    expect(JSON.stringify(refused.body)).not.toContain('W IH1 N');
  });

  test('has an array as body, or lacks the word', async () => {
    const { put, remove } = setUp();
    expect(await put([NGUYEN])).toMatchObject({ status: 400 });
    const missing = { error: { param: 'word', code: 'missing_required_parameter' } };
    expect(await remove({})).toMatchObject({ status: 400, body: missing });
  });

  test('exceeds the number of entries', async () => {
    const { lexicons, put } = setUp();
    const entry = { language: undefined, phonemes: 'a', respelling: undefined };
    for (let index = 0; index < 1000; index++) await lexicons.put('a', { ...entry, word: `w${index}` }, 1000);
    expect(await put({ word: 'x', phonemes: 'a' })).toMatchObject({
      status: 400,
      body: { error: { code: 'storage_limit_exceeded' } },
    });
    expect(await put({ word: 'w1', phonemes: 'b' })).toMatchObject({ status: 200 });
    expect(await put({ word: 'x', phonemes: 'a' }, KEY_B)).toMatchObject({ status: 200 });
  });
});

test('texts are not logged', async () => {
  const { app, put, remove } = setUp();
  await put({ word: 'secretword', phonemes: 'a' });
  await remove({ word: 'secretword' });
  await remove({ word: 'secretword' });
  expect(JSON.stringify(app.log)).not.toContain('secretword');
});

test('browsers of other origins may use PUT', async () => {
  const { app } = setUp();
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'PUT' };
  const response = await app.send(PATH, { method: 'OPTIONS', headers });
  expect(response.headers.get('access-control-allow-methods')).toContain('PUT');
});
