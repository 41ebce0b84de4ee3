import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import {
  chatChunk,
  eventText,
  portionAnswer,
  usageChunk,
} from '../../tools/harness/upstreams/fake-chat-upstream.ts';
import { type FakeUpstream, startFakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import { fakeSearxng, searxngAnswer } from '../doubles/fake-searxng.ts';
import type { WireAnswer } from '../harness/response-app.ts';
import { inDeepTier } from '../harness/tier.ts';

/** Built-in tools of the real process, called by a scripted model. */

interface Message {
  readonly role: string;
  readonly content: unknown;
}

let model: FakeUpstream;
let search: ReturnType<typeof fakeSearxng>;
let service: LaunchedService;
beforeAll(async () => {
  model = startFakeUpstream();
  model.answer((body) => nextToolCall(body.messages as readonly Message[]));
  search = fakeSearxng(() => searxngAnswer([{ url: 'https://tea.example/', title: 'Tea', content: 'Hot.' }]));
  const config = `${NO_MODELS}
    [models.writer]
    kind = "upstream"
    task = "chat"
    base_url = "${model.baseUrl}"
    model = "any"
    [web_search]
    url = "${search.url}"`;
  service = await launchService({
    config,
    env: { PLUGINS: 'responses', SECRET_OF_THE_SERVICE: 'hush' },
    until: '/readyz',
  });
});
afterAll(async () => {
  await service?.stop();
  await model?.close();
  await search?.close();
});

/** Calls the tool of the user message once per input, then responds with the output of the last call. */
function nextToolCall(messages: readonly Message[]): Response {
  const results = messages.filter(({ role }) => role === 'tool');
  const { tool, inputs } = JSON.parse(String(messages.find(({ role }) => role === 'user')?.content));
  const input = inputs[results.length];
  if (input === undefined) return streamed({ content: `It gave: ${results.at(-1)?.content}` }, 'stop');
  const name = tool === 'web_search' ? 'query' : 'code';
  const call = { name: tool, arguments: JSON.stringify({ [name]: input }) };
  const calls = [{ index: 0, id: `call_${results.length}`, type: 'function', function: call }];
  return streamed({ tool_calls: calls }, 'tool_calls');
}

function streamed(delta: object, reason: string): Response {
  const chunks = [chatChunk({ role: 'assistant', ...delta }), chatChunk({}, reason), usageChunk(9, 3)];
  return portionAnswer([eventText(...chunks)]);
}

async function respond(type: string, inputs: readonly string[], tool: object = { type }) {
  const response: WireAnswer = await fetch(`${service.baseUrl}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'writer',
      input: JSON.stringify({ tool: type, inputs }),
      tools: [tool],
      include: ['code_interpreter_call.outputs', 'web_search_call.action.sources'],
    }),
  });
  return { status: response.status, body: await response.json() };
}

test('web search queries the SearXNG server of CONFIG and cites its results', async () => {
  const { status, body } = await respond('web_search', ['hot drinks']);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(search.asked.map(({ url }) => url.searchParams.get('q'))).toEqual(['hot drinks']);
  expect(body.output[0]).toMatchObject({
    type: 'web_search_call',
    status: 'completed',
    action: { query: 'hot drinks', sources: [{ type: 'url', url: 'https://tea.example/' }] },
  });
  const [{ text, annotations }] = body.output.at(-1).content;
  expect(annotations).toMatchObject([{ type: 'url_citation', url: 'https://tea.example/', title: 'Tea' }]);
  const [{ start_index, end_index }] = annotations;
  expect(text.slice(start_index, end_index)).toBe('https://tea.example/');
});

test('web search without a server in CONFIG gets 400 with the name of the CONFIG key', async () => {
  const withoutSearch = await launchService({ config: NO_MODELS, env: { PLUGINS: 'responses' } });
  try {
    const response = await fetch(`${withoutSearch.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'smollm2-135m-instruct',
        input: 'hi',
        tools: [{ type: 'function', name: 'f', parameters: {} }, { type: 'web_search' }],
      }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        param: 'tools[1].type',
        code: 'unsupported_value',
        message: expect.stringContaining('[web_search]'),
      },
    });
  } finally {
    await withoutSearch.stop();
  }
});

// Last, because each use of an interpreter starts another spare one.
const PYTHON = { type: 'code_interpreter', container: { type: 'auto' } };

test('code interpreter calls of one response share one interpreter without the service environment', async () => {
  const programs = ['import os\nx = 6', 'print(x * 7)', '[v for v in os.environ.values() if "hush" in v], x'];
  const { status, body } = await respond('code_interpreter', programs, PYTHON);
  expect(status, JSON.stringify(body)).toBe(200);
  const calls = body.output.filter(({ type }: { type: string }) => type === 'code_interpreter_call');
  expect(calls).toMatchObject([
    { status: 'completed', code: programs[0], outputs: [] },
    { status: 'completed', code: programs[1], outputs: [{ type: 'logs', logs: '42\n' }] },
    { status: 'completed', code: programs[2], outputs: [{ type: 'logs', logs: '([], 6)' }] },
  ]);
  expect(new Set(calls.map((call: { container_id: string }) => call.container_id)).size).toBe(1);
  expect(body.output.at(-1)).toMatchObject({ content: [{ text: 'It gave: ([], 6)' }] });
});

inDeepTier(() => {
  test('the next response gets a new interpreter', async () => {
    const { body } = await respond('code_interpreter', ['x'], PYTHON);
    expect(body.output[0].outputs[0].logs).toContain("NameError: name 'x' is not defined");
  });
});
