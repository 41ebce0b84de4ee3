import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import {
  type LaunchedService,
  launchService,
  NO_TEXT,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import {
  type FakeSttUpstream,
  startFakeSttUpstream,
} from '../../tools/harness/upstreams/fake-stt-upstream.ts';
import { type FakeUpstream, startFakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import { IS_DEEP_TIER, repetitions } from '../harness/tier.ts';

/** Usage and credits of the real process, including after SIGKILL. */

const CREDITS = join(import.meta.dirname, '../../scripts/credits.ts');
/** One second of PCM at 24 kHz. */
const SECOND = new Uint8Array(48_000).fill(1);

let upstream: FakeUpstream;
let sttUpstream: FakeSttUpstream;
let dataDir: string;
const running: LaunchedService[] = [];
beforeEach(() => {
  upstream = startFakeUpstream();
  sttUpstream = startFakeSttUpstream();
  dataDir = mkdtempSync(join(tmpdir(), 'accounts-test-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
  await upstream.close();
  await sttUpstream.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The service with fake upstreams. Speech costs 0.1 credits per character, transcription 1 credit per second. */
async function launch(): Promise<LaunchedService> {
  const config = `
    [models."svc-tts"]
    kind = "upstream"
    base_url = "${upstream.baseUrl}"
    model = "any"
    [[prices]]
    endpoint = "/v1/audio/speech"
    model = "svc-tts"
    character = 0.1
    [models."svc-stt"]
    kind = "upstream"
    base_url = "${sttUpstream.baseUrl}"
    model = "any"
    [[prices]]
    endpoint = "/v1/audio/transcriptions"
    model = "svc-stt"
    audio_second = 1
    ${NO_TEXT}`;
  const service = await launchService({ config, dataDir, env: { PLUGINS: 'speech,realtime' } });
  running.push(service);
  return service;
}

/** Runs `bun run credits` on the same database. @returns exit code and output. */
async function credits(...args: string[]): Promise<{ code: number; text: string }> {
  const { PATH, HOME } = process.env;
  const tool = Bun.spawn([process.execPath, CREDITS, ...args], {
    cwd: dataDir,
    env: { PATH: PATH ?? '', HOME: HOME ?? '', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors] = await Promise.all([
    new Response(tool.stdout).text(),
    new Response(tool.stderr).text(),
  ]);
  return { code: await tool.exited, text: (out + errors).trim() };
}

/** Interval of the chunks of an endless speech. */
const PACE_MS = 20;

/** Makes the upstream stream speech until it is cancelled. */
function streamWithoutEnd(): void {
  upstream.answer(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(SECOND),
          pull: async (controller) => {
            await Bun.sleep(PACE_MS);
            controller.enqueue(SECOND.subarray(0, 480));
          },
        }),
      ),
  );
}

const speak = (service: LaunchedService, input: string, init: RequestInit = {}) =>
  service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-tts', input, response_format: 'pcm' }),
    ...init,
  });
const rows = async (service: LaunchedService) =>
  ((await (await service.fetch('/v1/usage')).json()) as { data: Record<string, unknown>[] }).data;
const balance = async (service: LaunchedService) => (await service.fetch('/v1/credits')).json();

const connect = (service: LaunchedService) =>
  RealtimeClient.connect(`${service.baseUrl.replace('http', 'ws')}/v1/realtime`, {
    headers: { authorization: `Bearer ${SERVICE_KEY}` },
  });
/** 0.5 s of PCM at 24 kHz. */
const audio = Buffer.alloc(24_000).toString('base64');
const commit = async (client: RealtimeClient) => {
  client.send({ type: 'input_audio_buffer.append', audio });
  client.send({ type: 'input_audio_buffer.commit' });
  await client.next('input_audio_buffer.committed');
};

test('a killed process leaves a failed usage row for each call and queued turn; the next start releases the reservations', async () => {
  await credits('grant', '--org', 'a', '10');
  const first = await launch();
  streamWithoutEnd();
  const response = await speak(first, 'Ten chars.');
  const reader = response.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  expect(await rows(first)).toEqual([]);
  expect(await balance(first)).toEqual({ object: 'credits', balance: 9, reserved: 1 });
  sttUpstream.answer(() => new Promise(() => undefined));
  const client = await connect(first);
  for (let turn = 0; turn < 3; turn += 1) await commit(client);
  await expect.poll(() => balance(first)).toEqual({ object: 'credits', balance: 7.5, reserved: 2.5 });
  await expect.poll(() => sttUpstream.seen.length).toBe(1);
  first.signal('SIGKILL');
  await first.exited;
  await reader?.cancel().catch(() => undefined);
  await client.close();

  const second = await launch();
  const left = await rows(second);
  expect(left.filter(({ endpoint }) => endpoint === '/v1/audio/speech')).toMatchObject([
    {
      model: 'svc-tts',
      status: 'failed',
      input_tokens: 0,
      output_tokens: 0,
      request_id: response.headers.get('x-request-id'),
    },
  ]);
  expect(left.filter(({ endpoint }) => endpoint === '/v1/audio/transcriptions')).toMatchObject(
    new Array(3).fill({ status: 'failed', input_tokens: 0 }),
  );
  expect(left).toHaveLength(4);
  expect(await balance(second)).toEqual({ object: 'credits', balance: 10, reserved: 0 });
  if (!IS_DEEP_TIER) return;
  await second.stop();
  const third = await launch();
  expect(await rows(third)).toHaveLength(4);
});

describe('realtime turns', () => {
  test('fail with the required credits when the balance is too low; the session continues', async () => {
    await credits('grant', '--org', 'a', '0.75');
    const service = await launch();
    const client = await connect(service);
    await commit(client);
    await client.next('conversation.item.input_audio_transcription.completed');
    await commit(client);
    const { error } = await client.next('conversation.item.input_audio_transcription.failed');
    expect(error).toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('may cost up to 0.5, and 0.25 are available'),
    });
    client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
    const content = [{ type: 'input_text', text: 'Ten chars.' }];
    client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
    client.send({ type: 'response.create' });
    const { response } = await client.next('response.done');
    expect(response).toMatchObject({
      status: 'failed',
      status_details: { error: { message: expect.stringContaining('may cost up to 1,') } },
    });
    expect(sttUpstream.seen).toHaveLength(1);
    expect(await rows(service)).toMatchObject([{ status: 'completed', audio_seconds: 0.5 }]);
    await client.close();
  });
});

test('a revoked key cannot start requests; its running stream and connection continue', async () => {
  await credits('grant', '--org', 'a', '100');
  const service = await launch();
  const JSON_TYPE = { 'content-type': 'application/json' };
  const created = await service.fetch('/v1/keys', {
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-api-key': SERVICE_KEY },
    body: JSON.stringify({ role: 'admin' }),
  });
  const { id, key } = (await created.json()) as { id: string; key: string };
  const headers = { ...JSON_TYPE, 'x-api-key': key };
  streamWithoutEnd();
  const speech = await speak(service, 'Ten chars.', { headers });
  const reader = speech.body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  const url = `${service.baseUrl.replace('http', 'ws')}/v1/realtime`;
  const client = await RealtimeClient.connect(url, { headers: { 'x-api-key': key } });
  await client.next('session.created');

  const revoked = await service.fetch(`/v1/keys/${id}`, { method: 'DELETE' });
  expect(revoked.status).toBe(200);
  expect((await speak(service, 'Ten chars.', { headers })).status).toBe(401);
  await expect(RealtimeClient.connect(url, { headers: { 'x-api-key': key } })).rejects.toThrow('rejected');
  for (let read = 0; read < 10; read += 1) expect((await reader?.read())?.done).toBe(false);
  client.send({ type: 'session.update', session: { output_modalities: ['text'] } });
  await client.next('session.updated');
  await reader?.cancel();
  await client.close();
});

describe('credits', () => {
  test('are granted, reserved, charged and reported', async () => {
    expect(await credits('balance', '--org', 'a')).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^available +0\n/),
    });
    const service = await launch();
    const refused = await speak(service, 'Ten chars.');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual({
      error: {
        message:
          'Insufficient credits: this request may cost up to 1, and 0 are available. Request less or add credits.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    });
    expect(upstream.seen.filter(({ path }) => path.endsWith('/speech'))).toEqual([]);

    // A running service applies a grant immediately.
    const grant = await credits('grant', '--org', 'a', '1.5');
    expect(grant).toEqual({ code: 0, text: "'a' received 1.5 credits and has 1.5 available." });
    expect(await balance(service)).toMatchObject({ balance: 1.5 });
    upstream.answer(() => new Response(SECOND));
    expect((await (await speak(service, 'Ten chars.')).bytes()).length).toBe(48_000);
    expect(await balance(service)).toEqual({ object: 'credits', balance: 0.5, reserved: 0 });
    expect((await speak(service, 'Ten chars.')).status).toBe(429);
    const otherOrganization = { headers: { 'x-api-key': OTHER_KEY } };
    expect(await (await service.fetch('/v1/credits', otherOrganization)).json()).toMatchObject({
      balance: 0,
    });
    expect(await rows(service)).toMatchObject([{ status: 'completed', characters: 10 }]);

    const { text } = await credits('history', '--org', 'a');
    expect(text.split('\n').map((line) => line.replace(/^.{19} +/, ''))).toEqual([
      expect.stringMatching(/^settle +reserved -1 +revenue \+1 +usage_[0-9a-f]{32}$/),
      expect.stringMatching(/^reserve +available -1 +reserved \+1 +usage_[0-9a-f]{32}$/),
      expect.stringMatching(/^grant +available \+1\.5 +granted -1\.5$/),
    ]);
  });

  const INVALID: [string[], string][] = [
    [['grant', '--org', 'a', '0'], 'AMOUNT must be'],
    [['grant', '--org', 'a b', '1'], 'An organization name consists of 1 to 64'],
    [['take', '--org', 'a'], 'Usage:'],
    [['grant', '--org', 'a', '1000000001'], 'can be granted at most 1000000000 credits'],
    [['grant', '--org', 'a'], 'Usage:'],
    [['grant', '--org', 'a', '-1'], 'AMOUNT must be'],
    [['balance', 'a'], 'Usage:'],
  ];
  test.each(INVALID.slice(0, repetitions(4, INVALID.length)))(
    'the command rejects %j',
    async (args, message) => {
      const { code, text } = await credits(...args);
      expect(code).toBe(1);
      expect(text).toContain(message);
    },
  );
});
