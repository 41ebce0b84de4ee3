import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { HAS_POSTGRES, type PostgresServer, startPostgres } from '../../tools/harness/servers/postgres.ts';
import {
  LaunchError,
  type LaunchedService,
  type LaunchOptions,
  launchService,
  NO_MODELS,
  NO_RECOGNISER,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { startFakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import { needs } from '../harness/needs.ts';
import { repetitions } from '../harness/tier.ts';

/** The real process and commands with a PostgreSQL server. */

let server: PostgresServer;
/** Database of two nodes, which most tests share. */
let url: string;
let nodes: readonly [LaunchedService, LaunchedService];
/** Key that the first start printed. */
let firstKey: string;
beforeAll(async () => {
  if (!HAS_POSTGRES) return;
  server = await startPostgres();
  url = await server.freshDatabase();
  const config = `operators = ["default"]\n${NO_MODELS}`;
  const first = await launchNode(url, { config });
  nodes = [first, await launchNode(url, { config })];
  firstKey = /^ {4}(sk-\S+)$/m.exec(first.output())?.[1] ?? '';
});
afterAll(async () => {
  // The services stop before their database.
  await Promise.all(nodes?.map((node) => node.stop()) ?? []);
  await server?.close();
});
beforeEach((context) => needs(context, HAS_POSTGRES, 'PostgreSQL'));

const running: LaunchedService[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

function launchNode(url: string, { env, ...options }: LaunchOptions = {}): Promise<LaunchedService> {
  return launchService({
    config: NO_MODELS,
    ...options,
    env: { DATABASE_URL: url, API_KEYS: undefined, PLUGINS: 'speech', ...env },
  });
}

/** Starts a node that is stopped at the end of the test. */
async function launch(url: string, options: LaunchOptions = {}): Promise<LaunchedService> {
  const service = await launchNode(url, options);
  running.push(service);
  return service;
}

/** Runs `bun run keys` or `bun run credits` on a database. @returns its output. */
async function command(name: 'keys' | 'credits', url: string, ...args: string[]): Promise<string> {
  const script = resolve(import.meta.dirname, `../../scripts/${name}.ts`);
  const { PATH, HOME } = process.env;
  const child = Bun.spawn([process.execPath, script, ...args], {
    env: { PATH: PATH ?? '', HOME: HOME ?? '', DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return output;
}

const status = async (service: LaunchedService, key: string) =>
  (await service.fetch('/v1/models', { headers: { 'x-api-key': key } })).status;

test('two nodes share keys that the command creates and revokes, without SQLite in DATA_DIR', async () => {
  const [first, second] = nodes;
  // Only the first start creates a key.
  expect(second.output()).not.toContain('sk-');
  expect(await status(second, firstKey)).toBe(200);

  const created = await command('keys', url, 'create', '--org', 'acme');
  const key = /^ {4}(sk-\S+)$/m.exec(created)?.[1] ?? '';
  const id = /key_[0-9a-f]{32}/.exec(created)?.[0] ?? '';
  for (const service of [first, second]) expect(await status(service, key)).toBe(200);
  await command('keys', url, 'revoke', id);
  // Both nodes looked the key up recently and cache the result for up to 5 s.
  for (const service of [first, second]) await expect.poll(() => status(service, key)).toBe(401);
  expect(await command('keys', url, 'list')).toContain('revoked');
  expect(await Bun.file(`${first.dataDir}/service.sqlite`).exists()).toBe(false);
});

test('of two admins that revoke each other through two nodes, one remains', async () => {
  for (let round = 0; round < repetitions(1, 3); round += 1) {
    const admins = await Promise.all(
      nodes.map(async (node) => {
        const created = await command('keys', url, 'create', '--org', 'acme', '--admin');
        const key = /^ {4}(sk-\S+)$/m.exec(created)?.[1] ?? '';
        expect(await status(node, key)).toBe(200);
        return { node, key, id: /key_[0-9a-f]{32}/.exec(created)?.[0] ?? '' };
      }),
    );
    const revoke = async (by = 0, target = 1) => {
      const headers = { 'x-api-key': admins[by]?.key ?? '' };
      const response = await admins[by]?.node.fetch(`/v1/keys/${admins[target]?.id}`, {
        method: 'DELETE',
        headers,
      });
      return response?.status;
    };
    expect((await Promise.all([revoke(0, 1), revoke(1, 0)])).toSorted()).toEqual([200, 409]);
    const listed = (await command('keys', url, 'list')).split('\n').filter((line) => line.includes('acme'));
    const [active, ...others] = listed.filter((line) => line.includes('active'));
    expect(others).toEqual([]);
    await command('keys', url, 'revoke', active?.split(' ')[0] ?? '');
  }
});

test('credits granted with the command are available immediately', async () => {
  await command('credits', url, 'grant', '--org', 'default', '12.5');
  const credits = await nodes[0].fetch('/v1/credits', { headers: { 'x-api-key': firstKey } });
  expect(await credits.json()).toMatchObject({ object: 'credits', balance: 12.5, reserved: 0 });
});

test('a switch of a plugin applies to all nodes', async () => {
  const [one, other] = nodes;
  const headers = { 'x-api-key': firstKey, 'content-type': 'application/json' };
  const enable = async (node: LaunchedService, enabled: boolean) => {
    const body = JSON.stringify({ enabled });
    const response = await node.fetch('/v1/plugins/speech', { method: 'POST', headers, body });
    expect(response.status).toBe(200);
  };
  const stateOf = async (node: LaunchedService) => {
    const list = (await (await node.fetch('/v1/plugins', { headers })).json()) as PluginList;
    return list.data.find(({ name }) => name === 'speech')?.state;
  };
  await enable(one, false);
  for (const node of nodes) await expect.poll(() => stateOf(node)).toBe('off');
  const body = JSON.stringify({ model: 'svc-tts', input: 'One.' });
  const refused = await other.fetch('/v1/audio/speech', { method: 'POST', headers, body });
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({ error: { code: 'plugin_disabled' } });
  await enable(other, true);
  for (const node of nodes) await expect.poll(() => stateOf(node)).toBe('on');
});

interface PluginList {
  readonly data: readonly { readonly name: string; readonly state: string }[];
}

test('another node closes the call of a killed node, once, and no open call of a running node', async () => {
  const upstream = startFakeUpstream();
  // One second of speech, then a stall.
  upstream.answer(
    () => new Response(new ReadableStream({ start: (it) => it.enqueue(new Uint8Array(48_000)) })),
  );
  const options: LaunchOptions = {
    config: `${NO_RECOGNISER}
      [models."svc-tts"]
      kind = "upstream"
      base_url = "${upstream.baseUrl}"
      model = "any"
      [[prices]]
      endpoint = "/v1/audio/speech"
      model = "svc-tts"
      request = 1`,
    env: { API_KEYS: `${SERVICE_KEY}:a`, PLUGINS: 'speech' },
  };
  const url = await server.freshDatabase();
  await command('credits', url, 'grant', '--org', 'a', '5');
  const [killed, survivor, observer] = await Promise.all([1, 2, 3].map(() => launch(url, options)));
  if (killed === undefined || survivor === undefined || observer === undefined)
    throw new Error('not launched');
  const speak = async (service: LaunchedService) => {
    const response = await service.fetch('/v1/audio/speech', {
      method: 'POST',
      headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc-tts', input: 'One.', response_format: 'pcm' }),
    });
    const reader = response.body?.getReader();
    await reader?.read();
    return reader;
  };
  const credits = async () => (await observer.fetch('/v1/credits')).json();
  const statuses = async () => {
    const page = (await (await observer.fetch('/v1/usage')).json()) as { data: { status: string }[] };
    return page.data.map(({ status }) => status);
  };
  const killedStream = await speak(killed);
  const runningStream = await speak(survivor);
  expect(await credits()).toMatchObject({ balance: 3, reserved: 2 });
  killed.signal('SIGKILL');
  await killed.exited;
  await killedStream?.cancel().catch(() => undefined);
  // The other nodes check the journal every 10 s.
  await expect.poll(statuses, { interval: 500 }).toEqual(['failed']);
  expect(await credits()).toMatchObject({ balance: 4, reserved: 1 });
  await runningStream?.cancel();
  await expect.poll(statuses).toEqual(['cancelled', 'failed']);
  expect(await credits()).toMatchObject({ balance: 4, reserved: 0 });
  await upstream.close();
});

test('the service returns 503 while PostgreSQL is down and recovers after its restart', async () => {
  const [service] = nodes;
  const usage = () => service.fetch('/v1/usage', { headers: { 'x-api-key': firstKey } });
  expect((await usage()).status).toBe(200);
  await server.stop();
  const refused = await usage();
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toMatchObject({ error: { code: 'server_overloaded' } });
  expect((await service.fetch('/healthz')).status).toBe(200);
  await server.start();
  expect((await usage()).status).toBe(200);
  expect(service.output()).not.toContain(server.password);
});

test('an unreachable PostgreSQL server ends the start with one line without the password', async () => {
  const outcome = await launch('postgres://svc:hunter2@127.0.0.1:9/records').catch((error) => error);
  expect(outcome).toBeInstanceOf(LaunchError);
  const { exitCode, output } = outcome as LaunchError;
  expect(exitCode).toBe(1);
  expect(output).toContain('Cannot start: The database records of svc at 127.0.0.1:9 cannot be used: ');
  expect(output).not.toContain('hunter2');
});
