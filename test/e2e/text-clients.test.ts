import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_PIP, runPython } from '../../tools/harness/clients/python.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import type { FakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import {
  FLOWS,
  scriptedOf,
  startScriptedTextUpstream,
} from '../../tools/harness/upstreams/scripted-text-upstream.ts';
import { needs } from '../harness/needs.ts';
import { nodePath } from '../harness/node-client.ts';

/** Unmodified clients that use the real process through their base URL. */

const FOLDER = join(import.meta.dirname, '../clients/text');
const MODEL = 'smollm2-135m-instruct';
const EMBED_MODEL = 'all-minilm-l6-v2';
/** The last needs more of a client than the others can. */
const CLIENTS = { 'ai-sdk.mjs': FLOWS, 'langchain.mjs': FLOWS, 'openai.mjs': [...FLOWS, 'responses.stored'] };
const PATIENCE_MS = 120_000;
/** A model on a busy machine. */
const MODEL_PATIENCE_MS = 600_000;

type Told = { readonly flow: string; readonly failed?: string; readonly [name: string]: unknown };

let service: LaunchedService;
afterAll(() => service?.stop());

/** The result of each flow. */
async function run(
  runtime: readonly string[],
  script: string,
  how: { readonly toolChoice: 'auto' | 'required'; readonly maxTokens: number },
): Promise<ReadonlyMap<string, Told>> {
  const baseURL = `${service.baseUrl}/v1`;
  const ask = { baseURL, key: SERVICE_KEY, model: MODEL, embedModel: EMBED_MODEL, ...how };
  const { PATH = '', HOME = '' } = process.env;
  const child = Bun.spawn([...runtime, join(FOLDER, script), JSON.stringify(ask)], {
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited, errors).toBe(0);
  const lines = output.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => JSON.parse(line) as Told).map((told) => [told.flow, told]));
}

describe('over an upstream whose answers are known', () => {
  let upstream: FakeUpstream;
  beforeAll(async () => {
    upstream = startScriptedTextUpstream();
    const model = (id: string) => `
      [models."${id}"]
      kind = "upstream"
      base_url = "${upstream.baseUrl}"
      model = "scripted"`;
    const config = NO_SPEAKER + NO_RECOGNISER + model(MODEL) + model(EMBED_MODEL);
    service = await launchService({ config });
    return async () => {
      await service.stop();
      await upstream.close();
    };
  }, PATIENCE_MS);

  const runtimes = { Node: [nodePath()], Bun: [process.execPath] };
  for (const [runtime, command] of Object.entries(runtimes)) {
    test.each(Object.entries(CLIENTS))(
      `%s in ${runtime} gets every answer as it was given`,
      async (script, flows) => {
        const told = await run(command, script, { toolChoice: 'auto', maxTokens: 64 });
        const wanted = flows.map((flow) => ({ flow, ...scriptedOf(flow) }));
        expect([...told.values()].sort(byFlow)).toEqual(wanted.sort(byFlow));
      },
      PATIENCE_MS,
    );
  }

  test(
    'the SDK of Python gets every answer as it was given',
    async (context) => {
      needs(context, HAS_PIP, 'Python with pip');
      const ask = {
        base_url: `${service.baseUrl}/v1`,
        key: SERVICE_KEY,
        model: MODEL,
        embed_model: EMBED_MODEL,
      };
      const told = await runPython<Told>(join(FOLDER, 'openai_client.py'), ask);
      const wanted = [...FLOWS, 'responses.stored'].map((flow) => ({ flow, ...scriptedOf(flow) }));
      expect(told.sort(byFlow)).toEqual(wanted.sort(byFlow));
    },
    PATIENCE_MS,
  );

  test.each([
    ['/v1/chat/completions', [200, 200]],
    ['/v1/embeddings', [200, 200]],
    ['/v1/responses', [200, 200]],
  ])('the examples of %s in the API documentation are answered as it says', async (path, statuses) => {
    const document = (await (await service.fetch('/swagger/json')).json()) as {
      paths: Record<string, { post: Documented }>;
      components: { schemas: Record<string, Schema> };
    };
    const { components } = document;
    const { requestBody, responses } = document.paths[path]?.post ?? { responses: {} };
    const { schema: body, examples = {} } = requestBody?.content['application/json'] ?? {};
    const { properties = {} } = components.schemas[body?.$ref?.split('/').at(-1) ?? ''] ?? body ?? {};
    expect(Object.keys(properties)).toContain('model');
    for (const [field, { description }] of Object.entries(properties)) {
      expect(description, field).toMatch(/\w/);
    }
    const answers = Object.values(examples).map(async ({ value }) => {
      const headers = { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' };
      const answer = await service.fetch(path, { method: 'POST', headers, body: JSON.stringify(value) });
      const schema = responses[answer.status]?.content['application/json']?.schema;
      expect(schema).toBeDefined();
      const ajv = new Ajv2020({ strict: false });
      ajv.validate({ ...schema, components }, await answer.json());
      expect(ajv.errors).toBeNull();
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
      return answer.status;
    });
    expect(await Promise.all(answers)).toEqual(statuses);
  });
});

/** Of a body; one that has a name is a reference to it. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Record<string, { readonly description?: string }>;
}

interface Documented {
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: Schema;
        readonly examples: Record<string, { readonly value: object }>;
      };
    };
  };
  readonly responses: Record<string, { readonly content: Record<string, { readonly schema: object }> }>;
}

describe('over the models that come with the service', () => {
  beforeAll(async () => {
    service = await launchService({ config: NO_SPEAKER + NO_RECOGNISER });
    return () => service.stop();
  }, PATIENCE_MS);

  test(
    'openai.mjs gets answers of the right shape',
    async () => {
      const told = await run([nodePath()], 'openai.mjs', { toolChoice: 'required', maxTokens: 12 });
      expect([...told.keys()].sort()).toEqual(CLIENTS['openai.mjs'].toSorted());
      for (const [flow, found] of told) expect(found, flow).toMatchObject(shapeOf(flow));
    },
    MODEL_PATIENCE_MS,
  );
});

/** Properties of every response. */
function shapeOf(flow: string): object {
  const name = flow.replace(/^(chat|responses)\./, '');
  const text = expect.stringMatching(/\S/);
  const call = {
    name: 'get_weather',
    arguments: { city: expect.stringMatching(/^(Paris|Oslo)$/) },
  };
  const calls = expect.arrayContaining([call]);
  const usage = { input: expect.any(Number), output: expect.any(Number) };
  const vector = expect.objectContaining({ length: 384 });
  const shapes: Readonly<Record<string, object>> = {
    generate: { text, usage },
    stream: { text, usage },
    tools: { calls, text: expect.any(String) },
    'streamed-tools': { calls },
    structured: {
      object: { color: expect.stringMatching(/^(red|green|blue)$/), count: expect.any(Number) },
    },
    chain: { text, continued: true },
    stored: { text, asked: ['Name three birds.'], gone: 404 },
    embeddings: { vectors: [vector, vector, vector] },
  };
  return shapes[name] ?? scriptedOf(flow);
}

function byFlow(one: { readonly flow: string }, other: { readonly flow: string }): number {
  return one.flow < other.flow ? -1 : 1;
}
