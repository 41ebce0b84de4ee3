import { afterEach, expect, test } from 'vitest';
import { type TestApp, type TestAppOptions, testApp } from '../../../test/harness/test-app.ts';

let service: TestApp;
afterEach(() => service.close());

function ask(options: TestAppOptions): Promise<Response> {
  service = testApp(options);
  return service.send('/.well-known/security.txt', { headers: {} });
}

test('tells anybody whom to tell, and for how long that holds', async () => {
  const answer = await ask({ securityContact: 'mailto:security@company.test' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const expires = new Date(service.clock.now() + 30 * 86_400_000).toISOString();
  expect(await answer.text()).toBe(`Contact: mailto:security@company.test\nExpires: ${expires}\n`);
});

test('is not there when nobody is named', async () => {
  const answer = await ask({});
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
});
