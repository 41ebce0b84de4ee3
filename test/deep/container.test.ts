import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFailed, type TestContext, test } from 'vitest';
import { needs } from '../harness/needs.ts';
import { type ComposeProject, HAS_PODMAN, hasImage, podmanOutput } from './containers/compose.ts';
import { MISSING_LIBRARIES } from './containers/native-links.ts';
import { PLUGIN_CALLS, type RemoteService } from './containers/plugin-calls.ts';
import { DOCKER, openServiceProject, SERVICE_IMAGE, shortClip } from './containers/service-image.ts';

/** The CPU image, built and started with docker/compose.yaml. Its volume has the model files of this machine. */

const KEY = 'key-of-the-container-test';
const SERVICE = 'voice';
const BASE_IMAGE = 'docker.io/library/node:20-bookworm-slim';
const PLUGIN_TIMEOUT_MS = 300_000;

let project: ComposeProject | undefined;
let service: RemoteService;

beforeAll(async () => {
  if (!HAS_PODMAN || !(await hasImage(BASE_IMAGE))) return;
  project = await openServiceProject('compose.yaml', { variables: { API_KEYS: `${KEY}:default` } });
  const startedMs = performance.now();
  await project.up(SERVICE);
  const readyS = (performance.now() - startedMs) / 1000;
  const size = Number(await podmanOutput('image', 'inspect', '--format={{.Size}}', SERVICE_IMAGE));
  console.log(`image of ${Math.round(size / 1e6)} MB, ready ${readyS.toFixed(1)} s after its first start`);
  service = { baseUrl: await project.baseUrl(SERVICE, 8080), key: KEY, clip: await shortClip() };
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

test('the container runs as user 1000 without capabilities and with a read-only root', async (context) => {
  const container = runningProject(context);
  const { output: status } = await container.exec(SERVICE, 'cat', '/proc/1/status');
  expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
  expect(status).toMatch(/^CapBnd:\t0+$/m);
  expect(status).toMatch(/^CapEff:\t0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  expect(await container.exec(SERVICE, 'touch', '/app/file')).toMatchObject({ code: 1 });
  expect(await container.exec(SERVICE, 'touch', '/tmp/file', '/data/file')).toMatchObject({ code: 0 });
});

test('every native library finds its shared libraries', async (context) => {
  const { code, output } = await runningProject(context).exec(SERVICE, 'sh', '-c', MISSING_LIBRARIES);
  expect(output).toMatch(/^\d+ files\n$/);
  // Bun, ONNX Runtime and its binding, llama.cpp, the media library, and the native addon.
  expect(Number.parseInt(output, 10)).toBeGreaterThanOrEqual(6);
  expect(code).toBe(0);
});

test('PLUGIN_CALLS has a call for every plugin of the repository', async () => {
  const plugins = await readdir(join(DOCKER, '../plugins'), { withFileTypes: true });
  const names = plugins.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  expect(Object.keys(PLUGIN_CALLS).toSorted()).toEqual(names.toSorted());
});

it.for(Object.entries(PLUGIN_CALLS))(
  'a call of the plugin %s succeeds',
  { timeout: PLUGIN_TIMEOUT_MS },
  async ([, call], context) => {
    runningProject(context);
    await call(service);
  },
);

test('the container stops with exit code 0 and keeps its files after a restart', async (context) => {
  const container = runningProject(context);
  const { baseUrl } = service;
  const files = async () => {
    const response = await fetch(`${baseUrl}/v1/files`, { headers: { authorization: `Bearer ${KEY}` } });
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  const before = await files();
  expect(before.length).toBeGreaterThan(0);
  expect(await container.stop(SERVICE)).toBe(0);
  const startedMs = performance.now();
  await container.restart(SERVICE);
  console.log(`ready ${((performance.now() - startedMs) / 1000).toFixed(1)} s after its second start`);
  expect(await files()).toEqual(before);
});
