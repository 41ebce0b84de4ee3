import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Balancer, HAS_BALANCER, startBalancer } from '../../tools/harness/servers/balancer.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  SERVICE_KEY,
  speakStreamed,
} from '../../tools/harness/services/launcher.ts';
import {
  type FakeUpstream,
  pcmAnswer,
  startFakeUpstream,
} from '../../tools/harness/upstreams/fake-upstream.ts';
import { needs } from '../harness/needs.ts';

/** Two nodes behind HAProxy with docker/haproxy.cfg. */

const POLL = { interval: 50 };
const HEADERS = { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' };
const CHUNK = Array.from({ length: 480 }, () => 1);
/** The upstream sends one chunk every 5 ms. */
const SHORT_SPEECH = Array.from({ length: 40 }, () => CHUNK);
const LONG_SPEECH = Array.from({ length: 400 }, () => CHUNK);

let upstream: FakeUpstream;
let nodes: [LaunchedService, LaunchedService];
let balancer: Balancer;
const closing: (() => Promise<unknown>)[] = [];

const launch = (port = 0) =>
  launchService({
    config: `${NO_RECOGNISER}
      [models."svc-tts"]
      kind = "upstream"
      base_url = "${upstream.baseUrl}"
      model = "any"
      required = true
      [http]
      trusted_proxies = ["127.0.0.0/8"]
      invalid_keys_per_minute = 2`,
    env: { PLUGINS: 'speech', PORT: String(port) },
  });
const portOf = (node: LaunchedService) => Number(new URL(node.baseUrl).port);

beforeEach(async (context) => {
  needs(context, HAS_BALANCER, 'haproxy');
  upstream = startFakeUpstream();
  upstream.answer(({ input }) => pcmAnswer(input === 'Long.' ? LONG_SPEECH : SHORT_SPEECH));
  closing.push(() => upstream.close());
  nodes = await Promise.all([launch(), launch()]);
  closing.push(() => Promise.all(nodes.map((node) => node.stop())));
  balancer = await startBalancer([portOf(nodes[0]), portOf(nodes[1])]);
  closing.push(() => balancer.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const speak = (text: string, signal?: AbortSignal) =>
  fetch(`${balancer.baseUrl}/v1/audio/speech`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ model: 'svc-tts', input: text, response_format: 'pcm' }),
    ...(signal && { signal }),
  });

const requestsServed = (node: LaunchedService) =>
  node.log().filter(({ msg, route }) => msg === 'request' && route === '/v1/audio/speech').length;

test('no request fails while the nodes restart one after the other', async () => {
  const failures: string[] = [];
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const requestUntilOver = async (text: string, expected: typeof LONG_SPEECH) => {
    while (!isOver) {
      const outcome = await speak(text)
        .then(async (response) => `${response.status}, ${(await response.bytes()).length} bytes`)
        .catch((error: Error) => error.message);
      if (outcome !== `200, ${expected.flat().length} bytes`) failures.push(`${text} ${outcome}`);
    }
  };
  // Long responses are still streaming when a node receives SIGTERM. It drains them and rejects new requests.
  const clients = [
    ...Array.from({ length: 4 }, () => requestUntilOver('Long.', LONG_SPEECH)),
    ...Array.from({ length: 4 }, () => requestUntilOver('Short.', SHORT_SPEECH)),
  ];
  for (const at of [0, 1] as const) {
    await expect.poll(() => requestsServed(nodes[at]), POLL).toBeGreaterThan(10);
    const port = portOf(nodes[at]);
    expect(await nodes[at].stop()).toBe(0);
    nodes[at] = await launch(port);
    await expect.poll(() => requestsServed(nodes[at]), POLL).toBeGreaterThan(10);
  }
  isOver = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(balancer.output()).toContain('nodes/api-2');
});

test('while no node is ready, requests that need no model still succeed', async () => {
  await upstream.close();
  for (const node of nodes) {
    const readiness = async () => {
      await speakStreamed(node, 'One.');
      return (await node.fetch('/readyz')).json();
    };
    await expect.poll(readiness, POLL).toMatchObject({
      status: 'unavailable',
      models: { 'svc-tts': { ready: false, required: true }, 'svc-stt': { ready: true } },
    });
    expect((await node.fetch('/readyz')).status).toBe(503);
  }
  await expect.poll(() => balancer.output(), POLL).toContain('backend nodes has no server available');
  const models = await fetch(`${balancer.baseUrl}/v1/models`, { headers: HEADERS });
  expect(models.status).toBe(200);
  // The error body of a node, not of the balancer.
  expect(await (await speak('One.')).json()).toHaveProperty('error.message');
});

test('an aborted client request cancels the upstream request', async () => {
  const requested = Promise.withResolvers<void>();
  upstream.answer(() => {
    requested.resolve();
    return new Promise<Response>(() => undefined);
  });
  const controller = new AbortController();
  const errorName = speak('One.', controller.signal).catch((error: Error) => error.name);
  await requested.promise;
  controller.abort();
  expect(await errorName).toBe('AbortError');
  await expect.poll(() => upstream.cancelled, POLL).toBe(1);
});

test('a client cannot evade the limit on invalid keys with a forged x-forwarded-for', async () => {
  const requestWithInvalidKey = async (at: number) => {
    const headers = { 'x-api-key': 'wrong', 'x-forwarded-for': `192.0.2.${at}` };
    return (await fetch(`${balancer.baseUrl}/v1/models`, { headers })).status;
  };
  const statuses = [];
  for (let at = 0; at < 10; at += 1) statuses.push(await requestWithInvalidKey(at));
  // Each of the two nodes allows two invalid keys per minute.
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(4);
  expect(statuses.at(-1)).toBe(429);
});
