import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type SharedServers, startSharedServers } from '../../tools/harness/batches/batch-sites.ts';
import { HAS_PIP, pythonPackages } from '../../tools/harness/clients/python.ts';
import { type Balancer, HAS_BALANCER, startBalancer } from '../../tools/harness/servers/balancer.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import { type LaunchedService, launchService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { needs } from '../harness/needs.ts';
import { tempDir } from '../harness/temp-dir.ts';

/**
 * Two nodes with real models, PostgreSQL, Redis and S3 behind HAProxy. They restart one after the other while the Python
 * client httpx sends mixed load. httpx sends the head and the body of a POST in separate packets, so the load balancer
 * cannot repeat a rejected request.
 */

const CLIENT = resolve(import.meta.dirname, '../clients/mixed-load');
const POLL = { timeout: 60_000 };
const CONFIG = `
[models."svc-tts"]
kind = "piper"
[models."svc-stt"]
kind = "whisper"
weights = "tiny.en"
[models."smollm2-135m-instruct"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
[inference]
workers = 1
[http]
trusted_proxies = ["127.0.0.0/8"]
`;
/** A generic configuration that only uses /readyz. Its checks detect a 503 within 2 s. */
const ROUND_ROBIN = `
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
frontend api
  bind :8080
  default_backend nodes
backend nodes
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 1s fall 2
  server api-1 api-1:8080
  server api-2 api-2:8080
`;

let shared: SharedServers;
let environment: Readonly<Record<string, string>>;
let nodes: [LaunchedService, LaunchedService];
const closing: (() => Promise<unknown>)[] = [];

const launch = (port = 0) =>
  launchService({ config: CONFIG, env: { ...environment, PORT: String(port), SHUTDOWN_DRAIN_MS: '5000' } });
const portOf = (node: LaunchedService) => Number(new URL(node.baseUrl).port);
const requestsServed = (node: LaunchedService) => node.log().filter(({ msg }) => msg === 'request').length;

beforeEach(async (context) => {
  needs(context, HAS_BALANCER, 'haproxy');
  needs(context, HAS_POSTGRES, 'PostgreSQL');
  needs(context, HAS_REDIS, 'redis-server');
  needs(context, HAS_S3, 'versitygw');
  needs(context, HAS_PIP, 'Python with pip');
  shared = await startSharedServers();
  closing.push(() => shared.close());
  const { settings } = await shared.s3.freshBucket();
  environment = {
    PLUGINS: 'speech,responses,batch',
    DATABASE_URL: await shared.postgres.freshDatabase(),
    REDIS_URL: shared.redis.url,
    S3_ENDPOINT: settings.endpoint,
    S3_BUCKET: settings.bucket,
    S3_REGION: settings.region,
    S3_ACCESS_KEY_ID: settings.accessKeyId,
    S3_SECRET_ACCESS_KEY: settings.secretAccessKey.reveal(),
  };
  nodes = [await launch(), await launch()];
  closing.push(() => Promise.all(nodes.map((node) => node.stop())));
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Summary {
  readonly requests: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** Sends load through a balancer until `finish` is called. */
async function startLoad(balancer: Balancer): Promise<{ finish(): Promise<Summary> }> {
  const PYTHONPATH = await pythonPackages(join(CLIENT, 'requirements.txt'));
  const client = Bun.spawn(['python3', join(CLIENT, 'load.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONPATH },
  });
  client.stdin.write(`${JSON.stringify({ base_url: balancer.baseUrl, key: SERVICE_KEY })}\n`);
  await client.stdin.flush();
  return {
    async finish() {
      client.stdin.end();
      const output = await new Response(client.stdout).text();
      expect(await client.exited).toBe(0);
      return JSON.parse(output) as Summary;
    },
  };
}

/** Stops and starts both nodes, one after the other. @returns seconds from each SIGTERM to the exit. */
async function restartBoth(): Promise<number[]> {
  const seconds: number[] = [];
  for (const at of [0, 1] as const) {
    // Both nodes receive requests again before the next one stops.
    for (const node of nodes) await expect.poll(() => requestsServed(node), POLL).toBeGreaterThan(20);
    const port = portOf(nodes[at]);
    const signalledMs = performance.now();
    expect(await nodes[at].stop()).toBe(0);
    seconds.push(Number(((performance.now() - signalledMs) / 1000).toFixed(1)));
    nodes[at] = await launch(port);
  }
  return seconds;
}

describe('no request fails while nodes restart', () => {
  test.each([
    ['docker/haproxy.cfg', undefined, 3],
    ['a plain round-robin configuration', ROUND_ROBIN, 1],
  ])('behind %s', async (name, configuration, rounds) => {
    let file: string | undefined;
    if (configuration !== undefined) {
      file = join(await tempDir(), 'haproxy.cfg');
      await Bun.write(file, configuration);
    }
    const balancer = await startBalancer([portOf(nodes[0]), portOf(nodes[1])], file);
    closing.push(() => balancer.close());
    const load = await startLoad(balancer);
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round += 1) seconds.push(...(await restartBoth()));
    const { requests, counts, failures } = await load.finish();
    console.log(JSON.stringify({ name, rounds, requests, failures: failures.length, counts, seconds }));
    expect(failures).toEqual([]);
    // Speech, the slowest kind, must have run before, during and after each restart.
    expect(Math.min(...Object.values(counts))).toBeGreaterThanOrEqual(5 * rounds);
  });
});
