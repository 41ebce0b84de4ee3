import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KEY_A, KEY_B, type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { MAX_KEYS } from './keys.ts';

let service: TestApp;
beforeEach(() => {
  service = testApp();
});
afterEach(() => service.close());

type Wire = Record<string, unknown> & { readonly id: string; readonly key: string };

function ask(method: string, path: string, key = KEY_A, body?: unknown): Promise<Response> {
  const headers = { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) };
  return service.send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

async function made(wish: object = {}, key = KEY_A): Promise<Wire> {
  const response = await ask('POST', '/v1/keys', key, wish);
  expect(response.status).toBe(200);
  return (await response.json()) as Wire;
}

async function fault(response: Response): Promise<Record<string, unknown>> {
  return { status: response.status, ...((await response.json()) as { error: object }).error };
}

describe('POST /v1/keys', () => {
  test('makes a key that works, and shows it this once', async () => {
    const { key, ...record } = await made({ name: 'Reception', role: 'admin' });
    expect(record).toEqual({
      object: 'api_key',
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      name: 'Reception',
      hint: `${key.slice(0, 7)}…`,
      role: 'admin',
      created_at: Math.floor(service.clock.now() / 1000),
      revoked_at: null,
    });
    expect(await (await ask('GET', '/v1/keys', key)).json()).toMatchObject({ data: [record] });
    expect(JSON.stringify(await (await ask('GET', '/v1/keys')).json())).not.toContain(key);
  });

  test('makes keys of members unless it is told otherwise; they make and end none', async () => {
    const { key, id, role, name } = await made();
    expect({ role, name }).toEqual({ role: 'member', name: null });
    for (const response of [
      await ask('POST', '/v1/keys', key, {}),
      await ask('DELETE', `/v1/keys/${id}`, key),
    ]) {
      expect(await fault(response)).toMatchObject({ status: 403, code: 'permission_denied', param: null });
    }
    expect((await ask('GET', '/v1/keys', key)).status).toBe(200);
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: '\u001b[2Jgone' }, 'name'],
    [{ name: 'a\nkey_0  b  admin' }, 'name'],
    [{ name: 'a\0' }, 'name'],
    [{ role: 'owner' }, 'role'],
    [{ scope: 'all' }, 'scope'],
    [{ role: null }, 'role'],
  ])('refuses %j', async (wish, param) => {
    expect(await fault(await ask('POST', '/v1/keys', KEY_A, wish))).toMatchObject({ status: 400, param });
  });

  test('makes no more than an organization may have', async () => {
    for (let count = 0; count < MAX_KEYS; count += 1) await made();
    const refused = await fault(await ask('POST', '/v1/keys', KEY_A, {}));
    expect(refused).toMatchObject({ status: 400, code: 'key_limit_exceeded' });
    await made({}, KEY_B);
  });
});

describe('DELETE /v1/keys/{id}', () => {
  test('ends a key', async () => {
    const { key, id } = await made();
    expect(await (await ask('DELETE', `/v1/keys/${id}`)).json()).toEqual({
      ...{ id, object: 'api_key.deleted', deleted: true },
    });
    expect(await fault(await ask('GET', '/v1/keys', key))).toMatchObject({ status: 401 });
    expect(await (await ask('GET', '/v1/keys')).json()).toMatchObject({
      data: [{ id, revoked_at: Math.floor(service.clock.now() / 1000) }],
    });
    expect(await fault(await ask('DELETE', `/v1/keys/${id}`))).toMatchObject({ status: 404 });
  });

  test('of another organization is as if it were not there', async () => {
    const { id, key } = await made({}, KEY_B);
    const foreign = await fault(await ask('DELETE', `/v1/keys/${id}`));
    expect(foreign).toEqual(await fault(await ask('DELETE', '/v1/keys/key_unknown')));
    expect(foreign).toMatchObject({ status: 404 });
    expect((await ask('GET', '/v1/keys', key)).status).toBe(200);
  });

  test('does not end the key that asks', async () => {
    const { id, key } = await made({ role: 'admin' });
    expect(await fault(await ask('DELETE', `/v1/keys/${id}`, key))).toMatchObject({
      ...{ status: 400, param: 'key_id' },
    });
    expect((await ask('DELETE', `/v1/keys/${id}`)).status).toBe(200);
  });
});

test('two admins that revoke each other concurrently leave one of them', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [first, second] = [await made({ role: 'admin' }), await made({ role: 'admin' })];
    const responses = await Promise.all([
      ask('DELETE', `/v1/keys/${second.id}`, first.key),
      ask('DELETE', `/v1/keys/${first.id}`, second.key),
    ]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const refused = responses.find(({ status }) => status === 409) as Response;
    expect(await fault(refused)).toMatchObject({ code: 'last_admin_key', param: 'key_id' });
    const left = responses[0] === refused ? second : first;
    expect((await ask('GET', '/v1/keys', left.key)).status).toBe(200);
    // The fixed key is an admin key too, so it may revoke the last stored one.
    expect((await ask('DELETE', `/v1/keys/${left.id}`)).status).toBe(200);
  }
});

test('GET /v1/keys shows the own organization page by page, newest first', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) ids.unshift((await made()).id);
  await made({}, KEY_B);
  const page = async (query: string) => (await ask('GET', `/v1/keys${query}`)).json();
  expect(await page('?limit=2')).toMatchObject({
    ...{ object: 'list', first_id: ids[0], last_id: ids[1], has_more: true },
    data: [{ id: ids[0] }, { id: ids[1] }],
  });
  expect(await page(`?limit=2&after=${ids[1]}`)).toMatchObject({ data: [{ id: ids[2] }], has_more: false });
  expect(await fault(await ask('GET', '/v1/keys?after=key_x'))).toMatchObject({
    status: 400,
    param: 'after',
  });
  expect(await fault(await ask('GET', '/v1/keys?limit=101'))).toMatchObject({ status: 400, param: 'limit' });
});
