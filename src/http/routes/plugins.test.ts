import { afterEach, describe, expect, test } from 'vitest';
import { KEY_A, KEY_B, type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { PluginStanding, PluginSwitches } from './plugins.ts';

const SPEECH: PluginStanding = {
  ...{ name: 'speech', enabled: true, state: 'on', detail: 'ready', switchable: true },
  ...{ paths: ['/v1/audio/speech', '/v1/things/:thing_id/parts'], needs: [], neededBy: ['batch'] },
};
const WIRE = {
  ...{ object: 'plugin', name: 'speech', enabled: true, state: 'on', detail: 'ready', switchable: true },
  ...{ routes: ['/v1/audio/speech', '/v1/things/{thing_id}/parts'], needs: [], needed_by: ['batch'] },
};

const apps: TestApp[] = [];
afterEach(() => {
  for (const app of apps.splice(0)) app.close();
});

function open(options: Parameters<typeof testApp>[0] = {}): { app: TestApp; asked: unknown[] } {
  const asked: unknown[] = [];
  const plugins: PluginSwitches = {
    list: async () => [SPEECH],
    async set(name, enabled) {
      asked.push([name, enabled]);
      if (name === 'gone') throw new ServiceError('not_found', 'There is no such plugin.', { param: 'name' });
      return { ...SPEECH, enabled, state: 'stopping' };
    },
  };
  const app = testApp({ plugins, ...options });
  apps.push(app);
  return { app, asked };
}

const post = (body: unknown, key = KEY_A): RequestInit => ({
  method: 'POST',
  headers: { 'x-api-key': key, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

test('any key sees all plugins', async () => {
  const { app } = open();
  for (const key of [KEY_A, KEY_B]) {
    const answer = await app.send('/v1/plugins', { headers: { 'x-api-key': key } });
    expect(await answer.json()).toEqual({ object: 'list', data: [WIRE] });
  }
});

describe('a switch', () => {
  test('is an operator’s', async () => {
    const { app, asked } = open();
    const answer = await app.send('/v1/plugins/speech', post({ enabled: false }));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ ...WIRE, enabled: false, state: 'stopping' });
    expect(asked).toEqual([['speech', false]]);
  });

  test('is nobody else’s', async () => {
    const { app, asked } = open();
    const answer = await app.send('/v1/plugins/speech', post({ enabled: false }, KEY_B));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { code: 'permission_denied' } });
    expect(asked).toEqual([]);
  });

  test.each([
    ['/v1/plugins/gone', { enabled: true }, 404, { param: 'name' }],
    ['/v1/plugins/speech', {}, 400, { param: 'enabled', code: 'missing_required_parameter' }],
    ['/v1/plugins/speech', { enabled: 'no' }, 400, { param: 'enabled', code: 'invalid_type' }],
    ['/v1/plugins/speech', { enabled: true, when: 1 }, 400, { param: 'when', code: 'unknown_parameter' }],
  ])('%s with %j is refused', async (path, body, status, error) => {
    const answer = await open().app.send(path, post(body));
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error });
  });
});

describe('a path whose plugin is not on', () => {
  const refusal = (path: string) =>
    path.startsWith('/v1/audio/')
      ? new ServiceError('not_found', "The plugin 'speech' is switched off here.", {
          code: 'plugin_disabled',
        })
      : undefined;

  test('says so, whatever the method, before a body is read', async () => {
    const { app } = open({ refusal, requestBytes: 10 });
    for (const init of [{}, post({ input: 'x'.repeat(100) }), { method: 'DELETE' }]) {
      const answer = await app.send('/v1/audio/speech', { headers: { 'x-api-key': KEY_A }, ...init });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        error: {
          type: 'invalid_request_error',
          code: 'plugin_disabled',
          message: expect.stringContaining("'speech'"),
        },
      });
    }
  });

  test('asks for a key as it does when it is on', async () => {
    const { app } = open({ refusal });
    const answer = await app.send('/v1/audio/speech', { headers: {} });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { code: 'missing_api_key' } });
  });

  test('is no part of the API’s documentation', async () => {
    const { app } = open({ refusal });
    const document = (await (await app.send('/swagger/json')).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain('/v1/plugins');
    expect(Object.keys(document.paths)).not.toContain('/v1/audio/speech');
  });
});
