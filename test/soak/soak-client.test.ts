import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Ledger } from '../../soak/ledger.ts';
import { askSlowly } from '../../soak/raw-request.ts';
import { type Question, SoakClient } from '../../soak/soak-client.ts';
import type { SoakNode } from '../../soak/soak-node.ts';
import { startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';

/** The soak client against a faulty server: it distinguishes each outcome. */

const CHUNKED = 'HTTP/1.1 200 OK\r\nx-request-id: req_1\r\ntransfer-encoding: chunked\r\n\r\n';
const withBody = (status: number, body: string) =>
  `HTTP/1.1 ${status} Any\r\nx-request-id: req_1\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const REFUSAL =
  '{"error":{"message":"Later.","type":"server_error","param":null,"code":"server_overloaded"}}';

/** By path: what is sent, and whether the connection breaks then. */
const ANSWERS: Readonly<Record<string, readonly [text: string, breaks: boolean]>> = {
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
    const [text, breaks] = ANSWERS[path] ?? ['', true];
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
  ledger = new Ledger(() => performance.now());
  const node = { name: 'a', isUp: true, service: { baseUrl: `http://127.0.0.1:${port}` } };
  const never = new AbortController().signal;
  client = new SoakClient({
    ...{ ledger, load: 'any', organization: 'speech', site: 'main' },
    nodes: [node as unknown as SoakNode],
    ...{ random: () => 0, signal: never, stopped: never },
  });
});

describe('a call that ends', () => {
  test.each<[string, Question, string]>([
    ['right', { path: '/right', judge: (answer) => void answer.json() }, 'right'],
    [
      'with what its judge refuses',
      { path: '/right', judge: () => ({ end: 'wrong', detail: 'no' }) },
      'wrong',
    ],
    ['with what cannot be read', { path: '/torn-json', judge: (answer) => void answer.json() }, 'wrong'],
    ['with an error that says why', { path: '/refused' }, 'refused'],
    ['with one that does not', { path: '/untyped' }, 'untyped'],
    ['in the middle of its answer', { path: '/cut' }, 'cut'],
    ['before its answer', { path: '/gone' }, 'unreachable'],
    ['never', { path: '/silent', withinMs: 100 }, 'late'],
    ['by its client', { path: '/silent', leaveAfterMs: 50 }, 'left'],
  ])('%s', async (_, question, end) => {
    expect((await client.ask(question)) !== undefined).toBe(end === 'right');
    expect(ledger.calls).toMatchObject([{ end, organization: 'main/speech', node: 'a' }]);
    const hasHead = !['/gone', '/silent'].includes(question.path);
    expect(ledger.calls[0]?.requestId).toBe(hasHead ? 'req_1' : undefined);
  });
});

test('what was deleted is not kept, and what may be deleted is unsure', async () => {
  client.keep('file', 'one', '/right', Buffer.from('x'));
  client.keep('file', 'two', '/right', Buffer.from('x'));
  await client.drop('file', 'one', '/right');
  await client.drop('file', 'two', '/refused');
  expect(ledger.kept.map(({ state }) => state)).toEqual(['gone', 'unsure']);
});

test('a slow reader is through with the last chunk, though the connection stays', async () => {
  const ask = (path: string) =>
    askSlowly({
      port,
      path,
      headers: {},
      body: '',
      readBytes: 2,
      pauseMs: 5,
      signal: AbortSignal.timeout(5000),
    });
  expect(await ask('/chunks')).toMatchObject({ status: 200, bodyBytes: 5, isWhole: true });
  expect(await ask('/refused')).toMatchObject({ status: 503, isWhole: true });
  expect(await ask('/cut')).toMatchObject({ status: 200, bodyBytes: 3, isWhole: false });
});

test('a way that is frozen passes nothing on and closes nothing', async () => {
  const proxy = await startCutProxy(port);
  const socket = connect(proxy.port, '127.0.0.1');
  const heard: string[] = [];
  let isClosed = false;
  socket.on('data', (bytes) => heard.push(bytes.toString()));
  socket.on('close', () => {
    isClosed = true;
  });
  const ask = () => socket.write('GET /right HTTP/1.1\r\n\r\n');
  ask();
  await expect.poll(() => heard.length).toBe(1);
  proxy.freeze();
  ask();
  // A way of its own goes through, and that takes as long.
  const answer = await askSlowly({
    ...{ port: proxy.port, path: '/refused', headers: {}, body: '', readBytes: 1, pauseMs: 5 },
    signal: AbortSignal.timeout(5000),
  });
  expect([answer.status, heard.length, isClosed]).toEqual([503, 1, false]);
  socket.destroy();
  await proxy.close();
});
