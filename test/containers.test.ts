import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { ENVIRONMENT } from '../server/config.ts';
import { HAS_PIP, pythonPackages } from '../tools/harness/clients/python.ts';
import { needs } from './harness/needs.ts';

/** Static checks of the container images, Compose files and Kubernetes manifests; test/deep runs them. */

const ROOT = resolve(import.meta.dirname, '..');
const DOCKER = join(ROOT, 'docker');
const KUBERNETES = join(ROOT, 'deploy/kubernetes');
/** Version of the Kubernetes schemas that the manifests are checked against. */
const KUBERNETES_VERSION = '1.37';
const LIMIT_MS = 120_000;

const VARIABLES = new Set<string>(ENVIRONMENT.map(({ name }) => name));

async function run(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, output: output + errors };
}

const tools = () => pythonPackages(join(import.meta.dirname, 'clients/containers/requirements.txt'));

async function documents(path: string): Promise<Record<string, unknown>[]> {
  const parsed = Bun.YAML.parse(await Bun.file(path).text());
  return (Array.isArray(parsed) ? parsed : [parsed]) as Record<string, unknown>[];
}

/** All nested objects of a value that have a key. */
function* havingKey(value: unknown, key: string): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (key in value) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* havingKey(inner, key);
}

describe('a Dockerfile', () => {
  it.for(['Dockerfile', 'Dockerfile.cuda'])(
    '%s has no findings of hadolint',
    { timeout: LIMIT_MS },
    async (name, context) => {
      needs(context, HAS_PIP, 'Python with pip');
      const hadolint = join(await tools(), 'bin/hadolint');
      expect(await run([hadolint, join(DOCKER, name)])).toEqual({ code: 0, output: '' });
    },
  );

  it.each(['Dockerfile', 'Dockerfile.cuda'])(
    '%s has an unprivileged user and a health check',
    async (name) => {
      const text = await Bun.file(join(DOCKER, name)).text();
      const last = text.slice(text.lastIndexOf('\nFROM '));
      expect(last).toMatch(/^USER 1000:1000$/m);
      expect(last).toMatch(/^HEALTHCHECK .*\/healthz/m);
    },
  );

  test('installs the Bun version of package.json', async () => {
    const { packageManager } = await Bun.file(join(ROOT, 'package.json')).json();
    for (const name of ['Dockerfile', 'Dockerfile.cuda']) {
      expect(await Bun.file(join(DOCKER, name)).text()).toContain(`install --global ${packageManager}`);
    }
  });
});

/** Longest time from SIGTERM to the exit, with a margin of 5 s to close everything. */
function shutdownMs(variable: (name: string) => string | undefined): number {
  return Number(variable('SHUTDOWN_DRAIN_MS') ?? 0) + Number(variable('SHUTDOWN_GRACE_MS') ?? 30_000) + 5000;
}

describe('a Compose file', () => {
  const FILES = ['compose.yaml', 'compose.scale.yaml'];

  it.each(FILES)('%s has stop grace periods longer than the shutdown', async (name) => {
    const [file] = (await documents(join(DOCKER, name))) as [{ services: Record<string, Service> }];
    const nodes = Object.values(file.services).filter(({ build }) => build !== undefined);
    expect(nodes.length).toBeGreaterThan(0);
    for (const { environment = {}, stop_grace_period: period = '10s' } of nodes) {
      expect(environment.SHUTDOWN_DRAIN_MS).toBe('5000');
      expect(Number.parseInt(period, 10) * 1000).toBeGreaterThan(shutdownMs((it) => environment[it]));
    }
  });

  it.each(FILES)('%s has image versions, existing files and known settings', async (name) => {
    const [file] = (await documents(join(DOCKER, name))) as [{ services: Record<string, Service> }];
    for (const [service, { image, build, volumes = [], environment = {} }] of Object.entries(file.services)) {
      const isOurs = build !== undefined;
      if (!isOurs) expect(image, service).toMatch(/:v?\d+/);
      else expect(existsSync(join(DOCKER, build.context, build.dockerfile)), service).toBe(true);
      for (const volume of volumes.filter((it) => it.startsWith('.'))) {
        expect(existsSync(join(DOCKER, volume.split(':')[0] ?? '')), `${service}: ${volume}`).toBe(true);
      }
      if (isOurs) expect(Object.keys(environment).filter((it) => !VARIABLES.has(it))).toEqual([]);
    }
  });

  test('compose.scale.yaml has API nodes and worker nodes with the same stores', async () => {
    const [file] = (await documents(join(DOCKER, 'compose.scale.yaml'))) as [
      { services: Record<string, Service> },
    ];
    const nodes = Object.entries(file.services).filter(([, { build }]) => build !== undefined);
    const jobs = nodes.map(([name, { environment }]) => [name, environment?.RUN_JOBS]);
    expect(jobs).toEqual([
      ['api-1', 'off'],
      ['api-2', 'off'],
      ['worker-1', 'on'],
      ['worker-2', 'on'],
    ]);
    const stores = nodes.map(([, { environment }]) => [environment?.DATABASE_URL, environment?.REDIS_URL]);
    expect(new Set(stores.map((it) => JSON.stringify(it))).size).toBe(1);
  });

  test('haproxy.cfg is valid and has the API nodes as servers', async (context) => {
    const text = await Bun.file(join(DOCKER, 'haproxy.cfg')).text();
    // Two backends: ready nodes and live nodes.
    const servers = [...text.matchAll(/^ {2}server (\S+)/gm)].map(([, name]) => name);
    expect(servers).toEqual(['api-1', 'api-2', 'api-1', 'api-2']);
    needs(context, Bun.which('haproxy') !== null, 'haproxy');
    const { code, output } = await run(['haproxy', '-c', '-f', join(DOCKER, 'haproxy.cfg')]);
    expect(output).toContain('Configuration file is valid');
    expect(code).toBe(0);
  });
});

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
}

describe('the Kubernetes manifests', () => {
  test(
    'match the Kubernetes schemas strictly',
    async (context) => {
      needs(context, HAS_PIP, 'Python with pip');
      const names = (await readdir(KUBERNETES)).filter(
        (name) => name.endsWith('.yaml') && !['kustomization.yaml', 'adapter-rules.yaml'].includes(name),
      );
      const command = ['python3', '-m', 'kubernetes_validate', '--strict', '-k', KUBERNETES_VERSION];
      const files = names.map((name) => join(KUBERNETES, name));
      const { code, output } = await run([...command, ...files], { PYTHONPATH: await tools() });
      expect(output).not.toContain('ERROR');
      expect(code).toBe(0);
      expect(output.match(/passed for resource/g)?.length).toBeGreaterThan(8);
    },
    LIMIT_MS,
  );

  test('exist if they are listed in kustomization.yaml', async () => {
    const [{ resources }] = (await documents(join(KUBERNETES, 'kustomization.yaml'))) as [
      { resources: string[] },
    ];
    for (const name of resources) expect(existsSync(join(KUBERNETES, name)), name).toBe(true);
  });

  it.each(['api.yaml', 'workers.yaml'])(
    '%s has existing probes, known settings and a sufficient grace period',
    async (name) => {
      const [deployment] = await documents(join(KUBERNETES, name));
      const paths = [...havingKey(deployment, 'httpGet')].map((it) => (it.httpGet as { path: string }).path);
      expect(new Set(paths)).toEqual(new Set(['/healthz', '/readyz']));
      const [{ env }] = [...havingKey(deployment, 'env')] as [{ env: { name: string; value: string }[] }];
      expect(env.map((it) => it.name).filter((it) => !VARIABLES.has(it))).toEqual([]);
      const variable = (wanted: string) => env.find((it) => it.name === wanted)?.value;
      const [pod] = [...havingKey(deployment, 'terminationGracePeriodSeconds')];
      expect(Number(pod?.terminationGracePeriodSeconds) * 1000).toBeGreaterThan(shutdownMs(variable));
      // Pods that receive requests drain before they stop.
      if (name === 'api.yaml') expect(variable('SHUTDOWN_DRAIN_MS')).toBe('5000');
    },
  );

  test('scale by existing metrics', async () => {
    const rules = await Bun.file(join(KUBERNETES, 'adapter-rules.yaml')).text();
    const scaling = await Bun.file(join(KUBERNETES, 'scaling.yaml')).text();
    const metrics = await Bun.file(join(ROOT, 'docs/guide/metrics.md')).text();
    const [, external = ''] = /as: (\w+)/.exec(rules) ?? [];
    expect(scaling).toContain(`name: ${external}`);
    for (const [, name] of rules.matchAll(/max\((\w+)\)/g)) expect(metrics).toContain(`\`${name}\``);
  });
});
