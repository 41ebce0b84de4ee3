import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kit/clock.ts';
import { issueKey } from '../../src/kit/keys/issue-key.ts';
import { apiKeyStore } from '../../src/records/accounts/api-key-store.ts';
import { openSqlite } from '../../src/records/dialects/sqlite-records.ts';
import {
  LaunchError,
  type LaunchedService,
  type LaunchOptions,
  launchService,
  NO_MODELS,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';

const MAIN = join(import.meta.dirname, '../../server/main.ts');
const running: LaunchedService[] = [];
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function launch(options: LaunchOptions = {}): Promise<LaunchedService> {
  // One plugin, because a start of all takes three times as long. An entry file of a test has its own plugins.
  const plugins = options.main === undefined ? { PLUGINS: 'speech' } : {};
  const service = await launchService({
    config: NO_MODELS,
    ...options,
    env: { ...plugins, ...options.env },
  });
  running.push(service);
  return service;
}

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-data-'));
  folders.push(folder);
  return folder;
}

/** Starts the service, which must fail. @returns the error. */
async function launchError(options: LaunchOptions): Promise<LaunchError> {
  const outcome = await launch(options).catch((error: unknown) => error);
  if (outcome instanceof LaunchError) return outcome;
  throw new Error('the service started');
}

describe('a service', () => {
  let service: LaunchedService;
  beforeAll(async () => {
    service = await launchService({
      config: `${NO_MODELS}\n[voices]\nfit_seconds = 5\n`,
      env: {
        PLUGINS: 'speech',
        METRICS_PORT: '0',
        API_KEYS: `${SERVICE_KEY}:a,${'k'.repeat(21)}:a,${'k'.repeat(22)}:a`,
      },
    });
  });
  afterAll(async () => {
    await service?.stop();
  });

  test('serves, reports readiness, and logs JSON lines and a line for people: the addresses of its pages', async () => {
    const { baseUrl } = service;
    expect((await service.fetch('/healthz')).status).toBe(200);
    const readyz = await service.fetch('/readyz');
    expect(await readyz.json()).toMatchObject({ status: 'ready' });
    const line = `Ready. Console: ${baseUrl}/  Guide: ${baseUrl}/docs  API reference: ${baseUrl}/swagger`;
    await expect.poll(() => service.output().split('\n')).toContain(line);
    expect(service.log().map(({ msg }) => msg)).toEqual(expect.arrayContaining(['listening', 'started']));
    for (const path of ['/', '/docs', '/swagger']) expect((await service.fetch(path)).status).toBe(200);
    expect(service.log().find(({ msg }) => msg === 'started')).toMatchObject({ url: baseUrl });
  });

  test('logs short keys of API_KEYS and a key of CONFIG without effect as warnings', () => {
    const lines = (text: string) => service.log().filter(({ msg }) => `${msg}`.includes(text));
    // Keys of less than 22 characters.
    expect(lines('short keys')).toMatchObject([{ level: 'warn', keys: 2 }]);
    expect(lines('without effect')).toMatchObject([{ level: 'warn', keys: 'voices.fit_seconds' }]);
  });

  test('has another port for metrics with METRICS_PORT', async () => {
    expect((await service.fetch('/metrics')).status).toBe(404);
    const port = service.log().find(({ msg }) => msg === 'metrics listening')?.port;
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('process_resident_memory_bytes');
    expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(404);
  });

  test('on the same port does not start', async () => {
    const port = new URL(service.baseUrl).port;
    const dataDir = dataFolder();
    const { exitCode, output } = await launchError({ dataDir, env: { PORT: port, API_KEYS: undefined } });
    expect(exitCode).toBe(1);
    expect(output).toContain(`Cannot start: port ${port} of 127.0.0.1 is in use`);
    // The key of the first start is shown only once, so it is left to a start that succeeds.
    expect(output).not.toContain('sk-');
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('is stopped immediately by SIGTERM with exit code 0', () => expectIdleStop(service, 'SIGTERM'));
});

/** Expects that a signal stops a service without requests. */
async function expectIdleStop(service: LaunchedService, signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
  // An idle keep-alive connection must not delay the exit.
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
  socket.write('GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  service.signal(signal);
  expect(await service.exited).toBe(0);
  expect(service.log().at(-1)).toMatchObject({ msg: 'stopped' });
  socket.destroy();
}

inDeepTier(() => {
  test('SIGINT stops an idle service immediately with exit code 0', async () => {
    await expectIdleStop(await launch(), 'SIGINT');
  });
});

describe('start', () => {
  test('logs readable lines in a terminal', async () => {
    const folder = dataFolder();
    const configPath = join(folder, 'service.toml');
    writeFileSync(configPath, NO_MODELS);
    const decoder = new TextDecoder();
    let output = '';
    const service = Bun.spawn([process.execPath, MAIN], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: join(folder, 'data'), CONFIG: configPath },
      terminal: {
        cols: 200,
        rows: 50,
        data: (_, chunk) => {
          output += decoder.decode(chunk, { stream: true });
        },
      },
    });
    const lines = () => output.split('\r\n');
    await expect.poll(lines).toContainEqual(expect.stringMatching(/^Ready\. Console: http:\S+ {2}Guide: /));
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(lines()).toContainEqual(expect.stringMatching(/^\d\d:\d\d:\d\dZ {2}info {3}listening {2}host=/));
    expect(lines()).toContainEqual(expect.stringMatching(/^ {4}sk-/));
    expect(output).not.toContain('{');
    // The last line of the start, after the lines of the log.
    const started = lines().findIndex((line) => line.includes('started'));
    expect(lines()[started + 1]).toMatch(/^Ready\./);
  });

  const INVALID = [
    [
      'PLUGINS',
      { PLUGINS: 'telepathy' },
      "PLUGINS names 'telepathy', which is not a plugin of this build; allowed: ",
    ],
    ['PORT', { PORT: 'eighty' }, 'PORT must be an integer from 0 to 65535'],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://db/x' }, 'DATABASE_URL'],
    ['CONFIG', { CONFIG: '/no/such.toml' }, '/no/such.toml'],
  ] as const;

  test.each(INVALID.slice(0, repetitions(1, INVALID.length)))(
    'an invalid %s ends the start with one line and exit code 1',
    async (_, env, message) => {
      const { exitCode, output } = await launchError({ env });
      expect(exitCode).toBe(1);
      const lines = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^Cannot start: /);
      expect(lines[0]).toContain(message);
    },
  );

  test('an unknown key in CONFIG ends the start with the allowed keys', async () => {
    const { output } = await launchError({ config: `${NO_MODELS}\n[limit]\nspeech_max_characters = 1` });
    expect(output).toContain("'limit' is unknown; allowed: models, inference, ");
  });
});

describe('PLUGINS', () => {
  const main = join(import.meta.dirname, '../doubles/slow-main.ts');

  const SELECTIONS = [
    ['slow', 404, ['slow']],
    ['extra,slow', 200, ['slow', 'extra']],
    [undefined, 200, ['slow', 'extra']],
  ] as const;

  test.each(SELECTIONS.slice(0, repetitions(1, SELECTIONS.length)))(
    '%s: routes of unlisted plugins return 404 and are not in the OpenAPI document',
    async (names, status, loaded) => {
      const service = await launch({ main, env: { PLUGINS: names } });
      expect((await service.fetch('/v1/extra')).status).toBe(status);
      const { paths } = (await (await service.fetch('/swagger/json')).json()) as { paths: object };
      expect('/v1/extra' in paths).toBe(status === 200);
      const readyz = (await (await service.fetch('/readyz')).json()) as { plugins: object };
      expect(Object.keys(readyz.plugins)).toEqual(loaded);
    },
  );
});

describe('keys', () => {
  const noKeys = { API_KEYS: undefined };

  test('the first start prints a key once; the key works until it is revoked', async () => {
    const dataDir = dataFolder();
    const first = await launch({ dataDir, env: noKeys });
    const key = /^ {4}(sk-\S+)$/m.exec(first.output())?.[1] ?? '';
    expect(key).not.toBe('');
    const withKey = { headers: { 'x-api-key': key } };
    expect((await first.fetch('/v1/models', withKey)).status).toBe(200);
    await first.stop();
    expect(first.log().some((line) => JSON.stringify(line).includes(key))).toBe(false);

    const second = await launch({ dataDir, env: noKeys });
    expect(second.output()).not.toContain('sk-');
    expect((await second.fetch('/v1/models', withKey)).status).toBe(200);

    const list = await keys(dataDir, 'list');
    expect(list.output).toMatch(/^key_[0-9a-f]{32} {2}default {2}admin {2}sk-/);
    expect(list.output).not.toContain(key);
    const id = list.output.split(' ')[0] ?? '';
    expect(await keys(dataDir, 'revoke', id)).toMatchObject({ exitCode: 0 });
    expect((await second.fetch('/v1/models', withKey)).status).toBe(401);
    expect(await keys(dataDir, 'revoke', id)).toMatchObject({ exitCode: 1 });
  });

  test('keys that the command creates work immediately, have a role, and are listed and not stored in plain text', async () => {
    const dataDir = dataFolder();
    const none = await keys(dataDir, 'organizations');
    expect(none).toEqual({ exitCode: 0, output: 'No organizations.\n' });
    const service = await launch({ dataDir });
    for (const [options, role] of [
      [[], 'member'],
      [['--admin'], 'admin'],
    ] as const) {
      const created = await keys(dataDir, 'create', ...options, '--org', 'acme');
      const key = /^ {4}(sk-\S+)$/m.exec(created.output)?.[1] ?? '';
      const response = await service.fetch('/v1/organization', { headers: { 'x-api-key': key } });
      expect(await response.json()).toMatchObject({ id: 'acme', role, operator: false });
      for (const file of ['service.sqlite', 'service.sqlite-wal']) {
        expect(readFileSync(join(dataDir, file)).includes(key)).toBe(false);
      }
    }
    await keys(dataDir, 'create', '--org', 'a');
    const list = await keys(dataDir, 'list');
    for (const role of ['member', 'admin']) expect(list.output).toContain(`  acme  ${role}  sk-`);
    const { output } = await keys(dataDir, 'organizations');
    expect(output.replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY').split('\n')).toEqual([
      'a  since DAY  1 key',
      'acme  since DAY  2 keys',
      'b  since DAY  0 keys',
      '',
    ]);
  });

  const INVALID = [
    ['create', '--org', 'a b'],
    ['create', '--org', 'a', '--owner'],
    ['drop'],
    [],
    ['create'],
    ['create', '--org'],
    ['create', '--admin'],
    ['create', '--org', 'a', '--admin', '--admin'],
    ['revoke'],
    ['list', 'x'],
    ['organizations', 'x'],
  ].map((args) => [args]);

  test.each(INVALID.slice(0, repetitions(2, INVALID.length)))('the command rejects %j', async (args) => {
    const { exitCode, output } = await keys(dataFolder(), ...args);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/Usage:|An organization name consists of/);
    expect(output).not.toContain('    at ');
  });

  test('control characters in the name of a key do not reach the terminal', async () => {
    const dataDir = dataFolder();
    const records = openSqlite(join(dataDir, 'service.sqlite'));
    const key = { organization: 'a', role: 'admin', name: '\u001b[2Jx\nkey_1\u202e' } as const;
    await issueKey(apiKeyStore(records, systemClock), key);
    await records.close();
    const { output } = await keys(dataDir, 'list');
    expect(output).toMatch(
      /^key_\w+ {2}a {2}admin {2}\S+ {2}\S+ {2}active {2}\uFFFD\[2Jx\uFFFDkey_1\uFFFD\n$/,
    );
  });

  async function keys(dataDir: string, ...args: string[]) {
    const tool = Bun.spawn([process.execPath, join(import.meta.dirname, '../../scripts/keys.ts'), ...args], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = (await new Response(tool.stdout).text()) + (await new Response(tool.stderr).text());
    return { exitCode: await tool.exited, output };
  }
});

describe('while the engines load', () => {
  const main = join(import.meta.dirname, '../doubles/loading-main.ts');
  const loading = (env: LaunchOptions['env'] = {}) => launch({ main, until: '/healthz', env });

  test('/healthz is 200, /readyz is 503 with the plugin, requests get 503 with Retry-After, and SIGTERM stops the process with exit code 0', async () => {
    const service = await loading();
    const readyz = await service.fetch('/readyz');
    expect(readyz.status).toBe(503);
    expect(await readyz.json()).toEqual({
      status: 'starting',
      plugins: { waiting: { state: 'starting', ready: false } },
      models: {},
    });
    const refused = await service.fetch('/v1/models');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');

    service.signal('SIGTERM');
    expect(await service.exited).toBe(0);
  });

  test('an engine that fails to load ends the process with exit code 1', async () => {
    const service = await loading({ API_KEYS: undefined });
    service.signal('SIGUSR2');
    expect(await service.exited).toBe(1);
    expect(service.log().at(-1)).toMatchObject({ level: 'error', msg: 'start failed' });
    expect(service.output()).not.toContain('sk-');
  });
});

describe('stop with a running request', () => {
  const main = join(import.meta.dirname, '../doubles/slow-main.ts');
  const messages = (service: LaunchedService) => service.log().map(({ msg }) => msg);
  /** Signals within a second of the first count as the first, so the signal is repeated. */
  const signalUntilExit = async (service: LaunchedService) => {
    let hasExited = false;
    void service.exited.then(() => {
      hasExited = true;
    });
    await expect
      .poll(() => {
        service.signal('SIGTERM');
        return hasExited;
      })
      .toBe(true);
  };

  test('finishes the request, rejects new requests with 503, and exits with 0', async () => {
    const dataDir = dataFolder();
    const service = await launch({ main, dataDir });
    const running = await service.fetch('/v1/slow/8');
    expect(running.status).toBe(200);
    service.signal('SIGTERM');
    await expect.poll(() => messages(service)).toContain('draining');

    const refused = await service.fetch('/v1/models');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('connection')).toBe('close');
    expect((await service.fetch('/readyz')).status).toBe(503);
    expect((await service.fetch('/healthz')).status).toBe(200);

    service.signal('SIGUSR2');
    expect(await running.text()).toBe('0\n1\n2\n3\n4\n5\n6\n7\n');
    expect(await service.exited).toBe(0);
    expect(messages(service).slice(-2)).toEqual(['closing', 'stopped']);

    // The usage row of the last request was stored before the database was closed.
    const next = await launch({ main, dataDir });
    expect(await (await next.fetch('/v1/usage')).json()).toMatchObject({ data: [{ model: 'slow' }] });
  });

  test('accepts requests for SHUTDOWN_DRAIN_MS while /readyz is 503, then stops', async () => {
    // Longer than a stall, so that the requests arrive within this time.
    const service = await launch({ main, env: { SHUTDOWN_DRAIN_MS: '5000' } });
    service.signal('SIGTERM');
    await expect.poll(async () => (await service.fetch('/readyz')).status).toBe(503);
    // A load balancer that has not polled /readyz yet still sends requests, also ones with a body and streams.
    const accepted = await service.fetch('/v1/models');
    expect(accepted.status).toBe(200);
    expect(accepted.headers.get('connection')).toBe('close');
    const stream = await service.fetch('/v1/slow/30');
    expect(stream.status).toBe(200);
    service.signal('SIGUSR2');
    expect(await stream.text()).toContain('29\n');
    expect(await service.exited).toBe(0);
    expect(messages(service).filter((it) => it === 'stopping')).toHaveLength(1);
    expect(messages(service)).not.toContain('grace time is over');
  });

  inDeepTier(() => {
    test('a second signal ends the drain time and exits with 1', async () => {
      const service = await launch({ main, env: { SHUTDOWN_DRAIN_MS: '3600000' } });
      service.signal('SIGTERM');
      await expect.poll(async () => (await service.fetch('/readyz')).status).toBe(503);
      await signalUntilExit(service);
      expect(await service.exited).toBe(1);
    });
  });

  test('one Ctrl-C that arrives twice, from the terminal and from the package runner, is one request', async () => {
    const service = await launch({ main });
    const running = await service.fetch('/v1/slow/8');
    service.signal('SIGINT');
    service.signal('SIGINT');
    await expect.poll(() => messages(service)).toContain('draining');
    service.signal('SIGUSR2');
    expect(await running.text()).toContain('7\n');
    expect(await service.exited).toBe(0);
  });

  test('aborts the request after SHUTDOWN_GRACE_MS and exits with 0', async () => {
    const service = await launch({ main, env: { SHUTDOWN_GRACE_MS: '300' } });
    const running = await service.fetch('/v1/slow/600');
    const text = running.text().catch(() => 'cut off');
    service.signal('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(await text).not.toContain('599');
    expect(messages(service)).toContain('grace time is over');
  });

  test('a second signal aborts the request and exits with 1', async () => {
    const service = await launch({ main });
    const running = await service.fetch('/v1/slow/600');
    const text = running.text().catch(() => 'cut off');
    service.signal('SIGTERM');
    await expect.poll(() => messages(service)).toContain('draining');
    await signalUntilExit(service);
    expect(await service.exited).toBe(1);
    await text;
  });
});
