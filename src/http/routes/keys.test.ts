import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KEY_A, KEY_B, type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { MAX_KEYS } from './keys.ts';

let service: TestApp;
beforeEach(() => {
  service = testApp();
});
afterEach(() => service.close());

type Wire = Record<string, unknown> & { readonly id: string; readonly key: string };

function send(method: string, path: string, key = KEY_A, body?: unknown): Promise<Response> {
  const headers = { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
  return service.send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

async function createKey(body: object = {}, key = KEY_A): Promise<Wire> {
  const response = await send('POST', '/v1/keys', key, body);
  expect(response.status).toBe(200);
  return (await response.json()) as Wire;
}

async function errorOf(response: Response): Promise<Record<string, unknown>> {
  return { status: response.status, ...((await response.json()) as { error: object }).error };
}

describe('POST /v1/keys', () => {
  test('creates a valid key, and returns it only once', async () => {
    const { key, ...record } = await createKey({ name: 'Reception', role: 'admin' });
    expect(record).toEqual({
      object: 'api_key',
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      name: 'Reception',
      hint: `${key.slice(0, 7)}…`,
      role: 'admin',
      created_at: Math.floor(service.clock.now() / 1000),
      revoked_at: null,
    });
    expect(await (await send('GET', '/v1/keys', key)).json()).toMatchObject({ data: [record] });
    expect(JSON.stringify(await (await send('GET', '/v1/keys')).json())).not.toContain(key);
  });

  test('creates member keys by default, which cannot create or revoke keys', async () => {
    const { key, id, role, name } = await createKey();
    expect({ role, name }).toEqual({ role: 'member', name: null });
    for (const response of [
      await send('POST', '/v1/keys', key, {}),
      await send('DELETE', `/v1/keys/${id}`, key),
    ]) {
      expect(await errorOf(response)).toMatchObject({ status: 403, code: 'permission_denied', param: null });
    }
    expect((await send('GET', '/v1/keys', key)).status).toBe(200);
  });

  test('measures names in Unicode characters', async () => {
    const longest = '🔑'.repeat(64);
    expect((await createKey({ name: longest })).name).toBe(longest);
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: '\u001b[2Jgone' }, 'name'],
    [{ name: 'a\nkey_0  b  admin' }, 'name'],
    [{ name: 'a\0' }, 'name'],
    [{ name: '🔑'.repeat(65) }, 'name'],
    [{ name: 'member\u202Enimda' }, 'name'],
    [{ name: 'a\u2066b' }, 'name'],
    [{ name: 'a\uD800' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ role: 'owner' }, 'role'],
    [{ scope: 'all' }, 'scope'],
    [{ role: null }, 'role'],
  ])('rejects %j', async (body, param) => {
    expect(await errorOf(await send('POST', '/v1/keys', KEY_A, body))).toMatchObject({ status: 400, param });
  });

  test('enforces the max. number of keys per organization', async () => {
    for (let count = 0; count < MAX_KEYS; count += 1) await createKey();
    const rejected = await errorOf(await send('POST', '/v1/keys', KEY_A, {}));
    expect(rejected).toMatchObject({ status: 400, code: 'key_limit_exceeded' });
    await createKey({}, KEY_B);
  });
});

describe('DELETE /v1/keys/{id}', () => {
  test('revokes a key', async () => {
    const { key, id } = await createKey();
    expect(await (await send('DELETE', `/v1/keys/${id}`)).json()).toEqual({
      id,
      object: 'api_key.deleted',
      deleted: true,
    });
    expect(await errorOf(await send('GET', '/v1/keys', key))).toMatchObject({ status: 401 });
    expect(await (await send('GET', '/v1/keys')).json()).toMatchObject({
      data: [{ id, revoked_at: Math.floor(service.clock.now() / 1000) }],
    });
    expect(await errorOf(await send('DELETE', `/v1/keys/${id}`))).toMatchObject({ status: 404 });
  });

  test('returns 404 for a key of another organization', async () => {
    const { id, key } = await createKey({}, KEY_B);
    const foreign = await errorOf(await send('DELETE', `/v1/keys/${id}`));
    expect(foreign).toEqual(await errorOf(await send('DELETE', '/v1/keys/key_unknown')));
    expect(foreign).toMatchObject({ status: 404 });
    expect((await send('GET', '/v1/keys', key)).status).toBe(200);
  });

  test('does not revoke the key of the request', async () => {
    const { id, key } = await createKey({ role: 'admin' });
    expect(await errorOf(await send('DELETE', `/v1/keys/${id}`, key))).toMatchObject({
      status: 400,
      param: 'key_id',
    });
    expect((await send('DELETE', `/v1/keys/${id}`)).status).toBe(200);
  });
});

test('two admins that revoke each other concurrently leave one of them', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [first, second] = [await createKey({ role: 'admin' }), await createKey({ role: 'admin' })];
    const responses = await Promise.all([
      send('DELETE', `/v1/keys/${second.id}`, first.key),
      send('DELETE', `/v1/keys/${first.id}`, second.key),
    ]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const rejected = responses.find(({ status }) => status === 409) as Response;
    expect(await errorOf(rejected)).toMatchObject({ code: 'last_admin_key', param: 'key_id' });
    const remaining = responses[0] === rejected ? second : first;
    expect((await send('GET', '/v1/keys', remaining.key)).status).toBe(200);
    // The fixed key is an admin key too, so it may revoke the last stored one.
    expect((await send('DELETE', `/v1/keys/${remaining.id}`)).status).toBe(200);
  }
});

test('GET /v1/keys lists the keys of the own organization in pages, newest first', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) ids.unshift((await createKey()).id);
  await createKey({}, KEY_B);
  const page = async (query: string) => (await send('GET', `/v1/keys${query}`)).json();
  expect(await page('?limit=2')).toMatchObject({
    object: 'list',
    first_id: ids[0],
    last_id: ids[1],
    has_more: true,
    data: [{ id: ids[0] }, { id: ids[1] }],
  });
  expect(await page(`?limit=2&after=${ids[1]}`)).toMatchObject({ data: [{ id: ids[2] }], has_more: false });
  expect(await errorOf(await send('GET', '/v1/keys?after=key_x'))).toMatchObject({
    status: 400,
    param: 'after',
  });
  expect(await errorOf(await send('GET', '/v1/keys?limit=101'))).toMatchObject({
    status: 400,
    param: 'limit',
  });
});
