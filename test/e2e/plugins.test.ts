import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import {
  childrenOf,
  INFERENCE,
  type LaunchOptions,
  NO_MODELS,
  NO_RECOGNISER,
  SERVICE_KEY,
  speakStreamed,
} from '../../tools/harness/services/launcher.ts';
import {
  launchPluginService,
  load,
  type PluginService,
} from '../../tools/harness/services/plugin-service.ts';
import { tempDir } from '../harness/temp-dir.ts';
import { IS_DEEP_TIER, inDeepTier, repetitions } from '../harness/tier.ts';

/**
 * Switches plugins of a running service off and on. postgres.test.ts switches one of two processes. Loading models takes
 * minutes on a busy machine.
 */

const ROOT = resolve(import.meta.dirname, '../..');
/** Small real models, and none for transcription. `svc-tts` is only used by plugins that synthesize speech, so it is unloaded with the last of them. */
const SMALL_MODELS = `
[models."svc-tts"]
kind = "piper"
[models."all-minilm-l6-v2"]
kind = "minilm"
[models."smollm2-135m-instruct"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
[inference]
workers = 1
${NO_RECOGNISER}`;
/** Number of times that speech is switched on and off. */
const ROUNDS = repetitions(1, 3);
/** Minimum numbers of requests during the switches. */
const EMBEDDINGS = repetitions(3, 10);
const CONVERSATIONS = repetitions(2, 3);
/** Pause between the requests during a switch, because continuous requests would delay the switch. */
const PAUSE_MS = 200;
const TEXT =
  'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them. ';

const running: PluginService[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

async function launch(options: LaunchOptions = {}): Promise<PluginService> {
  const service = await launchPluginService({ config: NO_MODELS, ...options });
  running.push(service);
  return service;
}

/** Runs `bun run plugins` on the database of a folder. */
async function command(dataDir: string, ...args: string[]): Promise<{ exitCode: number; output: string }> {
  const { PATH, HOME } = process.env;
  const child = Bun.spawn([process.execPath, join(ROOT, 'scripts/plugins.ts'), ...args], {
    cwd: dataDir,
    env: { ...(PATH && { PATH }), ...(HOME && { HOME }), DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: out + err };
}

async function errorOf(response: Response): Promise<{ readonly status: number; readonly code: unknown }> {
  const { error } = (await response.json()) as { error: { code: unknown } };
  return { status: response.status, code: error.code };
}

const DISABLED = { status: 404, code: 'plugin_disabled' };

async function embed(service: PluginService): Promise<void> {
  const response = await service.post('/v1/embeddings', { model: 'all-minilm-l6-v2', input: TEXT });
  const body = (await response.json()) as { data?: { embedding: number[] }[] };
  if (body.data?.[0]?.embedding.length !== 384)
    throw new Error(`${response.status}: ${JSON.stringify(body)}`);
}

const openRealtime = (service: PluginService) =>
  RealtimeClient.connect(`${service.baseUrl.replace('http', 'ws')}/v1/realtime`, {
    headers: { authorization: `Bearer ${SERVICE_KEY}` },
    timeoutMs: 60_000,
  });

/** Requests one spoken response over an open connection. */
async function speakOver(client: RealtimeClient, text: string): Promise<void> {
  client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
  const content = [{ type: 'input_text', text }];
  client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
  client.send({ type: 'response.create' });
  const done = await client.next('response.done');
  expect(done).toMatchObject({ response: { status: 'completed' } });
}

// One process for all tests, and the tests that keep the models loaded first, because it takes seconds to load them.
describe('speech, realtime and embeddings share inference processes', () => {
  let service: PluginService;
  beforeAll(async () => {
    service = await launchPluginService({
      config: SMALL_MODELS,
      env: { PLUGINS: 'speech,realtime,responses' },
    });
  });
  afterAll(async () => {
    await service?.stop();
  });
  const loadWithPauses = (request: () => Promise<void>, atLeast: number) =>
    load(async () => {
      await request();
      await Bun.sleep(PAUSE_MS);
    }, atLeast);

  test('realtime conversations with the same models continue while speech is switched', async () => {
    const processes = childrenOf(service.pid, INFERENCE);
    const client = await openRealtime(service);
    await client.next('session.created');
    const conversation = loadWithPauses(() => speakOver(client, 'All is well.'), CONVERSATIONS);
    const embeddings = loadWithPauses(() => embed(service), EMBEDDINGS);
    for (let round = 0; round < ROUNDS; round += 1) {
      await service.switch('speech', false);
      expect(await errorOf(await speakStreamed(service, TEXT))).toEqual(DISABLED);
      await service.switch('speech', true);
      expect((await (await speakStreamed(service, 'All is well.')).bytes()).length).toBeGreaterThan(10_000);
    }
    expect(await conversation.stop()).toEqual([]);
    expect(await embeddings.stop()).toEqual([]);
    await client.close('quiet');
    // The models of realtime stayed loaded.
    expect(childrenOf(service.pid, INFERENCE)).toEqual(processes);
  });

  test('switching realtime off completes open responses, closes connections and rejects new ones', async () => {
    // The models stay loaded for speech.
    const [idle, busy] = [await openRealtime(service), await openRealtime(service)];
    await idle.next('session.created');
    const speaking = speakOver(busy, TEXT);
    await busy.until(() => busy.events.some(({ type }) => type === 'response.audio.delta'));
    await service.requestSwitch('realtime', false);
    expect((await idle.closed).code).toBe(1001);
    await speaking;
    expect((await busy.closed).code).toBe(1001);
    await Promise.all([idle.close(), busy.close()]);
    await service.until('realtime', 'off');
    expect(await errorOf(await service.fetch('/v1/realtime'))).toEqual(DISABLED);
    await service.switch('realtime', true);
    const again = await openRealtime(service);
    await speakOver(again, 'Back again.');
    await again.close('quiet');
  });

  inDeepTier(() => {
    test('switches of speech fail no other request', async () => {
      // The model of speech is unloaded with it.
      await service.switch('realtime', false);
      const embeddings = loadWithPauses(() => embed(service), EMBEDDINGS);
      for (let round = 0; round < ROUNDS; round += 1) {
        expect(await service.plugin('speech')).toMatchObject({
          enabled: true,
          state: 'on',
          switchable: true,
        });
        const complete = await (await speakStreamed(service, TEXT)).bytes();
        const response = await speakStreamed(service, TEXT);
        expect(response.status).toBe(200);
        expect(await (await service.requestSwitch('speech', false)).json()).toMatchObject({ enabled: false });
        expect([{ status: 503, code: 'plugin_stopping' }, DISABLED]).toContainEqual(
          await errorOf(await speakStreamed(service, TEXT)),
        );
        expect((await response.bytes()).length).toBe(complete.length);
        await service.until('speech', 'off');
        expect(await errorOf(await speakStreamed(service, TEXT))).toEqual(DISABLED);
        expect(await service.plugin('speech')).toMatchObject({
          enabled: false,
          state: 'off',
          switchable: true,
        });
        await service.switch('speech', true);
        expect((await (await speakStreamed(service, 'All is well.')).bytes()).length).toBeGreaterThan(10_000);
      }
      expect(await embeddings.stop()).toEqual([]);
      expect(childrenOf(service.pid, INFERENCE)).toHaveLength(1);
    });
  });

  test('a plugin that is not loaded cannot be switched on', async () => {
    expect(await service.plugin('batch')).toMatchObject({ state: 'off', switchable: false });
    expect(await errorOf(await service.requestSwitch('batch', true))).toEqual({
      status: 409,
      code: 'plugin_not_loaded',
    });
  });

  test('the inference process ends with the last plugin that uses a model', async () => {
    await service.switch('realtime', false);
    // The plugin 'batch', which depends on 'responses', is not loaded.
    await service.switch('responses', false);
    expect(childrenOf(service.pid, INFERENCE)).toHaveLength(1);
    await service.switch('speech', false);
    expect(childrenOf(service.pid)).toEqual([]);
    await service.switch('responses', true);
    await embed(service);
    expect(childrenOf(service.pid, INFERENCE)).toHaveLength(1);
  });
});

describe('without models', () => {
  let dataDir: string;
  let service: PluginService;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'plugins-test-'));
    service = await launchPluginService({ config: NO_MODELS, dataDir });
  });
  afterAll(async () => {
    await service?.stop();
    await rm(dataDir, { recursive: true });
  });

  const paths = async (service: PluginService) => {
    const document = (await (await service.fetch('/swagger/json')).json()) as { paths: object };
    return Object.keys(document.paths);
  };
  const metricsOf = async (service: PluginService) => (await service.fetch('/metrics')).text();
  const models = async (service: PluginService) => {
    const { data } = (await (await service.fetch('/v1/models')).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };

  // First, because the list shows which plugins were never switched.
  test('the desired state can be set by `bun run plugins` and is applied without a restart', async () => {
    expect(await command(dataDir, 'disable', 'speech')).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining(`'speech' is switched off in ${dataDir}/`),
    });
    await service.until('speech', 'off');
    expect((await command(dataDir, 'list')).output).toMatch(/^speech +off +since .*\nvoices +on$/m);
    expect(await command(dataDir, 'enable', 'speech')).toMatchObject({ exitCode: 0 });
    await service.until('speech', 'on');
    expect(await command(dataDir, 'disable', 'responses')).toMatchObject({
      exitCode: 1,
      output: "Plugin 'batch' depends on 'responses'. Disable 'batch' first.\n",
    });
    expect(await command(dataDir, 'disable', 'telepathy')).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining("Unknown plugin 'telepathy'; allowed: speech, voices"),
    });
    expect(await command(dataDir, 'disable')).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('Usage:'),
    });
  });

  test('documentation, models, readiness, metrics and the plugin list are updated after a switch', async () => {
    expect(await paths(service)).toContain('/v1/videos');
    expect(await models(service)).toContain('vid-2.0');
    await service.switch('video', false);
    expect(await paths(service)).not.toContain('/v1/videos');
    expect(await models(service)).not.toContain('vid-2.0');
    expect(await service.plugin('video')).toMatchObject({
      state: 'off',
      routes: expect.arrayContaining(['/v1/videos']),
    });
    const ready = await service.fetch('/readyz');
    expect(ready.status).toBe(200);
    expect(((await ready.json()) as { plugins: object }).plugins).not.toHaveProperty('video');
    const without = await metricsOf(service);
    expect(without).toMatch(/^plugin_state\{plugin="video",state="off"\} 1$/m);
    expect(without).not.toMatch(/^videos_open /m);
    await service.switch('video', true);
    expect(await paths(service)).toContain('/v1/videos');
    expect(await models(service)).toContain('vid-2.0');
    const metrics = await metricsOf(service);
    expect(metrics).toMatch(/^videos_open 0$/m);
    expect(metrics.match(/^# TYPE videos_open gauge$/gm)).toHaveLength(1);
    expect(service.log().filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('every plugin can be switched off and on again', async () => {
    const { data } = (await (await service.fetch('/v1/plugins')).json()) as { data: { name: string }[] };
    // Dependencies are switched off last and on first.
    const names = data
      .map(({ name }) => name)
      .sort((one, other) => Number(one === 'responses') - Number(other === 'responses'));
    for (const name of names) await service.switch(name, false);
    expect(childrenOf(service.pid)).toEqual([]);
    expect(await models(service)).toEqual([]);
    for (const name of names.toReversed()) expect((await service.requestSwitch(name, true)).status).toBe(200);
    for (const name of names) await service.until(name, 'on');
    expect((await service.fetch('/v1/batches')).status).toBe(200);
    expect(service.log().filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('a plugin that another one depends on stays on, and the error names both', async () => {
    const response = await service.requestSwitch('responses', false);
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({
      error: { code: 'plugin_needed', message: expect.stringMatching(/'batch' depends on 'responses'/) },
    });
    expect(await service.plugin('responses')).toMatchObject({
      enabled: true,
      state: 'on',
      needed_by: ['batch'],
    });
  });

  test('the desired state can only be changed by an operator', async () => {
    const response = await service.fetch('/v1/plugins/speech', {
      method: 'POST',
      headers: { 'x-api-key': 'test-key-of-b', 'content-type': 'application/json' },
      body: '{"enabled":false}',
    });
    expect(await errorOf(response)).toEqual({ status: 403, code: 'permission_denied' });
    expect(await service.plugin('speech')).toMatchObject({ enabled: true, state: 'on' });
  });
});

describe('the desired state', () => {
  test('survives a crash of the process', async () => {
    const dataDir = await tempDir();
    const options = { dataDir, env: { PLUGINS: 'speech' } };
    const first = await launch(options);
    await first.requestSwitch('speech', false);
    first.signal('SIGKILL');
    await first.exited;
    const second = await launch(options);
    expect(await second.plugin('speech')).toMatchObject({ enabled: false, state: 'off' });
    expect(await errorOf(await speakStreamed(second, TEXT))).toEqual(DISABLED);
    if (!IS_DEEP_TIER) return;
    await second.requestSwitch('speech', true);
    second.signal('SIGKILL');
    await second.exited;
    const third = await launch(options);
    expect(await third.plugin('speech')).toMatchObject({ enabled: true, state: 'on' });
    expect(await third.stop()).toBe(0);
  });
});
