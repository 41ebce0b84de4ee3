import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
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
import {
  type ConsoleOptions,
  consoleTests,
  expectAccessible,
  expectNoSidewaysScroll,
  expectStateAccessible,
  type OpenConsole,
  PHONE_WIDTH,
  screenshot,
} from '../harness/console-browser.ts';
import { inDeepTier } from '../harness/tier.ts';

/** The responses page in a real browser, with scripted language models. */

const RAIN = '{"weather":"rain","celsius":4}';
/** Steps of the scripted model: code interpreter, web search, text. */
const STEPS = [
  { call: 'code_interpreter', with: { code: 'print(6 * 7)' } },
  { call: 'web_search', with: { query: 'what is tea' } },
  { say: 'Tea is hot: https://tea.example/' },
] as const;

const STORY = 'Tell a very long story about a ship and its crew, with every detail.';
const SPARROW = { name: 'Sparrow', legs: 2, flies: true };

let service: LaunchedService;
let speaker: FakeUpstream;
let writer: FakeUpstream;
let search: ReturnType<typeof fakeSearxng>;
// The service uses these servers and is closed earlier.
afterAll(async () => {
  await speaker?.close();
  await writer?.close();
  await search?.close();
});
const openPage = consoleTests('/responses', async () => {
  speaker = startFakeUpstream();
  speaker.answer((body) => answered(body as unknown as ChatBody));
  writer = startFakeUpstream();
  writer.answer(({ messages }) => nextStep(messages as readonly { role: string }[]));
  search = fakeSearxng(() => searxngAnswer([{ url: 'https://tea.example/', title: 'Tea', content: 'Hot.' }]));
  const config = `${NO_SPEAKER}${NO_RECOGNISER}
    [models."smollm2-135m-instruct"]
    kind = "upstream"
    base_url = "${speaker.baseUrl}"
    model = "any"
    [models."all-minilm-l6-v2"]
    kind = "upstream"
    base_url = "${speaker.baseUrl}"
    model = "any"
    [models.writer]
    kind = "upstream"
    task = "chat"
    base_url = "${writer.baseUrl}"
    model = "any"
    [web_search]
    url = "${search.url}"`;
  service = await launchService({ config, env: { PLUGINS: 'responses' } });
  return { service };
});

/** The request fields that the scripted default model uses. */
interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly tool_choice?: string | object;
  readonly response_format?: { readonly type: string };
}

/** The answer of the default model: a call of the chosen function, an object, a story without an end, or some words. */
function answered(body: ChatBody): Response {
  if (typeof body.tool_choice === 'object') {
    const call = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
    const delta = { tool_calls: [{ index: 0, id: 'call_weather', type: 'function', function: call }] };
    const end = chatChunk({}, 'tool_calls');
    return portionAnswer([eventText(chatChunk({ role: 'assistant', ...delta }), end, usageChunk(9, 3))]);
  }
  if (body.messages.at(-1)?.content === STORY) return endless(chatChunk({ content: 'Once upon a time' }));
  const isJson = body.response_format?.type === 'json_schema';
  const limit = body.max_completion_tokens ?? body.max_tokens ?? 1000;
  const words = isJson
    ? JSON.stringify(SPARROW).split(/(?<=,)/)
    : ['Robin', ', wren', ', swift', ', and', ' owl', '.'];
  const pieces = words.slice(0, limit).map((content) => `data: ${chatChunk({ content })}\n\n`);
  const end = chatChunk({}, words.length > limit ? 'length' : 'stop');
  return portionAnswer([...pieces, eventText(end, usageChunk(9, pieces.length))]);
}

/** A stream that stays open after its first event. */
function endless(event: string): Response {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${event}\n\n`)),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The step of {@link STEPS} after the tool results of a conversation. */
function nextStep(messages: readonly { readonly role: string }[]): Response {
  const step = STEPS[messages.filter(({ role }) => role === 'tool').length];
  if (step === undefined) throw new Error('the scripted model has no more steps');
  const isCall = 'call' in step;
  const call = isCall && { name: step.call, arguments: JSON.stringify(step.with) };
  const delta = isCall
    ? { tool_calls: [{ index: 0, id: `call_${step.call}`, type: 'function', function: call }] }
    : { content: step.say };
  const end = chatChunk({}, isCall ? 'tool_calls' : 'stop');
  return portionAnswer([eventText(chatChunk({ role: 'assistant', ...delta }), end, usageChunk(9, 3))]);
}

/** Opens the page, which selects the language model by default. */
async function openPlayground(options: ConsoleOptions = {}): Promise<OpenConsole> {
  const open = await openPage(options);
  const model = open.page.getByRole('combobox', { name: 'Model' });
  await expect.poll(() => model.inputValue()).toMatch(/smollm2/);
  return open;
}

const turn = (page: Page, number: number) => page.getByRole('region', { name: `Turn ${number}` });
const ended = (at: Locator, status = 'completed') =>
  at
    .getByRole('status')
    .filter({ hasText: new RegExp(`^${status}$`, 'i') })
    .waitFor();

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel(/^Message/).fill(text);
  await page.keyboard.press('Enter');
}

/** Text of a named part of a turn. */
async function textOf(at: Locator, name: string): Promise<string> {
  const text = await at.getByRole('group', { name }).textContent();
  return (text ?? '').slice(name.length);
}

/** The response id of a turn. */
async function idOf(at: Locator): Promise<string> {
  return (await at.getByText(/^resp_/).textContent()) ?? '';
}

describe('a conversation', () => {
  test('is streamed, continued, shortened, reopened and deleted', async () => {
    const { page, consoleErrors } = await openPlayground();
    await expectAccessible(page);
    await page.getByLabel('Instructions').fill('Be brief.');
    await page.getByLabel('Max output tokens').fill('24');
    await send(page, 'Name three birds.');
    const first = turn(page, 1);
    await ended(first);
    const text = await textOf(first, 'Response');
    expect(text).toBe('Robin, wren, swift, and owl.');
    await first.getByRole('tab', { name: 'Events' }).click();
    const events = await first.getByRole('listitem').locator('summary').allTextContents();
    expect(events[0]).toMatch(/^response\.created/);
    expect(events.at(-1)).toMatch(/^response\.completed/);
    // The text was streamed in several deltas.
    expect(events.filter((event) => event.includes('output_text.delta')).length).toBeGreaterThan(3);
    await expectStateAccessible(page);
    await screenshot(page, 'responses-events');
    await first.getByRole('tab', { name: 'Response' }).click();

    const firstId = await idOf(first);
    await page.getByText(`Continues ${firstId}.`).waitFor();
    await send(page, 'And three fishes.');
    const second = turn(page, 2);
    await ended(second);
    const secondId = await idOf(second);
    const stored = await (await service.fetch(`/v1/responses/${secondId}`)).json();
    expect(stored).toMatchObject({
      previous_response_id: firstId,
      instructions: 'Be brief.',
      max_output_tokens: 24,
    });
    await expectStateAccessible(page);
    await screenshot(page, 'responses-conversation');

    await second.getByRole('button', { name: 'Remove from here' }).click();
    await second.waitFor({ state: 'detached' });
    await page.getByText(`Continues ${firstId}.`).waitFor();

    await page.getByRole('button', { name: 'Open stored response' }).click();
    await page.getByLabel('Response ID').waitFor();
    await expectStateAccessible(page);
    await page.getByLabel('Response ID').fill(secondId);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await turn(page, 2).getByText('And three fishes.').waitFor();
    await turn(page, 1).getByText(text.slice(0, 20)).first().waitFor();

    await turn(page, 1).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete response' }).click();
    await page.getByText('This starts a new conversation').waitFor();
    expect((await service.fetch(`/v1/responses/${firstId}`)).status).toBe(404);
    expect(consoleErrors).toEqual([]);
  });

  inDeepTier(() => {
    test('can be stopped; a response without streaming has no events', async () => {
      const { page, consoleErrors } = await openPlayground();
      await send(page, STORY);
      await turn(page, 1).getByText('Once upon a time').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await turn(page, 1)
        .getByRole('status')
        .filter({ hasText: /^stopped$/i })
        .waitFor();
      const stoppedId = await idOf(turn(page, 1));
      const status = async () =>
        ((await (await service.fetch(`/v1/responses/${stoppedId}`)).json()) as { status: string }).status;
      await expect.poll(status).toBe('incomplete');

      await page.getByRole('button', { name: 'New conversation' }).click();
      await page.getByLabel('Stream').uncheck({ force: true });
      await page.getByLabel('Max output tokens').fill('5');
      await send(page, 'Say hello.');
      await ended(turn(page, 1), 'incomplete');
      expect(await turn(page, 1).getByRole('tab', { name: 'Events' }).count()).toBe(0);
      await page.getByText('Incomplete: max_output_tokens.').waitFor();
      expect(consoleErrors).toEqual([]);
    });
  });
});

test('a function call is shown, and its result is sent as entered', async () => {
  const { page, consoleErrors } = await openPlayground();
  await page.getByRole('region', { name: 'Tools' }).getByRole('button', { name: 'Example' }).click();
  await page.getByRole('combobox', { name: 'Tool choice' }).click();
  await page.getByRole('option', { name: 'get_weather' }).click();
  await page.getByLabel('Max output tokens').fill('60');
  await send(page, 'What is the weather in Oslo?');
  await ended(turn(page, 1));
  const call = await textOf(turn(page, 1), 'Calls get_weather');
  expect(JSON.parse(call)).toEqual({ city: 'Oslo' });

  await page.getByRole('combobox', { name: 'Tool choice' }).click();
  await page.getByRole('option', { name: 'none', exact: true }).click();
  await page.getByLabel(/^Result .*get_weather$/).fill(RAIN);
  await expectStateAccessible(page);
  await screenshot(page, 'responses-call');
  await page.getByRole('button', { name: 'Send results' }).click();
  await ended(turn(page, 2));
  const id = await idOf(turn(page, 2));
  const { data } = (await (await service.fetch(`/v1/responses/${id}/input_items`)).json()) as {
    data: object[];
  };
  expect(data).toMatchObject([{ type: 'function_call_output', output: RAIN }]);
  expect(consoleErrors).toEqual([]);
});

inDeepTier(() => {
  test('a stream that ends early is shown as interrupted', async () => {
    const { page } = await openPlayground();
    await page.route('**/v1/responses', async (route) => {
      const response = await route.fetch();
      const [event] = (await response.text()).split('\n\n');
      await route.fulfill({ response, body: `${event}\n\n` });
    });
    onTestFinished(() => page.unrouteAll());
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('option', { name: 'writer' }).click();
    await send(page, 'What is tea?');
    await turn(page, 1).getByText('The response was interrupted').waitFor();
    await ended(turn(page, 1), 'interrupted');
  });
});

test('a response follows the schema, and its curl sample works', async () => {
  const { page, consoleErrors } = await openPlayground();
  await page.getByRole('combobox', { name: 'Format' }).click();
  await page.getByRole('option', { name: 'JSON schema' }).click();
  await page.getByLabel('Schema', { exact: true }).fill('{"type": "object"');
  await send(page, 'Describe a sparrow.');
  await page.getByText('Invalid JSON').waitFor();
  await page.getByLabel('Schema', { exact: true }).fill('');
  await page
    .getByRole('region', { name: 'Response format' })
    .getByRole('button', { name: 'Example' })
    .click();
  const schema = JSON.parse(await page.getByLabel('Schema', { exact: true }).inputValue());
  await page.getByRole('button', { name: 'Send' }).click();
  await ended(turn(page, 1));
  const response = await textOf(turn(page, 1), 'Response');
  const valid = new Ajv2020({ strict: false }).compile(schema);
  expect(valid(JSON.parse(response)), response).toBe(true);
  await screenshot(page, 'responses-schema');

  await turn(page, 1).getByRole('tab', { name: 'Code' }).click();
  const code = await turn(page, 1).getByRole('region', { name: 'curl code' }).textContent();
  await expectStateAccessible(page);
  const shell = Bun.spawn(['bash', '-c', code ?? ''], {
    env: { ...process.env, API_KEY: SERVICE_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(await new Response(shell.stdout).text()).toContain('event: response.completed');
  expect(consoleErrors).toEqual([]);
});

test('an error of the service is shown at its field', async () => {
  const { page } = await openPlayground();
  await page.getByLabel('Functions').fill('[{"name": "not a name"}]');
  await send(page, 'Hello.');
  await expect.poll(() => page.getByLabel('Functions').getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel(/^Message/).inputValue()).toBe('Hello.');
  expect(await turn(page, 1).count()).toBe(0);
});

// Last, because each use of a code interpreter starts another spare one.
test('built-in tools show their input and output', async () => {
  const { page, consoleErrors } = await openPlayground();
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: 'writer' }).click();
  await page.getByRole('switch', { name: 'Code interpreter' }).check({ force: true });
  await page.getByRole('switch', { name: 'Web search' }).check({ force: true });
  await send(page, 'What is six times seven, and what is tea?');
  await ended(turn(page, 1));
  const tool = (name: string) => turn(page, 1).getByRole('group', { name });
  expect(await tool('Code interpreter').textContent()).toBe(
    'Code interpretercompletedprint(6 * 7)Output42\n',
  );
  expect(await tool('Web search').textContent()).toBe('Web searchcompletedwhat is teahttps://tea.example/');
  const link = turn(page, 1).getByRole('link', { name: 'Tea', exact: true });
  expect(await link.getAttribute('href')).toBe('https://tea.example/');
  expect(await textOf(turn(page, 1), 'Response')).toMatch(/^Tea is hot: https:\/\/tea\.example\//);
  await expectStateAccessible(page);
  await screenshot(page, 'responses-tools');
  expect(consoleErrors).toEqual([]);
});

inDeepTier(() => {
  test('fits a phone and is accessible in the dark color scheme', async () => {
    const { page } = await openPlayground({ width: PHONE_WIDTH, scheme: 'dark' });
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, 'responses-phone');
  });
});
