import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pcmToWav } from '../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { PATIENCE_MS } from '../../tools/harness/patience.ts';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { STUBBED_SPEECH, STUBBED_SPEECH_S } from '../../tools/harness/services/stubbed-service.ts';
import { CHROMIUM, HAS_CHROMIUM } from '../harness/chromium.ts';
import { openChromium, scriptedService } from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import { isPublic } from '../harness/public-paths.ts';
import { inDeepTier } from '../harness/tier.ts';

/** The OpenAPI document of a running service with scripted models, and its page in Chromium. */

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

/** The keywords of a schema that these tests use. */
interface JsonSchema {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly anyOf?: readonly object[] }>>;
}

let service: ServiceAccess;
let document: OpenApi;
beforeAll(async () => {
  service = await scriptedService();
  document = (await (await service.fetch('/swagger/json')).json()) as OpenApi;
});
/** Sends a JSON body. */
function send(path: string, body: object): Promise<Response> {
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  return service.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Resolves a reference to a named schema. */
function resolved(schema: JsonSchema = {}): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (document.components.schemas[name] as JsonSchema);
}

/** All operations with their names, such as `POST /v1/batches`. */
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
/** Compiled validators by the JSON of their schema. */
const validators = new Map<string, ValidateFunction>();

/** The examples of a JSON body. An undefined element is a missing example; the list is empty without a JSON body. */
function examplesOf(content: Content | undefined): readonly unknown[] {
  if (content === undefined) return [];
  const named = Object.values(content.examples ?? {}).map(({ value }) => value);
  return named.length > 0 ? named : [content.example];
}

/** Returns the validation errors of an example; undefined if it is valid. */
function exampleError(schema: object, value: unknown): string | undefined {
  const json = JSON.stringify(schema);
  // References resolve to the named schemas of the document.
  const validate = validators.get(json) ?? ajv.compile({ ...schema, components: document.components });
  validators.set(json, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

describe('list endpoints', () => {
  test('return the first page for an empty `after`', async () => {
    const request = { model: 'smollm2-135m-instruct', input: 'Hi.', max_output_tokens: 5 };
    const { id } = (await (await send('/v1/responses', request)).json()) as { id: string };
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

describe('JSON request bodies', () => {
  test('document null for the optional fields that accept it', async () => {
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

  test('are optional for POST /v1/keys', async () => {
    const keys = document.paths['/v1/keys']?.post?.requestBody;
    expect(keys?.required).toBe(false);
    const headers = { 'x-api-key': service.key };
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
  ])('is rejected in %s', async (path, param, message) => {
    const response = await service.fetch(path);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: object };
    expect(error).toEqual({ type: 'invalid_request_error', code: 'invalid_value', param, message });
  });

  test('of an unknown parameter is ignored by /v1/realtime', async () => {
    // 426: the request lacks only the WebSocket upgrade.
    expect((await service.fetch('/v1/realtime?events=ga&tracking=AAA')).status).toBe(426);
  });
});

test('each path allows exactly its documented methods', async () => {
  for (const [path, item] of Object.entries(document.paths)) {
    const response = await service.fetch(path.replaceAll(/\{\w+\}/g, 'x'), { method: 'PATCH' });
    const documented = Object.keys(item).map((method) => method.toUpperCase());
    const allowed = documented.includes('GET') ? [...documented, 'HEAD'] : documented;
    expect(response.status, path).toBe(405);
    expect(response.headers.get('allow')?.split(', ').sort(), path).toEqual(allowed.sort());
  }
  const undocumented = await service.fetch('/v1/videos/extensions');
  expect([undocumented.status, undocumented.headers.get('allow')]).toEqual([405, 'POST']);
});

describe('every operation', () => {
  test('has a summary, a description and a described tag', () => {
    expect(operations().length).toBeGreaterThan(40);
    const tags = document.tags.filter(({ description }) => /\w/.test(description ?? ''));
    for (const { name, operation } of operations()) {
      expect(operation.summary, name).toMatch(/^\p{L}/u);
      expect(operation.description, name).toMatch(/^\S.*[.`)]$/s);
      expect(
        tags.map((tag) => tag.name),
        name,
      ).toEqual(expect.arrayContaining([...(operation.tags ?? ['none'])]));
    }
  });

  test('documents its authentication and its error responses', () => {
    for (const { name, path, operation } of operations()) {
      const errorResponses = Object.entries(operation.responses).filter(([status]) => status >= '400');
      if (isPublic(path)) expect(operation.security, name).toEqual([]);
      else
        expect(
          errorResponses.map(([status]) => status),
          name,
        ).toEqual(expect.arrayContaining(['401', '429']));
      for (const [status, { description, content }] of errorResponses) {
        // An unready process returns the same body as a ready one, which is not an error body.
        if (path === '/readyz') continue;
        const { schema, example } = content?.['application/json'] ?? {};
        expect(description, `${name} ${status}`).toMatch(/\w/);
        expect(example, `${name} ${status}`).toHaveProperty('error.message');
        expect(exampleError(schema ?? {}, example), `${name} ${status}`).toBeUndefined();
      }
    }
  });

  test('describes its parameters', () => {
    for (const { name, operation } of operations()) {
      for (const parameter of operation.parameters ?? []) {
        expect(parameter.description, `${name} ${parameter.name}`).toMatch(/\w/);
      }
    }
  });

  test('has valid examples of its request body and its response', () => {
    for (const { name, operation } of operations()) {
      const body = operation.requestBody?.content['application/json'];
      for (const value of examplesOf(body)) {
        expect(exampleError(body?.schema ?? {}, value), name).toBeUndefined();
      }
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        if (!status.startsWith('2')) continue;
        expect(Object.keys(content), name).not.toEqual([]);
        const json = content['application/json'];
        if (json !== undefined) expect(exampleError(json.schema, json.example), name).toBeUndefined();
      }
    }
  });

  test('documents the values of each required form field', () => {
    for (const { name, operation } of operations()) {
      const form = operation.requestBody?.content['multipart/form-data']?.schema as FormSchema | undefined;
      for (const field of form?.required ?? []) {
        const { format, examples, default: byDefault, const: fixed, anyOf } = form?.properties[field] ?? {};
        const isDocumented = format === 'binary' || (examples ?? byDefault ?? fixed ?? anyOf) !== undefined;
        expect(isDocumented, `${name} ${field}`).toBe(true);
      }
    }
  });
});

test('schemas have unique names', () => {
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
  // An inline schema with a title would differ from the named schema with the same title.
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

/** Status of the examples that refer to an object which does not exist. */
const MISSING_OBJECT_STATUS: Readonly<Record<string, number>> = {
  '/v1/batches': 400,
  '/v1/videos/extensions': 404,
};

test('the examples of request bodies get documented responses', async () => {
  const posts = operations().filter(({ name, path }) => name.startsWith('POST') && !path.includes('{'));
  const examples = posts.flatMap(({ path, operation }) =>
    examplesOf(operation.requestBody?.content['application/json']).map((value) => ({
      path,
      value,
      responses: operation.responses,
    })),
  );
  await Promise.all(
    examples.map(async ({ path, value, responses }) => {
      const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
      const response = await service.fetch(path, { method: 'POST', headers, body: JSON.stringify(value) });
      const text = await response.text();
      expect(response.status, `${path}: ${text}`).toBe(MISSING_OBJECT_STATUS[path] ?? 200);
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
      const documented = responses[response.status]?.content?.[type];
      expect(documented, `${path}: ${type}`).toBeDefined();
      if (type === 'application/json') {
        expect(exampleError(documented?.schema ?? {}, JSON.parse(text)), `${path}: ${text}`).toBeUndefined();
      }
    }),
  );
  expect(new Set(examples.map(({ path }) => path)).size).toBeGreaterThan(6);
  const page = (await (await service.fetch('/v1/usage?limit=100')).json()) as {
    data: { endpoint: string }[];
  };
  expect(page.data.map(({ endpoint }) => endpoint)).toEqual(
    expect.arrayContaining(['POST /v1/chat/completions', 'POST /v1/embeddings', 'POST /v1/responses']),
  );
});

describe('the Swagger page', () => {
  let browser: Browser;
  let page: Page;
  const browserErrors: string[] = [];
  const requests: string[] = [];
  beforeAll(async () => {
    if (!HAS_CHROMIUM) return;
    browser = await openChromium();
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('console', (message) => message.type() === 'error' && browserErrors.push(message.text()));
    page.on('pageerror', (error) => browserErrors.push(String(error)));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${service.baseUrl}/swagger`);
    await page.locator('.btn.authorize').click();
    const bearer = page.locator('.auth-container', { hasText: 'http, Bearer' });
    await bearer.locator('input').fill(service.key);
    await bearer.getByRole('button', { name: 'Apply credentials' }).click();
    await bearer.getByRole('button', { name: 'Close' }).click();
  });
  afterAll(() => browser?.close());
  beforeEach((context) => needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`));

  /** Closes the open operation: the page draws all open operations again after every change. */
  let close = async () => undefined as unknown;

  /** Opens an operation, lets `fill` change its form, and runs it. */
  async function tryOut(name: string, fill: (block: Locator) => Promise<void> = async () => undefined) {
    const [method = '', path = ''] = name.split(' ');
    const block = page.locator(`.opblock-${method.toLowerCase()}`, {
      has: page.locator(`[data-path="${path}"]`),
    });
    const summary = block.locator('.opblock-summary-control');
    await close();
    await summary.click();
    close = () => summary.click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await fill(block);
    await block.getByRole('button', { name: 'Execute' }).click();
    const status = block.locator('.live-responses-table tbody .response-col_status').first();
    await status.filter({ hasText: /\d{3}/ }).waitFor();
    return { block, status: Number.parseInt((await status.textContent()) ?? '', 10) };
  }

  /** The displayed JSON response of an operation. */
  async function jsonOf(block: Locator) {
    const text = await block.locator('.live-responses-table .highlight-code code').first().textContent();
    return JSON.parse(text ?? '') as Record<string, unknown>;
  }

  test('links to the console and the docs', async () => {
    const links = page.getByRole('navigation', { name: 'Service' }).getByRole('link');
    expect(await links.allTextContents()).toEqual(['Console', 'Docs']);
    const addresses = await links.evaluateAll((all) => all.map(String));
    expect(addresses).toEqual([`${service.baseUrl}/`, `${service.baseUrl}/docs`]);
    for (const address of addresses) expect((await fetch(address)).status).toBe(200);
  });

  test('lists the models', async () => {
    const { block, status } = await tryOut('GET /v1/models');
    expect(status).toBe(200);
    expect(await jsonOf(block)).toMatchObject({ object: 'list', data: expect.arrayContaining([]) });
  });

  inDeepTier(() => {
    test('plays the speech of the example', async () => {
      const { block, status } = await tryOut('POST /v1/audio/speech');
      expect(status).toBe(200);
      const player = block.locator('audio');
      await player.waitFor();
      const duration = () => player.evaluate((audio) => (audio as unknown as { duration: number }).duration);
      await expect.poll(duration).toBeCloseTo(STUBBED_SPEECH_S, 1);
    });
  });

  test('transcribes a recording', async () => {
    const { block, status } = await tryOut('POST /v1/audio/transcriptions', async (form) => {
      const file = {
        name: 'speech.wav',
        mimeType: 'audio/wav',
        buffer: pcmToWav(STUBBED_SPEECH, SPEECH_RATE_HZ),
      };
      await form.locator('input[type=file]').setInputFiles(file);
    });
    expect(status).toBe(200);
    expect((await jsonOf(block)).text).toMatch(/^Ask not what your country/);
  });

  inDeepTier(() => {
    test('uploads a batch file and creates a batch', async () => {
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
  });

  test('follows the dark color scheme', async () => {
    const background = () =>
      page.evaluate('getComputedStyle(document.querySelector(".swagger-ui")).backgroundColor');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(background).toBe('rgb(28, 32, 34)');
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(background).not.toBe('rgb(28, 32, 34)');
  });

  test('loads nothing from other origins and causes no browser errors', () => {
    expect(requests.filter((url) => !/^(blob:|data:)/.test(url) && !url.startsWith(service.baseUrl))).toEqual(
      [],
    );
    expect(browserErrors).toEqual([]);
  });
});
