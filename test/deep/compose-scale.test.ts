import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, type TestContext, test } from 'vitest';
import { needs } from '../harness/needs.ts';
import { type ComposeProject, HAS_PODMAN, hasImage, MAX_OPEN_FILES } from './containers/compose.ts';
import { PLUGIN_CALLS, type RemoteService } from './containers/plugin-calls.ts';
import { openServiceProject, shortClip } from './containers/service-image.ts';

/**
 * docker/compose.scale.yaml, started as it is: the balancer, two nodes that serve, two that work, PostgreSQL, Redis and the
 * server of S3. Where their images cannot be had, stand-ins made of Debian's packages take their place
 * (test/deep/containers), so their versions are older: HAProxy 2.6, PostgreSQL 15, Redis 7.0.
 */

const KEY = 'key-of-the-compose-test';
const BASE_IMAGES = [
  ...['docker.io/library/node:20-bookworm-slim', 'docker.io/library/haproxy:3.2-alpine'],
  ...['docker.io/library/postgres:17-alpine', 'docker.io/library/redis:8-alpine'],
  ...['docker.io/versity/versitygw:v1.8.0', 'docker.io/library/busybox:1.37'],
];
const NODES = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
/** Of the balancer: two for each of its connections, and some. */
const BALANCER_OPEN_FILES = 65_536;
const PATIENCE = { timeout: 60_000, interval: 200 };

let project: ComposeProject | undefined;
let service: RemoteService;

beforeAll(async () => {
  if (!HAS_PODMAN || (await Promise.all(BASE_IMAGES.map(hasImage))).includes(false)) return;
  project = await openServiceProject('compose.scale.yaml', {
    variables: { API_KEYS: `${KEY}:default` },
    // A machine may not allow that many open files to anybody.
    mounted: {
      './haproxy.cfg': (text) =>
        MAX_OPEN_FILES >= BALANCER_OPEN_FILES ? text : text.replace('maxconn 20000', 'maxconn 1000'),
    },
  });
  const startedMs = performance.now();
  await project.up('balancer', ...NODES);
  console.log(`four nodes are ready after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  service = { baseUrl: await project.baseUrl('balancer', 8080), key: KEY, clip: await shortClip() };
});
afterAll(() => project?.[Symbol.asyncDispose]());

/** The running project, or a skipped test. A failed test reports the state of the containers. */
function runningProject(context: TestContext): ComposeProject {
  needs(context, project !== undefined, 'podman and the base images (test/deep/containers/base-images.sh)');
  if (project === undefined) throw new Error('the project is not running');
  const running = project;
  onTestFailed(async () => console.log(await running.report()));
  return running;
}

const balancerAnswers = (path: string, init: RequestInit = {}) =>
  fetch(`${service.baseUrl}${path}`, { headers: { authorization: `Bearer ${KEY}` }, ...init });

/** The lines of the service's log that have a message. */
async function logged(from: ComposeProject, node: string, message: string) {
  const lines = (await from.logs(node)).split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);
}

test('requests are answered through the balancer, by both nodes that serve', async (context) => {
  const nodes = runningProject(context);
  // The balancer asks the nodes twice a second whether they are ready.
  await expect.poll(async () => (await balancerAnswers('/readyz')).status, PATIENCE).toBe(200);
  await PLUGIN_CALLS.speech?.(service);
  await PLUGIN_CALLS.realtime?.(service);
  const served = (node: string) => logged(nodes, node, 'request');
  await expect
    .poll(async () => {
      await (await balancerAnswers('/v1/models')).arrayBuffer();
      return Math.min((await served('api-1')).length, (await served('api-2')).length);
    }, PATIENCE)
    .toBeGreaterThan(0);
  expect([...(await served('worker-1')), ...(await served('worker-2'))]).toEqual([]);
});

test('a stored voice is known to every node', async (context) => {
  runningProject(context);
  await PLUGIN_CALLS.voices?.(service);
});

test('a batch and a video are done by a node that works', async (context) => {
  const nodes = runningProject(context);
  await PLUGIN_CALLS.batch?.(service);
  await PLUGIN_CALLS.video?.(service);
  const taken = await Promise.all(NODES.map((node) => logged(nodes, node, 'batch claimed')));
  expect(taken.map((lines) => lines.length).slice(0, 2)).toEqual([0, 0]);
  expect(taken.flat()).toHaveLength(1);
});

test('metrics are for operators: not at the balancer, but at a port of every node', async (context) => {
  const nodes = runningProject(context);
  expect((await balancerAnswers('/metrics')).status).toBe(404);
  const script = "console.log((await fetch('http://127.0.0.1:9090/metrics')).status)";
  for (const node of NODES) expect((await nodes.exec(node, 'bun', '-e', script)).output.trim()).toBe('200');
});

test('a node that serves is stopped and started, and no request is lost', async (context) => {
  const nodes = runningProject(context);
  const failures: string[] = [];
  let answered = 0;
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const body = (fields: object) => ({
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  const callUntilOver = async (path: string, init: RequestInit) => {
    while (!isOver) {
      const outcome = await balancerAnswers(path, init)
        .then(async (answer) => ((await answer.bytes()).length > 0 ? answer.status : 'no bytes'))
        .catch((error: Error) => error.message);
      if (outcome === 200) answered += 1;
      else failures.push(`${path}: ${outcome}`);
    }
  };
  const speech = { model: 'svc-tts', input: 'Good morning.', response_format: 'pcm' };
  const callers = [
    callUntilOver('/v1/embeddings', body({ model: 'all-minilm-l6-v2', input: 'The cat sat.' })),
    callUntilOver('/v1/audio/speech', body(speech)),
  ];
  const more = (count: number) => expect.poll(() => answered, PATIENCE).toBeGreaterThan(answered + count);
  await more(10);
  expect(await nodes.stop('api-1')).toBe(0);
  await more(10);
  await nodes.restart('api-1');
  await more(10);
  isOver = true;
  await Promise.all(callers);
  expect(failures).toEqual([]);
});
