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

/** Two real nodes behind the real HAProxy with docker/haproxy.cfg. */

const PATIENCE = { timeout: 30_000 };
const HEADERS = { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' };
const PORTION = Array.from({ length: 480 }, () => 1);
/** Portions are 5 ms apart. */
const SHORT = Array.from({ length: 40 }, () => PORTION);
const LONG = Array.from({ length: 400 }, () => PORTION);

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
  upstream.answer(({ input }) => pcmAnswer(input === 'Long.' ? LONG : SHORT));
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

const answeredBy = (node: LaunchedService) =>
  node.log().filter(({ msg, route }) => msg === 'request' && route === '/v1/audio/speech').length;

test('nodes are restarted one after the other, and no request fails', async () => {
  const failures: string[] = [];
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const callAgainAndAgain = async (text: string, sound: typeof LONG) => {
    while (!isOver) {
      const heard = await speak(text)
        .then(async (answer) => `${answer.status}, ${(await answer.bytes()).length} bytes`)
        .catch((error: Error) => error.message);
      if (heard !== `200, ${sound.flat().length} bytes`) failures.push(`${text} ${heard}`);
    }
  };
  // Long ones are still streamed when a node receives SIGTERM, so it stops slowly and rejects the others.
  const callers = [
    ...Array.from({ length: 4 }, () => callAgainAndAgain('Long.', LONG)),
    ...Array.from({ length: 4 }, () => callAgainAndAgain('Short.', SHORT)),
  ];
  for (const at of [0, 1] as const) {
    await expect.poll(() => answeredBy(nodes[at]), PATIENCE).toBeGreaterThan(10);
    const port = portOf(nodes[at]);
    expect(await nodes[at].stop()).toBe(0);
    nodes[at] = await launch(port);
    await expect.poll(() => answeredBy(nodes[at]), PATIENCE).toBeGreaterThan(10);
  }
  isOver = true;
  await Promise.all(callers);
  expect(failures).toEqual([]);
  expect(balancer.output()).toContain('nodes/api-2');
});

test('while no node is ready, requests that need no unavailable model are served', async () => {
  await upstream.close();
  for (const node of nodes) {
    const readiness = async () => {
      await speakStreamed(node, 'One.');
      return (await node.fetch('/readyz')).json();
    };
    await expect.poll(readiness, PATIENCE).toMatchObject({
      status: 'unavailable',
      models: { 'svc-tts': { ready: false, required: true }, 'svc-stt': { ready: true } },
    });
    expect((await node.fetch('/readyz')).status).toBe(503);
  }
  await expect.poll(() => balancer.output(), PATIENCE).toContain('backend nodes has no server available');
  const models = await fetch(`${balancer.baseUrl}/v1/models`, { headers: HEADERS });
  expect(models.status).toBe(200);
  // A node's own words, for programs.
  expect(await (await speak('One.')).json()).toHaveProperty('error.message');
});

test('who hangs up is not worked for any more', async () => {
  const asked = Promise.withResolvers<void>();
  upstream.answer(() => {
    asked.resolve();
    return new Promise<Response>(() => undefined);
  });
  const leaving = new AbortController();
  const answer = speak('One.', leaving.signal).catch((error: Error) => error.name);
  await asked.promise;
  leaving.abort();
  expect(await answer).toBe('AbortError');
  await expect.poll(() => upstream.cancelled, PATIENCE).toBe(1);
});

test('a client cannot choose the address that the nodes count its invalid keys for', async () => {
  const guess = async (at: number) => {
    const headers = { 'x-api-key': 'wrong', 'x-forwarded-for': `192.0.2.${at}` };
    return (await fetch(`${balancer.baseUrl}/v1/models`, { headers })).status;
  };
  const statuses = [];
  for (let at = 0; at < 10; at += 1) statuses.push(await guess(at));
  // Each of the two nodes allows two of them.
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(4);
  expect(statuses.at(-1)).toBe(429);
});
