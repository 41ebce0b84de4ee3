import { afterEach, describe, expect, test } from 'vitest';
import { KEY_A, KEY_B, type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { PluginStatus, PluginSwitches } from './plugins.ts';

const SPEECH: PluginStatus = {
  name: 'speech',
  enabled: true,
  state: 'on',
  detail: 'ready',
  switchable: true,
  paths: ['/v1/audio/speech', '/v1/things/:thing_id/parts'],
  needs: [],
  neededBy: ['batch'],
};
const WIRE = {
  object: 'plugin',
  name: 'speech',
  enabled: true,
  state: 'on',
  detail: 'ready',
  switchable: true,
  routes: ['/v1/audio/speech', '/v1/things/{thing_id}/parts'],
  needs: [],
  needed_by: ['batch'],
};

const apps: TestApp[] = [];
afterEach(() => {
  for (const app of apps.splice(0)) app.close();
});

function appWithPlugins(options: Parameters<typeof testApp>[0] = {}): { app: TestApp; calls: unknown[] } {
  const calls: unknown[] = [];
  const plugins: PluginSwitches = {
    list: async () => [SPEECH],
    async set(name, enabled) {
      calls.push([name, enabled]);
      if (name === 'gone') throw new ServiceError('not_found', 'There is no such plugin.', { param: 'name' });
      return { ...SPEECH, enabled, state: 'stopping' };
    },
  };
  const app = testApp({ plugins, ...options });
  apps.push(app);
  return { app, calls };
}

const post = (body: unknown, key = KEY_A): RequestInit => ({
  method: 'POST',
  headers: { 'x-api-key': key, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

test('every key can list all plugins', async () => {
  const { app } = appWithPlugins();
  for (const key of [KEY_A, KEY_B]) {
    const response = await app.send('/v1/plugins', { headers: { 'x-api-key': key } });
    expect(await response.json()).toEqual({ object: 'list', data: [WIRE] });
  }
});

describe('POST /v1/plugins/{name}', () => {
  test('accepts an operator key', async () => {
    const { app, calls } = appWithPlugins();
    const response = await app.send('/v1/plugins/speech', post({ enabled: false }));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ...WIRE, enabled: false, state: 'stopping' });
    expect(calls).toEqual([['speech', false]]);
  });

  test('rejects other keys', async () => {
    const { app, calls } = appWithPlugins();
    const response = await app.send('/v1/plugins/speech', post({ enabled: false }, KEY_B));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'permission_denied' } });
    expect(calls).toEqual([]);
  });

  test.each([
    ['/v1/plugins/gone', { enabled: true }, 404, { param: 'name' }],
    ['/v1/plugins/speech', {}, 400, { param: 'enabled', code: 'missing_required_parameter' }],
    ['/v1/plugins/speech', { enabled: 'no' }, 400, { param: 'enabled', code: 'invalid_type' }],
    ['/v1/plugins/speech', { enabled: true, when: 1 }, 400, { param: 'when', code: 'unknown_parameter' }],
  ])('rejects %s with %j', async (path, body, status, error) => {
    const response = await appWithPlugins().app.send(path, post(body));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error });
  });
});

describe('a path whose plugin is not on', () => {
  const unavailableError = (path: string) =>
    path.startsWith('/v1/audio/')
      ? new ServiceError('not_found', "The plugin 'speech' is disabled.", {
          code: 'plugin_disabled',
        })
      : undefined;

  test('returns the error for every method, before the body is read', async () => {
    const { app } = appWithPlugins({ unavailableError, requestBytes: 10 });
    for (const init of [{}, post({ input: 'x'.repeat(100) }), { method: 'DELETE' }]) {
      const response = await app.send('/v1/audio/speech', { headers: { 'x-api-key': KEY_A }, ...init });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: {
          type: 'invalid_request_error',
          code: 'plugin_disabled',
          message: expect.stringContaining("'speech'"),
        },
      });
    }
  });

  test('requires an API key', async () => {
    const { app } = appWithPlugins({ unavailableError });
    const response = await app.send('/v1/audio/speech', { headers: {} });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'missing_api_key' } });
  });

  test('is not part of the OpenAPI document', async () => {
    const { app } = appWithPlugins({ unavailableError });
    const document = (await (await app.send('/swagger/json')).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain('/v1/plugins');
    expect(Object.keys(document.paths)).not.toContain('/v1/audio/speech');
  });
});
