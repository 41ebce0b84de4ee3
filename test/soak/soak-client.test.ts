import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sendSlowly } from '../../soak/faults/raw-request.ts';
import { Ledger } from '../../soak/report/ledger.ts';
import { type Question, SoakClient } from '../../soak/site/soak-client.ts';
import type { SoakNode } from '../../soak/site/soak-node.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';

/** The soak client distinguishes the outcomes of calls to a faulty server. */

const CHUNKED = 'HTTP/1.1 200 OK\r\nx-request-id: req_1\r\ntransfer-encoding: chunked\r\n\r\n';
const withBody = (status: number, body: string) =>
  `HTTP/1.1 ${status} Any\r\nx-request-id: req_1\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const REFUSAL =
  '{"error":{"message":"Later.","type":"server_error","param":null,"code":"server_overloaded"}}';

/** Response by path, and whether the connection is closed afterwards. */
const RESPONSES: Readonly<Record<string, readonly [text: string, breaks: boolean]>> = {
  '/right': [withBody(200, '{"n":1}'), false],
  '/torn-json': [withBody(200, '{"n":'), false],
  '/refused': [withBody(503, REFUSAL), false],
  '/untyped': [withBody(500, 'oh'), false],
  '/cut': [`${CHUNKED}3\r\nabc\r\n`, true],
  '/gone': ['', true],
  '/silent': ['', false],
  '/chunks': [`${CHUNKED}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`, false],
};

const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    const path = bytes.toString().split(' ')[1] ?? '';
    const [text, breaks] = RESPONSES[path] ?? ['', true];
    socket.write(text, () => breaks && socket.destroy());
  });
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address === 'object' && address !== null) port = address.port;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

let ledger: Ledger;
let client: SoakClient;
beforeEach(() => {
  ledger = new Ledger(() => systemClock.monotonicMs());
  const node = { name: 'a', isUp: true, service: { baseUrl: `http://127.0.0.1:${port}` } };
  const never = new AbortController().signal;
  client = new SoakClient({
    ledger,
    load: 'any',
    organization: 'speech',
    site: 'main',
    nodes: [node as unknown as SoakNode],
    random: () => 0,
    signal: never,
    stopped: never,
  });
});

describe('a call', () => {
  test.each<[string, Question, string]>([
    ['with a valid response', { path: '/right', judge: (response) => void response.json() }, 'right'],
    [
      'with a response that its check rejects',
      { path: '/right', judge: () => ({ end: 'wrong', detail: 'no' }) },
      'wrong',
    ],
    ['with invalid JSON', { path: '/torn-json', judge: (response) => void response.json() }, 'wrong'],
    ['with an error body', { path: '/refused' }, 'rejected'],
    ['with an error without an error body', { path: '/untyped' }, 'untyped'],
    ['that breaks during its response', { path: '/cut' }, 'cut'],
    ['that breaks before its response', { path: '/gone' }, 'unreachable'],
    ['without a response in time', { path: '/silent', withinMs: 100 }, 'late'],
    ['that its client aborts', { path: '/silent', leaveAfterMs: 50 }, 'left'],
  ])('%s is recorded with its outcome', async (_, question, end) => {
    expect((await client.sendRequest(question)) !== undefined).toBe(end === 'right');
    expect(ledger.calls).toMatchObject([{ end, organization: 'main/speech', node: 'a' }]);
    const hasHead = !['/gone', '/silent'].includes(question.path);
    expect(ledger.calls[0]?.requestId).toBe(hasHead ? 'req_1' : undefined);
  });
});

test('a deleted object is recorded as gone, after a failed deletion as unsure', async () => {
  client.keep('file', 'one', '/right', Buffer.from('x'));
  client.keep('file', 'two', '/right', Buffer.from('x'));
  await client.drop('file', 'one', '/right');
  await client.drop('file', 'two', '/refused');
  expect(ledger.kept.map(({ state }) => state)).toEqual(['gone', 'unsure']);
});

test('a slow reader ends with the last chunk of a connection that stays open', async () => {
  const readSlowly = (path: string) =>
    sendSlowly({
      port,
      path,
      headers: {},
      body: '',
      readBytes: 2,
      pauseMs: 5,
      signal: AbortSignal.timeout(5000),
    });
  expect(await readSlowly('/chunks')).toMatchObject({ status: 200, bodyBytes: 5, isWhole: true });
  expect(await readSlowly('/refused')).toMatchObject({ status: 503, isWhole: true });
  expect(await readSlowly('/cut')).toMatchObject({ status: 200, bodyBytes: 3, isWhole: false });
});

test('a frozen connection forwards nothing and stays open', async () => {
  const proxy = await startCutProxy(port);
  const socket = connect(proxy.port, '127.0.0.1');
  const received: string[] = [];
  let isClosed = false;
  socket.on('data', (bytes) => received.push(bytes.toString()));
  socket.on('close', () => {
    isClosed = true;
  });
  const sendRequest = () => socket.write('GET /right HTTP/1.1\r\n\r\n');
  sendRequest();
  await expect.poll(() => received.length).toBe(1);
  proxy.freeze();
  sendRequest();
  // A new connection through the proxy works; its duration is long enough to detect forwarded data.
  const response = await sendSlowly({
    port: proxy.port,
    path: '/refused',
    headers: {},
    body: '',
    readBytes: 1,
    pauseMs: 5,
    signal: AbortSignal.timeout(5000),
  });
  expect([response.status, received.length, isClosed]).toEqual([503, 1, false]);
  socket.destroy();
  await proxy.close();
});
