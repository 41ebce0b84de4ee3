import { describe, expect, it, onTestFinished } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { CodeRunner } from '../../src/contract/engines/code-runner.ts';
import {
  OPERATION_URLS,
  type OperationContext,
  type OperationUrl,
} from '../../src/contract/engines/operation.ts';
import { bind } from '../../src/http/route.ts';
import { PluginLifecycle } from '../../src/plugin-host/lifecycle.ts';
import { FakeEmbedEngine } from '../../test/doubles/fake-embed-engine.ts';
import { FakeTextEngine } from '../../test/doubles/fake-text-engine.ts';
import { memoryStore } from '../../test/harness/response-app.ts';
import { KEY_A, KEY_ID_A, testApp } from '../../test/harness/test-app.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls } from '../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { CHAT_ROUTES } from './chat/routes.ts';
import { EMBEDDING_ROUTES } from './embeddings/routes.ts';
import { responses as responsesPlugin } from './index.ts';
import { RESPONSE_ROUTES } from './responses/routes.ts';

const never = new AbortController().signal;
const codeRunner: CodeRunner = {
  openContainer() {
    throw new Error('no program is run here');
  },
};

/** A valid body for each operation. */
const BODIES: Readonly<Record<OperationUrl, object>> = {
  '/v1/chat/completions': { model: 'm', messages: [{ role: 'user', content: 'Hello.' }] },
  '/v1/embeddings': { model: 'e', input: ['one', 'two'] },
  '/v1/responses': { model: 'm', input: 'Hello.' },
};

interface SetUpOptions {
  /** Awaited before the engine generates anything. */
  readonly before?: (signal: AbortSignal) => Promise<void> | void;
  /** Awaited before the second part of the output, or before the vectors. */
  readonly within?: (signal: AbortSignal) => Promise<void> | void;
  /** Thrown instead of any result. */
  readonly failure?: () => unknown;
  readonly places?: number;
}

/** The plugin with fake engines, and its routes in the real app. */
async function setUp({ before, within, failure, places = 100 }: SetUpOptions = {}) {
  const text = new FakeTextEngine({
    before: (_, index, signal) => (index === 0 ? before : within)?.(signal),
    refusal: () => failure?.(),
  });
  const embed = new FakeEmbedEngine({
    before: async (_, signal) => {
      await before?.(signal);
      await within?.(signal);
    },
    failure: () => failure?.(),
  });
  const [routeCalls, lineCalls] = [new RecordedCalls(), new RecordedCalls()];
  const responses = memoryStore();
  const lifecycle = new PluginLifecycle();
  const services = {
    text: { ids: ['m'], get: (id: string) => (id === 'm' ? text : undefined) },
    embed: { ids: ['e'], get: (id: string) => (id === 'e' ? embed : undefined) },
    calls: routeCalls,
    responses,
    codeRunner,
    webSearch: { available: false, search: async () => [] },
    clock: new ManualClock(),
    log: new RecordingLogger(),
  };
  const limits = {
    requestBytes: 1,
    speechCharacters: 1,
    speechRequestsPerOrganization: 1,
    uploadsPerOrganization: 1,
    textRequestsPerOrganization: places,
  };
  const { provides, services: parts } = await responsesPlugin.setup({
    services,
    settings: { dataDir: '', limits },
    lifecycle,
  });
  const operations = provides?.operations;
  if (operations === undefined || parts === undefined) throw new Error('the plugin provides no operations');
  const routes = [...CHAT_ROUTES, ...EMBEDDING_ROUTES, ...RESPONSE_ROUTES];
  const app = testApp({ routes: [bind(routes, parts)] });
  onTestFinished(async () => {
    app.close();
    await lifecycle.close();
  });
  const order = (more: Partial<OperationContext> = {}): OperationContext => ({
    caller: { organization: 'org', keyId: 'key', requestId: newId('req_') },
    priority: 'batch',
    calls: lineCalls,
    ...more,
  });
  return {
    lifecycle,
    text,
    embed,
    routeCalls,
    lineCalls,
    responses,
    order,
    post: (url: OperationUrl, body: unknown) =>
      app.send(url, {
        method: 'POST',
        headers: { 'x-api-key': KEY_A, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    call: (url: OperationUrl, body: unknown, signal = never, more: Partial<OperationContext> = {}) =>
      operations.get(url).execute(body, order(more), signal),
  };
}

/** Resolves when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** Replaces the ids, which differ in each response. */
function withoutIds(text: string): string {
  return text.replaceAll(/"(resp_|msg_|chatcmpl-)[0-9a-f]{32}/g, '"$1…');
}

describe.each(OPERATION_URLS)('the operation %s', (url) => {
  const body = BODIES[url];
  const engineOf = ({ text, embed }: Awaited<ReturnType<typeof setUp>>) =>
    url === '/v1/embeddings' ? embed : text;

  it('returns the same bytes as the route', async () => {
    const { call, post } = await setUp();
    const sent = await post(url, body);
    expect(sent.headers.get('content-type')).toBe('application/json');
    expect(withoutIds(await call(url, body))).toBe(withoutIds(await sent.text()));
  });

  it('ignores the streaming options of the body', async () => {
    const { call } = await setUp();
    for (const stream of [
      { stream: true, stream_options: { include_usage: true } },
      { stream: null },
      { stream_options: {} },
    ]) {
      expect(withoutIds(await call(url, { ...body, ...stream }))).toBe(withoutIds(await call(url, body)));
    }
  });

  it('rejects invalid bodies with the error of the route', async () => {
    const { call, post, lineCalls } = await setUp();
    const bodies = [
      { ...body, model: 'none' },
      Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'model')),
      { ...body, input: 5, messages: 5 },
      { ...body, previous_response_id: 'resp_0', dimensions: 0, n: 2 },
      // Embeddings have no such field and ignore unknown fields.
      ...(url === '/v1/embeddings' ? [] : [{ ...body, stream: 'yes' }]),
    ];
    for (const bad of bodies) {
      const { error } = (await (await post(url, bad)).json()) as { error: { message: string } };
      const thrown = await call(url, bad).catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(ServiceError);
      if (!(thrown instanceof ServiceError)) continue;
      const { message, type, param = null, code = null } = thrown;
      expect({ message, type, param, code }).toEqual(error);
    }
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    for (const bad of [[body], null, 'text', { ...body, user: deep }]) {
      await expect(call(url, bad)).rejects.toMatchObject({ kind: 'invalid_request' });
    }
    expect(lineCalls.openings).toEqual([]);
  });

  it('uses the caller, priority and billing of its context', async () => {
    const app = await setUp();
    await app.call(url, body);
    await app.call(url, body, never, { priority: 'interactive' });
    await app.post(url, body);
    expect(engineOf(app).requests.map(({ priority, fairnessKey: owner }) => [priority, owner])).toEqual([
      ['batch', 'key'],
      ['interactive', 'key'],
      ['interactive', KEY_ID_A],
    ]);
    expect(app.lineCalls.rows).toMatchObject([
      { endpoint: `POST ${url}`, organization: 'org', status: 'completed' },
      { endpoint: `POST ${url}`, organization: 'org', status: 'completed' },
    ]);
    expect(app.routeCalls.rows).toMatchObject([{ endpoint: `POST ${url}`, organization: 'a' }]);
  });

  it('is not counted as an interactive request if it is a batch line', async () => {
    const gate = Promise.withResolvers<void>();
    const app = await setUp({ before: () => gate.promise, places: 1 });
    const lines = [app.call(url, body), app.call(url, body)];
    const interactive = app.call(url, body, never, { priority: 'interactive' });
    await expect.poll(() => engineOf(app).requests.length).toBe(3);
    await expect(app.call(url, body, never, { priority: 'interactive' })).rejects.toMatchObject({
      kind: 'rate_limited',
    });
    gate.resolve();
    await Promise.all([...lines, interactive]);
  });

  it('throws the reason of an abort', async () => {
    const app = await setUp({ before: aborted });
    const leaving = new AbortController();
    const line = app.call(url, body, leaving.signal);
    await expect.poll(() => engineOf(app).requests.length).toBe(1);
    leaving.abort('the batch was cancelled');
    await expect(line).rejects.toBe('the batch was cancelled');
    await expect(app.call(url, body, leaving.signal)).rejects.toBe('the batch was cancelled');
    expect(app.lineCalls.unended).toBe(0);
  });

  it('is awaited by a drain, and fails with an error at the deadline', async () => {
    const begun = Promise.withResolvers<void>();
    const app = await setUp({
      within: (signal) => {
        begun.resolve();
        return aborted(signal);
      },
    });
    const line = app.call(url, body).catch((reason: unknown) => reason);
    await begun.promise;
    const until = new AbortController();
    let drained = false;
    const draining = app.lifecycle.drain(until.signal).then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    until.abort();
    await draining;
    expect(await line).toMatchObject({ code: 'server_overloaded' });
  });

  it('replaces unexpected errors as the route does', async () => {
    const app = await setUp({ failure: () => new Error('secret') });
    const thrown = await app.call(url, body).catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ kind: 'internal', cause: expect.objectContaining({ message: 'secret' }) });
    expect((thrown as Error).message).not.toContain('secret');
  });
});

it('embeddings have the encoding that the line requests', async () => {
  const { call } = await setUp();
  const list = JSON.parse(
    await call('/v1/embeddings', { ...BODIES['/v1/embeddings'], encoding_format: 'base64' }),
  );
  expect(list.data[0].embedding).toMatch(/^[A-Za-z0-9+/]+=*$/);
});

it('a long list of embeddings is serialized in slices that yield to the event loop', async () => {
  const { call } = await setUp();
  let turns = 0;
  let over = false;
  const count = () => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  const input = Array.from({ length: 512 }, (_, at) => `text ${at}`);
  const listing = call('/v1/embeddings', { model: 'e', input, dimensions: 256 });
  setImmediate(count);
  const list = JSON.parse(await listing);
  over = true;
  expect(list.data).toHaveLength(512);
  // 131,072 numbers.
  expect(turns).toBeGreaterThanOrEqual(7);
});

it('a response of a line is stored for the organization of its context', async () => {
  const { call, responses } = await setUp();
  const { id } = JSON.parse(await call('/v1/responses', BODIES['/v1/responses']));
  expect(await responses.get('org', id)).toMatchObject({ status: 'completed' });
  expect(await responses.get('a', id)).toBeUndefined();
});
