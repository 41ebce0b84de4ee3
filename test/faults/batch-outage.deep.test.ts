import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, type ExpectStatic, type TestContext, test, vi } from 'vitest';
import {
  finishedBatch,
  inputOf,
  type LineUpstream,
  startBatch,
  startLineUpstream,
  violationsAfter,
} from '../../tools/harness/batches/batch-lines.ts';
import {
  type BatchSite,
  openMachineSite,
  openSharedSite,
  type SharedServers,
} from '../../tools/harness/batches/batch-sites.ts';
import { startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';
import { HAS_POSTGRES, type PostgresServer, startPostgres } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS, startRedis } from '../../tools/harness/servers/redis.ts';
import { HAS_S3, type S3Server, startS3 } from '../../tools/harness/servers/s3.ts';
import { CAN_MOUNT, mountSmallDisk } from '../../tools/harness/servers/small-disk.ts';
import { BATCH_ENDS, retrieveBatch } from '../../tools/harness/services/batch-service.ts';
import { type LaunchedService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { needs } from '../harness/needs.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';

/** A store is unavailable temporarily: batches wait and continue without loss. */

// Up to half a minute on an idle machine, several minutes on a busy one. The tests run concurrently, because they mostly wait.
vi.setConfig({ testTimeout: 400_000, maxConcurrency: 4 });

const GRANTED = 1_000_000;
/** Fewer lines take longer each, so that a batch has the same duration. */
const LINES = repetitions(150, 1000);
const LINE_MS = repetitions(800, 150);
/** Longer than a lease and longer than the retries of a blob store. */
const OUTAGE_MS = 10_000;
const PATIENCE = { interval: 400 };

/** One test with its own upstream and service. */
class Outage {
  readonly upstream: LineUpstream;
  readonly expect: ExpectStatic;
  readonly #context: TestContext;

  constructor(context: TestContext) {
    this.#context = context;
    this.expect = context.expect;
    this.upstream = startLineUpstream(LINE_MS);
    this.closeAtEnd(this.upstream);
  }

  /** Closes a part when the test ends, before the parts that were added earlier. */
  closeAtEnd<Part extends { close(): Promise<void> }>(part: Part): Part {
    this.#context.onTestFinished(() => part.close());
    return part;
  }

  async launchReady(site: BatchSite): Promise<LaunchedService> {
    this.closeAtEnd(site);
    const service = await site.launch();
    await this.expect.poll(async () => (await service.fetch('/readyz')).status, PATIENCE).toBe(200);
    return service;
  }

  /** Starts a batch and waits until some of its lines have results. */
  async startPartialBatch(service: LaunchedService, batch = 1): Promise<string> {
    const { id } = await startBatch(service, { batch, lines: LINES });
    const completed = async () => (await retrieveBatch(service, id)).request_counts.completed;
    await this.expect.poll(completed, PATIENCE).toBeGreaterThan(LINES / 20);
    this.expect(await completed()).toBeLessThan(LINES);
    return id;
  }

  async waitForEnd(service: LaunchedService, id: string): Promise<void> {
    const hasEnded = async () => BATCH_ENDS.has((await retrieveBatch(service, id)).status);
    await this.expect.poll(hasEnded, PATIENCE).toBe(true);
  }

  async expectUnavailable(response: Response): Promise<void> {
    this.expect(response.status).toBe(503);
    this.expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    this.expect(await response.json()).toMatchObject({
      error: { type: 'server_error', code: 'server_overloaded' },
    });
  }

  async expectNoFaults(site: BatchSite, service: LaunchedService, ids: readonly string[]): Promise<void> {
    const batches = [];
    for (const id of ids) batches.push(await finishedBatch(service, id));
    const after = { ...site, service, lines: LINES, granted: GRANTED };
    this.expect(await violationsAfter(batches, after)).toEqual([]);
  }
}

const upload = (service: LaunchedService) => {
  const body = new FormData();
  body.set('purpose', 'batch');
  body.set('file', new File([inputOf(9, LINES)], 'input.jsonl'));
  return service.fetch('/v1/files', { method: 'POST', headers: { 'x-api-key': SERVICE_KEY }, body });
};

describe('with PostgreSQL, Redis and S3', () => {
  let postgres: PostgresServer;
  let s3: S3Server;
  const hasServers = HAS_POSTGRES && HAS_REDIS && HAS_S3;
  beforeAll(async () => {
    if (!hasServers) return;
    [postgres, s3] = await Promise.all([startPostgres(), startS3()]);
    return async () => {
      await Promise.all([postgres.close(), s3.close()]);
    };
  });

  /** The servers of a test: its own Redis, whose jobs have no name of a site, and the shared ones unless it stops them. */
  async function startServers(context: TestContext, own: Partial<SharedServers> = {}) {
    needs(context, HAS_POSTGRES, 'PostgreSQL');
    needs(context, HAS_REDIS, 'Redis');
    needs(context, HAS_S3, 'versitygw');
    const outage = new Outage(context);
    const redis = outage.closeAtEnd(await startRedis());
    const servers: SharedServers = { postgres, s3, redis, ...own, close: async () => undefined };
    const open = (env: Record<string, string> = {}) =>
      openSharedSite(servers, { config: outage.upstream.config, granted: GRANTED, env });
    return { outage, servers, open };
  }

  test.concurrent('an outage of Redis with loss of its data loses no batch', async (context) => {
    const { expect } = context;
    const { outage, servers, open } = await startServers(context);
    const site = await open();
    const service = await outage.launchReady(site);
    const first = await outage.startPartialBatch(service);
    await servers.redis.stop();
    // The reconciler queues the job later.
    const second = await startBatch(service, { batch: 2, lines: LINES });
    expect(second.status).toBe('validating');
    await sleep(OUTAGE_MS);
    await servers.redis.start();
    await outage.waitForEnd(service, first);
    await outage.waitForEnd(service, second.id);
    await outage.expectNoFaults(site, service, [first, second.id]);
  });

  test.concurrent('an outage of the database loses no results', async (context) => {
    needs(context, HAS_POSTGRES, 'PostgreSQL');
    const own = await startPostgres();
    context.onTestFinished(() => own.close());
    const { outage, open } = await startServers(context, { postgres: own });
    const site = await open();
    const service = await outage.launchReady(site);
    const id = await outage.startPartialBatch(service);
    await own.stop();
    await outage.expectUnavailable(await service.fetch(`/v1/batches/${id}`));
    await sleep(OUTAGE_MS);
    await own.start();
    await outage.waitForEnd(service, id);
    await outage.expectNoFaults(site, service, [id]);
  });

  // The test with a full disk has the same path of a blob store that fails.
  inDeepTier(() => {
    test.concurrent('batches wait for a blob store that returns 503; uploads return 503 with retry-after', async (context) => {
      const { expect } = context;
      const { outage, open } = await startServers(context);
      const proxy = outage.closeAtEnd(await startCutProxy(Number(new URL(s3.endpoint).port)));
      const site = await open({ S3_ENDPOINT: `http://127.0.0.1:${proxy.port}` });
      const service = await outage.launchReady(site);
      const id = await outage.startPartialBatch(service);
      proxy.respondWith('HTTP/1.1 503 Slow Down\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      const [response] = await Promise.all([upload(service), sleep(OUTAGE_MS)]);
      await outage.expectUnavailable(response);
      expect(await retrieveBatch(service, id)).toMatchObject({ status: 'in_progress' });
      proxy.repair();
      await outage.waitForEnd(service, id);
      await outage.expectNoFaults(site, service, [id]);
    });
  });
});

test.concurrent('batches wait for disk space; uploads return 503 with retry-after', async (context) => {
  needs(context, CAN_MOUNT, 'the right to mount a disk');
  const { expect } = context;
  const outage = new Outage(context);
  const disk = outage.closeAtEnd(await mountSmallDisk(48));
  const site = await openMachineSite({
    config: outage.upstream.config,
    granted: GRANTED,
    folder: disk.folder,
  });
  const service = await outage.launchReady(site);
  const id = await outage.startPartialBatch(service);
  await disk.fill();
  const before = await retrieveBatch(service, id);
  await outage.expectUnavailable(await upload(service));
  await expect
    .poll(() => service.output().includes('jobs wait for an unavailable dependency'), PATIENCE)
    .toBe(true);
  expect(await retrieveBatch(service, id)).toMatchObject({ status: 'in_progress' });
  expect((await retrieveBatch(service, id)).request_counts.total).toBe(before.request_counts.total);
  await disk.free();
  await outage.waitForEnd(service, id);
  await outage.expectNoFaults(site, service, [id]);
});
