import { existsSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pcmToWav } from '../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { isPublic } from '../../src/http/server/auth.ts';
import { type LaunchedService, launchService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { spokenPcm } from '../../tools/harness/services/realtime-service.ts';
import { needs } from '../harness/needs.ts';

/** The OpenAPI document of the real process, route by route, and its page in a real browser. */

const CHROMIUM = '/usr/bin/chromium';
const CONFIG = `
[models."svc-tts"]
kind = "piper"
`;

interface Content {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly description?: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
}

interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** The part of a schema that is read here. */
interface JsonSchema {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly anyOf?: readonly object[] }>>;
}

let service: LaunchedService;
let document: OpenApi;
beforeAll(async () => {
  service = await launchService({ config: CONFIG });
  document = (await (await service.fetch('/swagger/json')).json()) as OpenApi;
});
afterAll(() => service?.stop());

/** Sends a JSON body. */
function send(path: string, body: object): Promise<Response> {
  const headers = { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' };
  return service.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** A schema, or the one that it refers to by name. */
function resolved(schema: JsonSchema = {}): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (document.components.schemas[name] as JsonSchema);
}

/** Every operation with its name, such as `POST /v1/batches`. */
function operations(): { name: string; path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );
}

const ajv = new Ajv2020({ strict: false, formats: { binary: true, uri: true } });
/** Compiled once for all routes that have the same. */
const validators = new Map<string, ValidateFunction>();

/** What stands in a body of JSON: at least one thing, if there is such a body. */
function examplesOf(content: Content | undefined): readonly unknown[] {
  if (content === undefined) return [];
  const named = Object.values(content.examples ?? {}).map(({ value }) => value);
  return named.length > 0 ? named : [content.example];
}

/** What is wrong with an example, undefined for a good one. */
function exampleFault(schema: object, value: unknown): string | undefined {
  const json = JSON.stringify(schema);
  // References are to what the document holds by name.
  const validate = validators.get(json) ?? ajv.compile({ ...schema, components: document.components });
  validators.set(json, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

describe('every list', () => {
  test('takes an empty `after` as the first page', async () => {
    const asked = { model: 'smollm2-135m-instruct', input: 'Hi.', max_output_tokens: 5 };
    const { id } = (await (await send('/v1/responses', asked)).json()) as { id: string };
    const lists = operations().filter(({ operation }) =>
      operation.parameters?.some(({ name }) => name === 'after'),
    );
    expect(lists).toHaveLength(7);
    for (const { name, path } of lists) {
      const list = path.replace('{id}', id);
      const [first, empty] = [await service.fetch(list), await service.fetch(`${list}?after=`)];
      expect(empty.status, name).toBe(200);
      expect(await empty.json(), name).toEqual(await first.json());
    }
  });
});

describe('every JSON body', () => {
  test('documents null for the optional fields that accept it', async () => {
    const { properties } = document.components.schemas.EmbeddingsRequest as JsonSchema;
    expect(properties?.dimensions?.anyOf).toContainEqual({ type: 'null' });
    const body = { model: 'all-minilm-l6-v2', input: 'A text.', dimensions: null, encoding_format: null };
    expect((await send('/v1/embeddings', body)).status).toBe(200);
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/batches', '/v1/audio/speech']) {
      const { schema } = document.paths[path]?.post?.requestBody?.content['application/json'] ?? {};
      const { properties = {}, required = [] } = resolved(schema);
      const optional = Object.keys(properties).filter((field) => !required.includes(field));
      const validate = ajv.compile({ ...schema, components: document.components });
      const nulls = Object.fromEntries(optional.map((field) => [field, null]));
      validate(nulls);
      const errors = validate.errors?.filter(({ keyword }) => keyword !== 'required') ?? [];
      expect(ajv.errorsText(errors), path).toBe('No errors');
    }
  });

  test('is optional where a request without it is accepted', async () => {
    const keys = document.paths['/v1/keys']?.post?.requestBody;
    expect(keys?.required).toBe(false);
    const headers = { 'x-api-key': SERVICE_KEY };
    expect((await service.fetch('/v1/keys', { method: 'POST', headers })).status).toBe(200);
  });
});

describe('an invalid value of a query parameter', () => {
  test.each([
    ['/v1/responses/resp_1?stream=AAA', 'stream', "'stream' must be one of true, false."],
    ['/v1/responses/resp_1?stream=', 'stream', "'stream' must be one of true, false."],
    [
      '/v1/responses/resp_1?include_obfuscation=1',
      'include_obfuscation',
      "'include_obfuscation' must be one of true, false.",
    ],
    ['/v1/realtime?events=AAA', 'events', "'events' must be one of spec, ga."],
  ])('is rejected: %s', async (path, param, message) => {
    const answer = await service.fetch(path);
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: object };
    expect(error).toEqual({ type: 'invalid_request_error', code: 'invalid_value', param, message });
  });

  test('is not one that is unknown, where others are ignored', async () => {
    // 426: what is missing is the upgrade.
    expect((await service.fetch('/v1/realtime?events=ga&tracking=AAA')).status).toBe(426);
  });
});

test('a path has the methods that are documented for it, and no others', async () => {
  for (const [path, item] of Object.entries(document.paths)) {
    const answer = await service.fetch(path.replaceAll(/\{\w+\}/g, 'x'), { method: 'PATCH' });
    const documented = Object.keys(item).map((method) => method.toUpperCase());
    const allowed = documented.includes('GET') ? [...documented, 'HEAD'] : documented;
    expect(answer.status, path).toBe(405);
    expect(answer.headers.get('allow')?.split(', ').sort(), path).toEqual(allowed.sort());
  }
  const foreign = await service.fetch('/v1/videos/extensions');
  expect([foreign.status, foreign.headers.get('allow')]).toEqual([405, 'POST']);
});

describe('every route', () => {
  test('says what it is for, under a heading that has words too', () => {
    expect(operations().length).toBeGreaterThan(40);
    const headings = document.tags.filter(({ description }) => /\w/.test(description ?? ''));
    for (const { name, operation } of operations()) {
      expect(operation.summary, name).toMatch(/^\p{L}/u);
      expect(operation.description, name).toMatch(/^\S.*[.`)]$/s);
      expect(
        headings.map((heading) => heading.name),
        name,
      ).toEqual(expect.arrayContaining([...(operation.tags ?? ['none'])]));
    }
  });

  test('says whether it needs a key, and what each refusal looks like', () => {
    for (const { name, path, operation } of operations()) {
      const refusals = Object.entries(operation.responses).filter(([status]) => status >= '400');
      if (isPublic(path)) expect(operation.security, name).toEqual([]);
      else
        expect(
          refusals.map(([status]) => status),
          name,
        ).toEqual(expect.arrayContaining(['401', '429']));
      for (const [status, { description, content }] of refusals) {
        // A process that is not ready says so in the words of one that is.
        if (path === '/readyz') continue;
        const { schema, example } = content?.['application/json'] ?? {};
        expect(description, `${name} ${status}`).toMatch(/\w/);
        expect(example, `${name} ${status}`).toHaveProperty('error.message');
        expect(exampleFault(schema ?? {}, example), `${name} ${status}`).toBeUndefined();
      }
    }
  });

  test('says what each parameter means', () => {
    for (const { name, operation } of operations()) {
      for (const parameter of operation.parameters ?? []) {
        expect(parameter.description, `${name} ${parameter.name}`).toMatch(/\w/);
      }
    }
  });

  test('has an example of its body, and of its answer, which its schemas allow', () => {
    for (const { name, operation } of operations()) {
      const asked = operation.requestBody?.content['application/json'];
      for (const value of examplesOf(asked)) {
        expect(exampleFault(asked?.schema ?? {}, value), name).toBeUndefined();
      }
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        if (!status.startsWith('2')) continue;
        expect(Object.keys(content), name).not.toEqual([]);
        const json = content['application/json'];
        if (json !== undefined) expect(exampleFault(json.schema, json.example), name).toBeUndefined();
      }
    }
  });

  test('that accepts a form documents each required field', () => {
    for (const { name, operation } of operations()) {
      const form = operation.requestBody?.content['multipart/form-data']?.schema as FormSchema | undefined;
      for (const field of form?.required ?? []) {
        const { format, examples, default: byDefault, const: fixed, anyOf } = form?.properties[field] ?? {};
        const isTold = format === 'binary' || (examples ?? byDefault ?? fixed ?? anyOf) !== undefined;
        expect(isTold, `${name} ${field}`).toBe(true);
      }
    }
  });
});

test('schemas have names, and each name is of one schema', () => {
  const { schemas } = document.components;
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining([
      'Error',
      'Batch',
      'BatchPage',
      'ChatCompletion',
      'Response',
      'NewVoice',
      'Video',
    ]),
  );
  const text = JSON.stringify([document.paths, schemas]);
  const named = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(Object.keys(schemas)));
  // One that is not named although it has a title differs from another that has the same.
  expect(JSON.stringify(document.paths)).not.toMatch(/"title":"/);
});

interface FormSchema {
  readonly required?: readonly string[];
  readonly properties: Readonly<
    Record<
      string,
      { format?: string; examples?: unknown[]; default?: unknown; const?: unknown; anyOf?: unknown[] }
    >
  >;
}

/** Bodies that name something which must be there first, and the answer where it is not. */
const NAMING: Readonly<Record<string, number>> = { '/v1/batches': 400, '/v1/videos/extensions': 404 };

test('examples of bodies are answered as they are', async () => {
  const posts = operations().filter(({ name, path }) => name.startsWith('POST') && !path.includes('{'));
  const examples = posts.flatMap(({ path, operation }) =>
    examplesOf(operation.requestBody?.content['application/json']).map((value) => ({ path, value })),
  );
  // At once: the model writes several answers in little more time than one.
  await Promise.all(
    examples.map(async ({ path, value }) => {
      const headers = { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' };
      const answer = await service.fetch(path, { method: 'POST', headers, body: JSON.stringify(value) });
      expect(answer.status, `${path}: ${await answer.text()}`).toBe(NAMING[path] ?? 200);
    }),
  );
  expect(new Set(examples.map(({ path }) => path)).size).toBeGreaterThan(6);
});

describe('the page', () => {
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  const asked: string[] = [];
  beforeAll(async () => {
    if (!existsSync(CHROMIUM)) return;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${service.baseUrl}/swagger`);
    await page.locator('.btn.authorize').click();
    const bearer = page.locator('.auth-container', { hasText: 'http, Bearer' });
    await bearer.locator('input').fill(SERVICE_KEY);
    await bearer.getByRole('button', { name: 'Apply credentials' }).click();
    await bearer.getByRole('button', { name: 'Close' }).click();
  });
  afterAll(() => browser?.close());
  beforeEach((context) => needs(context, existsSync(CHROMIUM), `Chromium at ${CHROMIUM}`));

  /** Opens an operation, lets `fill` change its form, and runs it. */
  async function tryOut(name: string, fill: (block: Locator) => Promise<void> = async () => undefined) {
    const [method = '', path = ''] = name.split(' ');
    const block = page.locator(`.opblock-${method.toLowerCase()}`, {
      has: page.locator(`[data-path="${path}"]`),
    });
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await fill(block);
    await block.getByRole('button', { name: 'Execute' }).click();
    const status = block.locator('.live-responses-table tbody .response-col_status').first();
    await status.filter({ hasText: /\d{3}/ }).waitFor({ timeout: 60_000 });
    return { block, status: Number.parseInt((await status.textContent()) ?? '', 10) };
  }

  /** The JSON that an operation answered. */
  async function jsonOf(block: Locator) {
    const text = await block.locator('.live-responses-table .highlight-code code').first().textContent();
    return JSON.parse(text ?? '') as Record<string, unknown>;
  }

  test('lists the models', async () => {
    const { block, status } = await tryOut('GET /v1/models');
    expect(status).toBe(200);
    expect(await jsonOf(block)).toMatchObject({ object: 'list', data: expect.arrayContaining([]) });
  });

  test('plays what the example of speech says', async () => {
    const { block, status } = await tryOut('POST /v1/audio/speech');
    expect(status).toBe(200);
    const player = block.locator('audio');
    await player.waitFor();
    const duration = () => player.evaluate((audio) => (audio as unknown as { duration: number }).duration);
    await expect.poll(duration).toBeGreaterThan(1);
  });

  test('writes down a recording', async () => {
    const pcm = await spokenPcm(service, 'Please book a table for two people.');
    const { block, status } = await tryOut('POST /v1/audio/transcriptions', async (form) => {
      const file = { name: 'said.wav', mimeType: 'audio/wav', buffer: pcmToWav(pcm, SPEECH_RATE_HZ) };
      await form.locator('input[type=file]').setInputFiles(file);
    });
    expect(status).toBe(200);
    expect((await jsonOf(block)).text).toMatch(/book a table/i);
  });

  test('uploads lines and makes a batch of them', async () => {
    const line = { custom_id: 'a', body: { model: 'all-minilm-l6-v2', input: 'A cat.' } };
    const upload = await tryOut('POST /v1/files', async (form) => {
      const buffer = Buffer.from(`${JSON.stringify(line)}\n`);
      await form
        .locator('input[type=file]')
        .setInputFiles({ name: 'lines.jsonl', mimeType: 'text/plain', buffer });
    });
    expect(upload.status).toBe(200);
    const { id } = await jsonOf(upload.block);
    const batch = await tryOut('POST /v1/batches', async (form) => {
      const body = form.locator('textarea.body-param__text');
      const example = JSON.parse(await body.inputValue());
      await body.fill(JSON.stringify({ ...example, input_file_id: id }));
    });
    expect(batch.status).toBe(200);
    expect(await jsonOf(batch.block)).toMatchObject({ object: 'batch', input_file_id: id });
  });

  test('is dark for who wants that', async () => {
    const ground = () =>
      page.evaluate('getComputedStyle(document.querySelector(".swagger-ui")).backgroundColor');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(ground, { timeout: 10_000 }).toBe('rgb(28, 32, 34)');
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(ground, { timeout: 10_000 }).not.toBe('rgb(28, 32, 34)');
  });

  test('loads nothing from other origins, and violates no rule of its own policy', () => {
    expect(asked.filter((url) => !/^(blob:|data:)/.test(url) && !url.startsWith(service.baseUrl))).toEqual(
      [],
    );
    expect(faults).toEqual([]);
  });
});
