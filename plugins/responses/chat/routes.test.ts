import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bind } from '../../../src/http/route.ts';
import { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { FakeTextEngine } from '../../../test/doubles/fake-text-engine.ts';
import { KEY_A, testApp } from '../../../test/harness/test-app.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls } from '../../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { CHAT_ROUTES } from './routes.ts';
import { ChatService } from './service.ts';

const PATH = '/v1/chat/completions';
const ASK = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello?' }] };

/** The routes with a fake engine in the real app, and a client that appends the path to this URL. */
function setUp(baseURL: string) {
  const calls = new RecordedCalls();
  const engine = new FakeTextEngine();
  const chat = new ChatService({
    text: { ids: ['m'], get: () => engine },
    open: new OpenRequests('text', 10),
    clock: new ManualClock(),
    log: new RecordingLogger(),
  });
  const app = testApp({ routes: [bind(CHAT_ROUTES, { chat, calls })] });
  onTestFinished(() => app.close());
  const client = new OpenAI({
    apiKey: KEY_A,
    baseURL: `http://service.test${baseURL}`,
    maxRetries: 0,
    fetch: (url, init) => app.send(new URL(url as string).pathname, init as RequestInit),
  });
  return { app, calls, completions: client.chat.completions };
}

describe.each([
  { baseURL: '/v1', route: PATH },
  { baseURL: PATH, route: `${PATH}/chat/completions` },
])('a client with the base URL $baseURL', ({ baseURL, route }) => {
  it('receives a complete completion', async () => {
    const { completions, calls } = setUp(baseURL);
    const { choices } = await completions.create(ASK);
    expect(choices).toMatchObject([{ message: { content: 'Hello.' }, finish_reason: 'stop' }]);
    expect(calls.rows).toMatchObject([{ endpoint: `POST ${PATH}`, status: 'completed', organization: 'a' }]);
  });

  it('receives a stream', async () => {
    const { completions, calls } = setUp(baseURL);
    const stream = await completions.create({ ...ASK, stream: true });
    const pieces = await Array.fromAsync(stream, ({ choices }) => choices[0]?.delta.content ?? '');
    expect(pieces.join('')).toBe('Hello.');
    expect(calls.rows).toMatchObject([{ endpoint: `POST ${PATH}`, status: 'completed' }]);
  });

  it('receives the usual errors', async () => {
    const { completions } = setUp(baseURL);
    const refused = completions.create({ model: 'm', messages: [] });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'messages' });
  });

  it('is counted under the documented route', async () => {
    const { app, completions } = setUp(baseURL);
    await completions.create(ASK);
    const counted = `http_requests_total{method="POST",route="${route}",status="200"} 1`;
    await expect.poll(() => app.metrics.render()).toContain(counted);
  });
});

it('other doubled paths do not exist, and the OpenAPI document omits the doubled path', async () => {
  const { app } = setUp(PATH);
  const thrice = await app.send(`${PATH}/chat/completions/chat/completions`, { method: 'POST' });
  expect(thrice.status).toBe(404);
  const document = (await (await app.send('/swagger/json')).json()) as { paths: object };
  expect(Object.keys(document.paths).filter((path) => path.includes('chat'))).toEqual([PATH]);
});
