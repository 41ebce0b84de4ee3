import { afterEach, expect, test } from 'vitest';
import { type TestApp, type TestAppOptions, testApp } from '../../../test/harness/test-app.ts';

let service: TestApp;
afterEach(() => service.close());

function send(options: TestAppOptions): Promise<Response> {
  service = testApp(options);
  return service.send('/.well-known/security.txt', { headers: {} });
}

test('returns the contact and the expiry time without an API key', async () => {
  const response = await send({ securityContact: 'mailto:security@company.test' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const expires = new Date(service.clock.now() + 30 * 86_400_000).toISOString();
  expect(await response.text()).toBe(`Contact: mailto:security@company.test\nExpires: ${expires}\n`);
});

test('returns 404 without a configured contact', async () => {
  const response = await send({});
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
});
