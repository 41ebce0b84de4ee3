import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { HAS_PIP, runPython } from '../../tools/harness/clients/python.ts';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { FLOWS, scriptedOf } from '../../tools/harness/upstreams/scripted-text-upstream.ts';
import { embeddedService, scriptedService } from '../harness/group-servers.ts';
import { needs } from '../harness/needs.ts';
import { nodePath } from '../harness/node-client.ts';
import { IS_DEEP_TIER, inDeepTier } from '../harness/tier.ts';

/** Unmodified client libraries against the real process. */

const FOLDER = join(import.meta.dirname, '../clients/text');
const MODEL = 'smollm2-135m-instruct';
const EMBED_MODEL = 'all-minilm-l6-v2';
/** Flows of which each needs another kind of generation. The others run with scripted responses. */
const GENERATIONS = ['chat.stream', 'chat.structured', 'responses.generate', 'responses.tools', 'embeddings'];
/** Only the OpenAI client supports the flow `responses.stored`. */
const CLIENTS = { 'ai-sdk.mjs': FLOWS, 'langchain.mjs': FLOWS, 'openai.mjs': [...FLOWS, 'responses.stored'] };

type FlowResult = { readonly flow: string; readonly failed?: string; readonly [name: string]: unknown };

let service: ServiceAccess;

/** Runs a client script. Returns the result of each flow. */
async function run(
  runtime: readonly string[],
  script: string,
  options: {
    readonly toolChoice: 'auto' | 'required';
    readonly maxTokens: number;
    /** The flows to run; all if absent. */
    readonly flows?: readonly string[];
  },
): Promise<ReadonlyMap<string, FlowResult>> {
  const baseURL = `${service.baseUrl}/v1`;
  const input = { baseURL, key: service.key, model: MODEL, embedModel: EMBED_MODEL, ...options };
  const { PATH = '', HOME = '' } = process.env;
  const child = Bun.spawn([...runtime, join(FOLDER, script), JSON.stringify(input)], {
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited, errors).toBe(0);
  const lines = output.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => JSON.parse(line) as FlowResult).map((results) => [results.flow, results]),
  );
}

describe('with a scripted upstream server', () => {
  beforeAll(async () => {
    service = await scriptedService();
  });

  // The scripts send the same requests in each runtime.
  const runtimes = { Node: [nodePath()], ...(IS_DEEP_TIER && { Bun: [process.execPath] }) };
  for (const [runtime, command] of Object.entries(runtimes)) {
    test.each(Object.entries(CLIENTS))(
      `%s in ${runtime} returns the scripted responses`,
      async (script, flows) => {
        const results = await run(command, script, { toolChoice: 'auto', maxTokens: 64 });
        const expected = flows.map((flow) => ({ flow, ...scriptedOf(flow) }));
        expect([...results.values()].sort(byFlow)).toEqual(expected.sort(byFlow));
      },
    );
  }

  // Has the flows of openai.mjs.
  inDeepTier(() => {
    test('the Python SDK returns the scripted responses', async (context) => {
      needs(context, HAS_PIP, 'Python with pip');
      const input = {
        base_url: `${service.baseUrl}/v1`,
        key: service.key,
        model: MODEL,
        embed_model: EMBED_MODEL,
      };
      const results = await runPython<FlowResult>(join(FOLDER, 'openai_client.py'), input);
      const expected = [...FLOWS, 'responses.stored'].map((flow) => ({ flow, ...scriptedOf(flow) }));
      expect(results.sort(byFlow)).toEqual(expected.sort(byFlow));
    });
  });

  test.each([
    ['/v1/chat/completions', [200, 200]],
    ['/v1/embeddings', [200, 200]],
    ['/v1/responses', [200, 200]],
  ])('the OpenAPI examples of %s get documented responses', async (path, statuses) => {
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
    const statusesOf = Object.values(examples).map(async ({ value }) => {
      const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
      const response = await service.fetch(path, { method: 'POST', headers, body: JSON.stringify(value) });
      const schema = responses[response.status]?.content['application/json']?.schema;
      expect(schema).toBeDefined();
      const ajv = new Ajv2020({ strict: false });
      ajv.validate({ ...schema, components }, await response.json());
      expect(ajv.errors).toBeNull();
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      return response.status;
    });
    expect(await Promise.all(statusesOf)).toEqual(statuses);
  });
});

/** Schema of a request body; `$ref` refers to a named schema. */
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

describe('with real models', () => {
  beforeAll(async () => {
    service = await embeddedService();
  });

  test('openai.mjs returns responses of the expected shape', async () => {
    const flows = IS_DEEP_TIER ? CLIENTS['openai.mjs'] : GENERATIONS;
    const results = await run([nodePath()], 'openai.mjs', { toolChoice: 'required', maxTokens: 12, flows });
    expect([...results.keys()].sort()).toEqual(flows.toSorted());
    for (const [flow, found] of results) expect(found, flow).toMatchObject(shapeOf(flow));
  });
});

/** Expected properties of the result of a flow. */
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
    stored: { text, inputItems: ['Name three birds.'], statusAfterDelete: 404 },
    embeddings: { vectors: [vector, vector, vector] },
  };
  return shapes[name] ?? scriptedOf(flow);
}

function byFlow(one: { readonly flow: string }, other: { readonly flow: string }): number {
  return one.flow < other.flow ? -1 : 1;
}
