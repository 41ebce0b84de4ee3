import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  faultsAfter,
  finishedBatch,
  inputOf,
  type LineUpstream,
  startBatch,
  startLineUpstream,
} from '../../tools/harness/batches/batch-lines.ts';
import {
  type BatchSite,
  openMachineSite,
  openSharedSite,
  type SharedServers,
  startSharedServers,
} from '../../tools/harness/batches/batch-sites.ts';
import { type CutProxy, startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import { CAN_MOUNT, mountSmallDisk } from '../../tools/harness/servers/small-disk.ts';
import { BATCH_ENDS, retrieveBatch } from '../../tools/harness/services/batch-service.ts';
import { type LaunchedService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { needs } from '../harness/needs.ts';

/** A store is unavailable temporarily: batches wait and continue without loss. */

// Up to a minute on an idle machine, several minutes on a busy one.
vi.setConfig({ testTimeout: 400_000 });

const GRANTED = 1_000_000;
const LINES = 1000;
/** Longer than a lease and longer than the retries of a blob store. */
const OUTAGE_MS = 10_000;
const PATIENCE = { timeout: 180_000, interval: 100 };

let upstream: LineUpstream;
beforeEach(() => {
  upstream = startLineUpstream();
});
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0).toReversed()) await each.close();
  await upstream.close();
});

async function launchReady(site: BatchSite): Promise<LaunchedService> {
  closing.push(site);
  const service = await site.launch();
  await expect.poll(async () => (await service.fetch('/readyz')).status, PATIENCE).toBe(200);
  return service;
}

/** Starts a batch and waits until some of its lines have results. */
async function startPartialBatch(service: LaunchedService, batch = 1): Promise<string> {
  const { id } = await startBatch(service, { batch, lines: LINES });
  const completed = async () => (await retrieveBatch(service, id)).request_counts.completed;
  await expect.poll(completed, PATIENCE).toBeGreaterThan(LINES / 20);
  expect(await completed()).toBeLessThan(LINES);
  return id;
}

const waitForEnd = (service: LaunchedService, id: string) =>
  expect.poll(async () => BATCH_ENDS.has((await retrieveBatch(service, id)).status), PATIENCE).toBe(true);

const upload = (service: LaunchedService) => {
  const body = new FormData();
  body.set('purpose', 'batch');
  body.set('file', new File([inputOf(9, LINES)], 'input.jsonl'));
  return service.fetch('/v1/files', { method: 'POST', headers: { 'x-api-key': SERVICE_KEY }, body });
};

async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'server_overloaded' } });
}

describe('with PostgreSQL, Redis and S3', () => {
  let servers: SharedServers | undefined;
  beforeAll(async () => {
    if (HAS_POSTGRES && HAS_REDIS && HAS_S3) servers = await startSharedServers();
  });
  afterAll(() => servers?.close());
  const open = async (env: Record<string, string> = {}): Promise<BatchSite> => {
    if (servers === undefined) throw new Error('the servers were not started');
    return openSharedSite(servers, { config: upstream.config, granted: GRANTED, env });
  };
  beforeEach((context) => {
    needs(context, HAS_POSTGRES, 'PostgreSQL');
    needs(context, HAS_REDIS, 'Redis');
    needs(context, HAS_S3, 'versitygw');
  });

  test('an outage of Redis with loss of its data loses no batch', async () => {
    const site = await open();
    const service = await launchReady(site);
    const first = await startPartialBatch(service);
    await servers?.redis.stop();
    // The reconciler queues the job later.
    const second = await startBatch(service, { batch: 2, lines: LINES });
    expect(second.status).toBe('validating');
    await sleep(OUTAGE_MS);
    await servers?.redis.start();
    await waitForEnd(service, first);
    await waitForEnd(service, second.id);
    const batches = [await finishedBatch(service, first), await finishedBatch(service, second.id)];
    expect(await faultsAfter(batches, { ...site, service, lines: LINES, granted: GRANTED })).toEqual([]);
  });

  test('an outage of the database loses no results', async () => {
    const site = await open();
    const service = await launchReady(site);
    const id = await startPartialBatch(service);
    await servers?.postgres.stop();
    await expectUnavailable(await service.fetch(`/v1/batches/${id}`));
    await sleep(OUTAGE_MS);
    await servers?.postgres.start();
    await waitForEnd(service, id);
    const batches = [await finishedBatch(service, id)];
    expect(await faultsAfter(batches, { ...site, service, lines: LINES, granted: GRANTED })).toEqual([]);
  });

  test('batches wait for a blob store that returns 503; uploads return 503 with retry-after', async () => {
    const target = Number(new URL(servers?.s3.endpoint ?? '').port);
    const proxy: CutProxy = await startCutProxy(target);
    closing.push(proxy);
    const site = await open({ S3_ENDPOINT: `http://127.0.0.1:${proxy.port}` });
    const service = await launchReady(site);
    const id = await startPartialBatch(service);
    proxy.answer('HTTP/1.1 503 Slow Down\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    const [response] = await Promise.all([upload(service), sleep(OUTAGE_MS)]);
    await expectUnavailable(response);
    expect(await retrieveBatch(service, id)).toMatchObject({ status: 'in_progress' });
    proxy.repair();
    await waitForEnd(service, id);
    expect(
      await faultsAfter([await finishedBatch(service, id)], {
        ...site,
        service,
        lines: LINES,
        granted: GRANTED,
      }),
    ).toEqual([]);
  });
});

test('batches wait for disk space; uploads return 503 with retry-after', async (context) => {
  needs(context, CAN_MOUNT, 'the right to mount a disk');
  const disk = await mountSmallDisk(48);
  closing.push(disk);
  const site = await openMachineSite({ config: upstream.config, granted: GRANTED, folder: disk.folder });
  const service = await launchReady(site);
  const id = await startPartialBatch(service);
  await disk.fill();
  const before = await retrieveBatch(service, id);
  await expectUnavailable(await upload(service));
  await expect
    .poll(() => service.output().includes('jobs wait for an unavailable dependency'), PATIENCE)
    .toBe(true);
  expect(await retrieveBatch(service, id)).toMatchObject({ status: 'in_progress' });
  expect((await retrieveBatch(service, id)).request_counts.total).toBe(before.request_counts.total);
  await disk.free();
  await waitForEnd(service, id);
  expect(
    await faultsAfter([await finishedBatch(service, id)], {
      ...site,
      service,
      lines: LINES,
      granted: GRANTED,
    }),
  ).toEqual([]);
});
