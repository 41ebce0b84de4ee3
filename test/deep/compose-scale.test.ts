import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, type TestContext, test } from 'vitest';
import { needs } from '../harness/needs.ts';
import { type ComposeProject, HAS_PODMAN, hasImage, MAX_OPEN_FILES } from './containers/compose.ts';
import { PLUGIN_CALLS, type RemoteService } from './containers/plugin-calls.ts';
import { openServiceProject, shortClip } from './containers/service-image.ts';

/**
 * The unchanged docker/compose.scale.yaml: the balancer, two API nodes, two worker nodes, PostgreSQL, Redis and the S3
 * server. Images that cannot be pulled are replaced by stand-ins built from Debian packages (test/deep/containers), with
 * older versions: HAProxy 2.6, PostgreSQL 15, Redis 7.0.
 */

const KEY = 'key-of-the-compose-test';
const BASE_IMAGES = [
  ...['docker.io/library/node:20-bookworm-slim', 'docker.io/library/haproxy:3.2-alpine'],
  ...['docker.io/library/postgres:17-alpine', 'docker.io/library/redis:8-alpine'],
  ...['docker.io/versity/versitygw:v1.8.0', 'docker.io/library/busybox:1.37'],
];
const NODES = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
/** File descriptors of the balancer: two per connection, and a reserve. */
const BALANCER_OPEN_FILES = 65_536;
const POLL = { timeout: 60_000, interval: 200 };

let project: ComposeProject | undefined;
let service: RemoteService;

beforeAll(async () => {
  if (!HAS_PODMAN || (await Promise.all(BASE_IMAGES.map(hasImage))).includes(false)) return;
  project = await openServiceProject('compose.scale.yaml', {
    variables: { API_KEYS: `${KEY}:default` },
    // The limit of the machine on open files may be lower.
    mounted: {
      './haproxy.cfg': (text) =>
        MAX_OPEN_FILES >= BALANCER_OPEN_FILES ? text : text.replace('maxconn 20000', 'maxconn 1000'),
    },
  });
  const startedMs = performance.now();
  await project.up('balancer', ...NODES);
  console.log(`four nodes ready after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
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

const fetchThroughBalancer = (path: string, init: RequestInit = {}) =>
  fetch(`${service.baseUrl}${path}`, { headers: { authorization: `Bearer ${KEY}` }, ...init });

/** The log lines of a node with this message. */
async function logLines(from: ComposeProject, node: string, message: string) {
  const lines = (await from.logs(node)).split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);
}

test('the balancer distributes requests to both API nodes and to no worker node', async (context) => {
  const nodes = runningProject(context);
  // The balancer checks the readiness of the nodes twice per second.
  await expect.poll(async () => (await fetchThroughBalancer('/readyz')).status, POLL).toBe(200);
  await PLUGIN_CALLS.speech?.(service);
  await PLUGIN_CALLS.realtime?.(service);
  const served = (node: string) => logLines(nodes, node, 'request');
  await expect
    .poll(async () => {
      await (await fetchThroughBalancer('/v1/models')).arrayBuffer();
      return Math.min((await served('api-1')).length, (await served('api-2')).length);
    }, POLL)
    .toBeGreaterThan(0);
  expect([...(await served('worker-1')), ...(await served('worker-2'))]).toEqual([]);
});

test('a stored voice can be used on every node', async (context) => {
  runningProject(context);
  await PLUGIN_CALLS.voices?.(service);
});

test('a batch and a video run on worker nodes', async (context) => {
  const nodes = runningProject(context);
  await PLUGIN_CALLS.batch?.(service);
  await PLUGIN_CALLS.video?.(service);
  const claims = await Promise.all(NODES.map((node) => logLines(nodes, node, 'batch claimed')));
  expect(claims.map((lines) => lines.length).slice(0, 2)).toEqual([0, 0]);
  expect(claims.flat()).toHaveLength(1);
});

test('/metrics is 404 at the balancer and served on port 9090 of every node', async (context) => {
  const nodes = runningProject(context);
  expect((await fetchThroughBalancer('/metrics')).status).toBe(404);
  const script = "console.log((await fetch('http://127.0.0.1:9090/metrics')).status)";
  for (const node of NODES) expect((await nodes.exec(node, 'bun', '-e', script)).output.trim()).toBe('200');
});

test('no request fails while an API node is stopped and started', async (context) => {
  const nodes = runningProject(context);
  const failures: string[] = [];
  let succeeded = 0;
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
      const outcome = await fetchThroughBalancer(path, init)
        .then(async (response) => ((await response.bytes()).length > 0 ? response.status : 'no bytes'))
        .catch((error: Error) => error.message);
      if (outcome === 200) succeeded += 1;
      else failures.push(`${path}: ${outcome}`);
    }
  };
  const speech = { model: 'svc-tts', input: 'Good morning.', response_format: 'pcm' };
  const clients = [
    callUntilOver('/v1/embeddings', body({ model: 'all-minilm-l6-v2', input: 'The cat sat.' })),
    callUntilOver('/v1/audio/speech', body(speech)),
  ];
  const waitForMore = (count: number) =>
    expect.poll(() => succeeded, POLL).toBeGreaterThan(succeeded + count);
  await waitForMore(10);
  expect(await nodes.stop('api-1')).toBe(0);
  await waitForMore(10);
  await nodes.restart('api-1');
  await waitForMore(10);
  isOver = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
});
