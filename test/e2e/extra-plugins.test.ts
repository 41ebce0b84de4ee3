import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { codeIn } from '../../src/guide/markdown-page.ts';
import { LaunchError, launchService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';

/** The example of the guide, in a folder outside the repository. It imports only `voice-service/plugin`. */
const [HELLO] = codeIn(
  readFileSync(resolve(import.meta.dirname, '../../docs/guide/plugins.md'), 'utf8'),
).filter(({ language }) => language === 'ts');
/** Uses a body, an error, the caller, and ids and jobs of its own. */
const ECHO = `
import { definePlugin, newId, route, ServiceError, strictBody, Type } from 'voice-service/plugin';

export default definePlugin({
  name: 'echo',
  needs: ['jobs'],
  routes: [
    route({
      method: 'POST',
      path: '/v1/echo/:name',
      isHidden: true,
      body: strictBody(Type.Object({ loud: Type.Boolean() })),
      handle({ caller, params, body }) {
        if (params.name === 'absent') throw new ServiceError('not_found', 'This person is absent.');
        return { text: body.loud ? 'HELLO' : 'hello', organization: caller.organization };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/echoes',
      isHidden: true,
      async handle(_, { jobs }) {
        const id = newId('echo_');
        await jobs.enqueue('echo', id);
        return { id };
      },
    }),
    route({ method: 'GET', path: '/v1/echoes', isHidden: true, handle: (_, { finished }) => ({ finished }) }),
  ],
  setup({ services: { jobs }, lifecycle }) {
    const finished = [];
    lifecycle.runs(jobs, {
      kind: 'echo',
      concurrency: 1,
      async runJob(id) {
        finished.push(id);
        return { kind: 'done' };
      },
      abandon: () => undefined,
    });
    return { services: { jobs, finished } };
  },
});
`;

const folder = mkdtempSync(join(tmpdir(), 'extra-plugins-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'hello'));
writeFileSync(join(folder, 'hello/index.ts'), HELLO?.code ?? '');
writeFileSync(join(folder, 'echo.ts'), ECHO);
const EXTRA = `[plugins]\nextra = ["${join(folder, 'hello')}", "${join(folder, 'echo.ts')}"]\n`;

describe('a plugin in a folder outside the repository', () => {
  test('runs like the others', async () => {
    const service = await launchService({
      config: `${EXTRA}[plugin.hello]\ntimes = 3`,
      env: { PLUGINS: 'hello,echo' },
    });
    onTestFinished(async () => void (await service.stop()));
    const answer = await service.fetch('/v1/hello');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ text: 'hello hello hello' });
    expect((await service.fetch('/v1/hello', { headers: {} })).status).toBe(401);
    expect((await service.fetch('/v1/hello', { method: 'PUT' })).status).toBe(405);

    const headers = { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' };
    const post = (name: string, body: unknown) =>
      service.fetch(`/v1/echo/${name}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(await (await post('you', { loud: true })).json()).toEqual({ text: 'HELLO', organization: 'a' });
    const missing = await post('absent', { loud: false });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { message: 'This person is absent.' } });
    const invalid = await post('you', { loud: 'yes' });
    expect(invalid.status).toBe(400);
    expect(await invalid.json()).toMatchObject({ error: { param: 'loud' } });

    const { id } = (await (await service.fetch('/v1/echoes', { method: 'POST', headers })).json()) as {
      id: string;
    };
    expect(id).toMatch(/^echo_[0-9a-f]{32}$/);
    await expect
      .poll(async () => await (await service.fetch('/v1/echoes')).json())
      .toEqual({ finished: [id] });

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
