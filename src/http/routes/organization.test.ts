import { afterEach, beforeEach, expect, test } from 'vitest';
import { KEY_A, KEY_B, type TestApp, testApp } from '../../../test/harness/test-app.ts';

let service: TestApp;
beforeEach(() => {
  service = testApp();
});
afterEach(() => service.close());

async function organization(key: string): Promise<unknown> {
  const response = await service.send('/v1/organization', { headers: { 'x-api-key': key } });
  expect(response.status).toBe(200);
  return response.json();
}

async function madeBy(key: string, role: string): Promise<{ key: string; id: string }> {
  const response = await service.send('/v1/keys', {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ role }),
  });
  return (await response.json()) as { key: string; id: string };
}

test('GET /v1/organization returns the organization and the permissions of the key', async () => {
  const object = 'organization';
  // CONFIG lists organization a under `operators`.
  expect(await organization(KEY_A)).toEqual({ object, id: 'a', role: 'admin', operator: true });
  expect(await organization(KEY_B)).toEqual({ object, id: 'b', role: 'admin', operator: false });
  for (const [of, id, role, operator] of [
    [KEY_A, 'a', 'admin', true],
    [KEY_A, 'a', 'member', false],
    [KEY_B, 'b', 'admin', false],
  ] as const) {
    const made = await madeBy(of, role);
    expect(await organization(made.key)).toEqual({ object, id, role, operator, key_id: made.id });
  }
});
