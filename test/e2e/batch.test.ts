import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { HAS_PIP, runPython } from '../../tools/harness/clients/python.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import type { FakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import { startScriptedTextUpstream } from '../../tools/harness/upstreams/scripted-text-upstream.ts';
import { needs } from '../harness/needs.ts';
import { tempDir } from '../harness/temp-dir.ts';

/** The OpenAI SDK against the real process: create, poll and download batches. */

const CHAT_MODEL = 'smollm2-135m-instruct';
const EMBED_MODEL = 'all-minilm-l6-v2';
/** Without the others, a start takes half the processor time. */
const PLUGINS = 'batch,responses';

let upstream: FakeUpstream;
let service: LaunchedService;
let client: OpenAI;
let sent: string[] = [];

beforeAll(async () => {
  upstream = startScriptedTextUpstream();
  service = await launchService({ config: configOfUpstream(), env: { PLUGINS } });
  client = new OpenAI({
    apiKey: SERVICE_KEY,
    baseURL: `${service.baseUrl}/v1`,
    fetch: (url, init) => {
      sent.push(`${init?.method} ${new URL(String(url)).pathname}`);
      return fetch(url, init);
    },
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

/** A CONFIG whose text models are served by the upstream. */
function configOfUpstream(): string {
  const model = (id: string, task: string) => `
    [models."${id}"]
    kind = "upstream"
    task = "${task}"
    base_url = "${upstream.baseUrl}"
    model = "there"
  `;
  return NO_SPEAKER + NO_RECOGNISER + model(CHAT_MODEL, 'chat') + model(EMBED_MODEL, 'embeddings');
}

const upload = async (lines: readonly unknown[], by = client) =>
  by.files.create({
    purpose: 'batch',
    file: await toFile(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')), 'lines.jsonl'),
  });

async function waitForEnd(id: string, by = client) {
  await expect
    .poll(async () => (await by.batches.retrieve(id)).status, { interval: 50 })
    .toMatch(/^(completed|failed|expired|cancelled)$/);
  return by.batches.retrieve(id);
}

interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { readonly request_id: string; readonly body: object };
  readonly error: { readonly code: string };
}

/** Lines of a result file by their `custom_id`. */
async function download(file: string | null | undefined, by = client) {
  if (typeof file !== 'string') throw new Error('the batch has no such file');
  const text = await (await by.files.content(file)).text();
  expect(text.endsWith('\n')).toBe(true);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line): ResultLine => JSON.parse(line));
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
  return new Map(lines.map((line) => [line.custom_id, line]));
}

const chat = (content: string, fields: object = {}) => ({
  model: CHAT_MODEL,
  messages: [{ role: 'user', content }],
  ...fields,
});

describe('a batch', () => {
  test('of chat completions writes results and errors to separate files', async () => {
    const input = await upload([
      { custom_id: 'good', method: 'POST', url: '/v1/chat/completions', body: chat('Name three birds.') },
      { custom_id: 'streamed', body: chat('Name three birds.', { stream: true }) },
      { custom_id: 'unknown', body: { ...chat('x'), model: 'no-such-model' } },
      { custom_id: 'wrong', body: { model: CHAT_MODEL, messages: 'x' } },
    ]);
    expect(await client.files.waitForProcessing(input.id)).toMatchObject({ purpose: 'batch' });
    const created = await client.batches.create({
      input_file_id: input.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      metadata: { topic: 'birds' },
      output_expires_after: { anchor: 'created_at', seconds: 7200 },
    });
    expect(created).toMatchObject({ status: 'validating', metadata: { topic: 'birds' } });
    const batch = await waitForEnd(created.id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 4, completed: 2, failed: 2 },
      usage: { input_tokens: 40, output_tokens: 18, total_tokens: 58 },
      errors: null,
    });
    for (const time of [batch.in_progress_at, batch.finalizing_at, batch.completed_at]) {
      expect(time).toBeGreaterThanOrEqual(batch.created_at);
    }

    const output = await download(batch.output_file_id);
    expect([...output.keys()].sort()).toEqual(['good', 'streamed']);
    for (const line of output.values()) {
      expect(line).toMatchObject({
        id: expect.stringMatching(/^batch_req_/),
        response: {
          status_code: 200,
          request_id: expect.stringMatching(/^req_/),
          body: { object: 'chat.completion', choices: [{ message: { content: 'Robin, wren, swift.' } }] },
        },
        error: null,
      });
    }
    const errors = await download(batch.error_file_id);
    expect(errors.get('unknown')).toMatchObject({ response: null, error: { code: 'model_not_found' } });
    expect(errors.get('wrong')).toMatchObject({ response: null, error: { code: 'invalid_type' } });
    expect(errors.size).toBe(2);

    const outputFile = await client.files.retrieve(batch.output_file_id ?? '');
    expect(outputFile).toMatchObject({ purpose: 'batch_output', filename: `${batch.id}_output.jsonl` });
    expect((outputFile.expires_at ?? 0) - outputFile.created_at).toBe(7200);
    const names: string[] = [];
    for await (const { filename } of client.files.list({ purpose: 'batch_output', limit: 1 })) {
      names.push(filename);
    }
    expect(names).toContain(`${batch.id}_error.jsonl`);
  });

  test('of embeddings or responses has the endpoint response and one usage row per line', async () => {
    for (const [endpoint, body, expected] of [
      [
        '/v1/embeddings',
        { model: EMBED_MODEL, input: 'The cat sat.', encoding_format: 'float' },
        { object: 'list', data: [{ embedding: [0.5, 0.5, 0.5, 0.5] }] },
      ],
      [
        '/v1/responses',
        { model: CHAT_MODEL, input: 'Name three birds.' },
        { object: 'response', status: 'completed', output_text: 'Robin, wren, swift.' },
      ],
    ] as const) {
      const before = await rowsOf(endpoint);
      const input = await upload(['1', '2', '3'].map((custom_id) => ({ custom_id, body })));
      const batch = await waitForEnd((await client.batches.create(batchOf(input.id, endpoint))).id);
      expect(batch).toMatchObject({ status: 'completed', model: body.model, error_file_id: null });
      const output = await download(batch.output_file_id);
      expect([...output.keys()].sort()).toEqual(['1', '2', '3']);
      for (const line of output.values()) expect(line.response.body).toMatchObject(expected);
      const rows = (await rowsOf(endpoint)).slice(0, -before.length || undefined);
      const ids = [...output.values()].map(({ response }) => response.request_id);
      expect(rows.map(({ request_id }) => request_id).sort()).toEqual(ids.sort());
    }
  });

  test('without successful lines has no output file', async () => {
    const input = await upload([{ custom_id: '1', body: { model: 'none', input: 'x' } }]);
    const batch = await waitForEnd((await client.batches.create(batchOf(input.id, '/v1/embeddings'))).id);
    expect(batch).toMatchObject({ status: 'completed', output_file_id: null, usage: null });
    expect((await download(batch.error_file_id)).size).toBe(1);
  });

  test('with invalid input lines fails and reports line and parameter', async () => {
    const input = await upload([
      { custom_id: '1', body: { model: EMBED_MODEL, input: 'x' } },
      { custom_id: '1', url: '/v1/responses', body: { model: EMBED_MODEL, input: 'x' } },
      { custom_id: '3', body: {} },
    ]);
    const batch = await waitForEnd((await client.batches.create(batchOf(input.id, '/v1/embeddings'))).id);
    expect(batch).toMatchObject({
      status: 'failed',
      output_file_id: null,
      error_file_id: null,
      request_counts: { total: 0, completed: 0, failed: 0 },
    });
    const inputErrors = batch.errors?.data?.map(({ code, line, param }) => [code, line, param]);
    expect(inputErrors).toContainEqual(['duplicate_custom_id', 2, 'custom_id']);
    expect(inputErrors).toContainEqual(['invalid_url', 2, 'url']);
    expect(inputErrors).toContainEqual(['missing_required_parameter', 3, 'body.model']);
  });

  test('that is cancelled keeps its results and reports batch_cancelled for other lines', async () => {
    const release = Promise.withResolvers<void>();
    upstream.answer(async ({ input }) => {
      if (input === 'slow' || (Array.isArray(input) && input.includes('slow'))) await release.promise;
      return embedded();
    });
    const line = (custom_id: string, input: string) => ({ custom_id, body: { model: EMBED_MODEL, input } });
    const quick = Array.from({ length: 5 }, (_, at) => line(`quick${at}`, 'quick'));
    const slow = Array.from({ length: 200 }, (_, at) => line(`slow${at}`, 'slow'));
    const input = await upload([...quick, ...slow]);
    const { id } = await client.batches.create(batchOf(input.id, '/v1/embeddings'));
    await expect.poll(async () => (await client.batches.retrieve(id)).request_counts?.completed).toBe(5);
    const inUse = client.files.delete(input.id);
    await expect(inUse).rejects.toMatchObject({ status: 409, code: 'file_in_use' });
    expect(await client.batches.cancel(id)).toMatchObject({ status: 'cancelling' });
    const batch = await waitForEnd(id);
    release.resolve();
    expect(batch).toMatchObject({
      status: 'cancelled',
      request_counts: { total: 205, completed: 5, failed: 200 },
    });
    expect((await download(batch.output_file_id)).size).toBe(5);
    const errors = await download(batch.error_file_id);
    expect(errors.size).toBe(200);
    for (const { error } of errors.values()) expect(error.code).toBe('batch_cancelled');

    sent = [];
    await expect(client.batches.cancel(id)).rejects.toBeInstanceOf(OpenAI.ConflictError);
    expect(sent).toEqual([`POST /v1/batches/${id}/cancel`]);
    expect(await client.files.delete(input.id)).toMatchObject({ deleted: true });
  });

  test('and its files are not found by other organizations', async () => {
    const [batch] = (await client.batches.list({ limit: 100 })).data.filter((each) => each.output_file_id);
    const other = new OpenAI({ apiKey: OTHER_KEY, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
    expect((await other.batches.list()).data).toEqual([]);
    expect((await other.files.list()).data).toEqual([]);
    for (const request of [
      () => other.batches.retrieve(batch?.id ?? ''),
      () => other.batches.cancel(batch?.id ?? ''),
      () => other.files.retrieve(batch?.output_file_id ?? ''),
      () => other.files.content(batch?.output_file_id ?? ''),
      () => other.files.delete(batch?.input_file_id ?? ''),
    ]) {
      await expect(request()).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    }
  });

  test('is listed exactly once across several pages', async () => {
    const ids: string[] = [];
    for await (const { id } of client.batches.list({ limit: 2 })) ids.push(id);
    expect(ids.length).toBeGreaterThanOrEqual(5);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test('a batch resumes after a restart of the service', async () => {
  // The first lines are fast, the others slow until the service has been restarted.
  let [answers, slowMs] = [0, 500];
  upstream.answer(async () => {
    answers += 1;
    if (answers > 100) await Bun.sleep(slowMs);
    return embedded();
  });
  const dataDir = await tempDir();
  const launch = async () => {
    const launched = await launchService({ config: configOfUpstream(), dataDir, env: { PLUGINS } });
    const by = new OpenAI({ apiKey: SERVICE_KEY, baseURL: `${launched.baseUrl}/v1` });
    return { launched, by };
  };
  const before = await launch();
  const lines = Array.from({ length: 1500 }, (_, at) => ({
    custom_id: `${at}`,
    body: { model: EMBED_MODEL, input: 'x' },
  }));
  const input = await upload(lines, before.by);
  const { id } = await before.by.batches.create(batchOf(input.id, '/v1/embeddings'));
  const completed = async () => (await before.by.batches.retrieve(id)).request_counts?.completed ?? 0;
  await expect.poll(completed).toBeGreaterThan(0);
  expect(await before.launched.stop()).toBe(0);

  const { launched, by } = await launch();
  const resumed = await by.batches.retrieve(id);
  expect(resumed.status).toBe('in_progress');
  expect(resumed.request_counts?.completed).toBeGreaterThan(0);
  slowMs = 0;
  const batch = await waitForEnd(id, by);
  expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1500, failed: 0 } });
  expect((await download(batch.output_file_id, by)).size).toBe(1500);
  expect(await launched.stop()).toBe(0);
});

test('the start fails if PLUGINS has batch without a plugin that offers operations', async () => {
  const launching = launchService({ config: configOfUpstream(), env: { PLUGINS: 'batch' } });
  await expect(launching).rejects.toMatchObject({
    exitCode: 1,
    output: expect.stringContaining("Plugin 'batch' needs 'operations'"),
  });
});

test('the Python SDK creates, polls, downloads, lists, cancels and deletes', async (context) => {
  needs(context, HAS_PIP, 'Python with pip');
  upstream.answer(() => embedded());
  const input = { base_url: `${service.baseUrl}/v1`, key: OTHER_KEY, embed_model: EMBED_MODEL };
  const script = join(import.meta.dirname, '../clients/text/openai_batches.py');
  expect(await runPython(script, input)).toEqual([
    {
      flow: 'batch',
      created: 'validating',
      status: 'completed',
      metadata: { topic: 'cats' },
      counts: { total: 2, completed: 1, failed: 1 },
      output: [['good', 200]],
      errors: [['bad', 'model_not_found']],
    },
    { flow: 'list', batches: 5 },
    { flow: 'cancel', status: 409, requests: 1 },
    { flow: 'delete', deleted: true },
  ]);
});

describe('the shell commands of the batch guide', () => {
  /** Runs the commands with an API key, after `changed`. @returns standard output and the result file, if any. */
  async function run(context: TestContext, key: string, changed = (commands: string) => commands) {
    const programs = ['bash', 'curl', 'jq'];
    needs(
      context,
      programs.every((name) => Bun.which(name) !== null),
      programs.join(', '),
    );
    const guide = await readFile(new URL('../../docs/guide/batches.md', import.meta.url), 'utf8');
    const commands = /^```sh\n(.*?)```/ms.exec(guide)?.[1] ?? 'false';
    const folder = await tempDir();
    const script = changed(commands.replaceAll('localhost:8080', service.baseUrl));
    const { PATH = '' } = process.env;
    const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { PATH, KEY: key },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(await child.exited, errors).toBe(0);
    const results = Bun.file(join(folder, 'results.jsonl'));
    return { stdout, results: (await results.exists()) ? await results.text() : undefined };
  }

  test('download the results and print nothing', async (context) => {
    const { stdout, results } = await run(context, SERVICE_KEY);
    expect(stdout).toBe('');
    const ids = results
      ?.trim()
      .split('\n')
      .map((line) => JSON.parse(line).custom_id);
    expect(ids?.sort()).toEqual(['cat', 'shares']);
  });

  test('print the error when the upload is rejected', async (context) => {
    const { stdout, results } = await run(context, 'invalid key');
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'invalid_api_key' } });
    expect(results).toBeUndefined();
  });

  test('print the batch when it fails', async (context) => {
    const { stdout, results } = await run(context, SERVICE_KEY, (commands) =>
      commands.replaceAll('"custom_id": "shares"', '"custom_id": "cat"'),
    );
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'failed',
      errors: { data: [{ code: 'duplicate_custom_id' }] },
    });
    expect(results).toBeUndefined();
  });
});

test('/metrics counts lines, finished batches and open batches', async () => {
  const text = await (await service.fetch('/metrics')).text();
  expect(text).toMatch(/^batch_lines_total\{endpoint="\/v1\/embeddings",result="completed"\} \d+$/m);
  expect(text).toMatch(/^batches_finished_total\{status="failed"\} [1-9]\d*$/m);
  expect(text).toMatch(/^batch_wait_seconds_count \d+$/m);
  expect(text).toMatch(/^batches_open \d+$/m);
});

/** An embedding response of the upstream. */
function embedded(): Response {
  return Response.json({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    model: 'there',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  });
}

function batchOf(input_file_id: string, endpoint: '/v1/embeddings' | '/v1/responses') {
  return { input_file_id, endpoint, completion_window: '24h' } as const;
}

async function rowsOf(endpoint: string): Promise<{ request_id: string }[]> {
  const label = encodeURIComponent(`POST ${endpoint}`);
  const response = await service.fetch(`/v1/usage?limit=100&endpoint=${label}`);
  const { data } = (await response.json()) as { data: { request_id: string }[] };
  return data;
}
