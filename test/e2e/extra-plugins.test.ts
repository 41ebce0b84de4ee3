import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { LaunchError, launchService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';

/** A plugin in a folder outside the repository, which imports only `voice-service/plugin`. */
const HELLO = `
import { definePlugin, integer, ServiceError, route, section, strictBody, Type } from 'voice-service/plugin';

export default definePlugin({
  name: 'hello',
  needs: ['log'],
  settings: [section('hello', { times: integer('times', { min: 1, max: 9, default: 2 }) })],
  tags: [{ name: 'hello', description: 'Greetings' }],
  routes: [
    route({
      method: 'GET',
      path: '/v1/hello',
      tag: 'hello',
      summary: 'Greet',
      handle: (_, { times }) => ({ text: Array(times).fill('hello').join(' ') }),
    }),
    route({
      method: 'POST',
      path: '/v1/hello/:name',
      tag: 'hello',
      summary: 'Greet a person',
      body: strictBody(Type.Object({ loud: Type.Boolean() })),
      handle({ caller, params, body }) {
        if (params.name === 'absent') throw new ServiceError('not_found', 'This person is absent.');
        return { text: body.loud ? 'HELLO' : 'hello', organization: caller.organization };
      },
    }),
  ],
  setup({ services, settings, lifecycle }) {
    lifecycle.closes({ close: async () => services.log.info('goodbye') });
    return { services: settings.hello };
  },
});
`;

const folder = mkdtempSync(join(tmpdir(), 'extra-plugins-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'hello'));
writeFileSync(join(folder, 'hello/index.ts'), HELLO);
const EXTRA = `[plugins]\nextra = ["${join(folder, 'hello')}"]\n`;

describe('a plugin in a folder outside the repository', () => {
  test('runs like the others', async () => {
    const service = await launchService({
      config: `${EXTRA}[plugin.hello]\ntimes = 3`,
      env: { PLUGINS: 'hello' },
    });
    onTestFinished(async () => void (await service.stop()));
    const answer = await service.fetch('/v1/hello');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ text: 'hello hello hello' });
    expect((await service.fetch('/v1/hello', { headers: {} })).status).toBe(401);
    expect((await service.fetch('/v1/hello', { method: 'PUT' })).status).toBe(405);

    const post = (name: string, body: unknown) =>
      service.fetch(`/v1/hello/${name}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect(await (await post('you', { loud: true })).json()).toEqual({ text: 'HELLO', organization: 'a' });
    const missing = await post('absent', { loud: false });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { message: 'This person is absent.' } });
    const invalid = await post('you', { loud: 'yes' });
    expect(invalid.status).toBe(400);
    expect(await invalid.json()).toMatchObject({ error: { param: 'loud' } });

    expect(await (await service.fetch('/swagger/json')).json()).toMatchObject({
      paths: { '/v1/hello': { get: { summary: 'Greet', tags: ['hello'] } } },
      tags: expect.arrayContaining([{ name: 'hello', description: 'Greetings' }]),
    });
    expect(await (await service.fetch('/v1/plugins')).json()).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ name: 'hello', state: 'on' })]),
    });

    expect(await service.stop()).toBe(0);
    expect(service.log()).toContainEqual(expect.objectContaining({ msg: 'goodbye', plugin: 'hello' }));
  });

  test.each([
    [`${EXTRA}[plugin.hello]\ntimes = 10`, "'plugin.hello.times' must be an integer from 1 to 9."],
    [`${EXTRA}[plugin.tea]\ncups = 1`, "'plugin.tea' is unknown; allowed: hello."],
    ['[plugins]\nextra = ["./gone"]', "Plugin './gone' of [plugins] extra cannot be imported: "],
  ])('%j stops the start: %s', async (config, words) => {
    const start = launchService({ config, env: { PLUGINS: 'hello' } });
    const error = await start.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(LaunchError);
    expect(String(error)).toContain(`Cannot start: `);
    expect(String(error)).toContain(words);
  });
});
