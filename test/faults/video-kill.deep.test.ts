import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, type ExpectStatic, test, vi } from 'vitest';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import {
  type BatchSite,
  openMachineSite,
  openSharedSite,
  startSharedServers,
} from '../../tools/harness/batches/batch-sites.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import { usageRows } from '../../tools/harness/services/batch-service.ts';
import { type LaunchedService, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { allVideos, extendClip, smallClip } from '../../tools/harness/services/video-service.ts';
import { needs } from '../harness/needs.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';

/**
 * Videos of real processes that are killed repeatedly: each is generated and charged once, without leftover files.
 */

// Half a minute on an idle machine, several minutes on a busy one. The tests run concurrently, because they often wait.
vi.setConfig({ testTimeout: 400_000, maxConcurrency: 2 });

const GRANTED = 100_000;
/** Credits for 2 s of input and 4 s of output at 400 × 300, at half a credit per token. */
const COST = ((400 * 300 * 24) / 1024) * (4 + 2) * 0.5;
const PATIENCE = { interval: 200 };
/** Maximum lifetime of a process that is killed at a random time. */
const MAX_LIFE_MS = 3000;
/** Maximum lifetime of a process that waits for a stored segment, if none is stored. */
const MAX_WAIT_MS = 15_000;
/** Maximum time between the storage of a segment and the kill. */
const MAX_DELAY_MS = 60;
/** Maximum open videos. */
const MAX_OPEN = repetitions(2, 3, 2);

const CONFIG = `
  [[prices]]
  endpoint = "POST /v1/videos/extensions"
  model = "vid-2.0"
  input_token = 0.5
  output_token = 0.5
`;

let clip: Uint8Array<ArrayBuffer>;

interface KillPlan {
  readonly kills: number;
  readonly nodes: number;
  readonly seed: number;
}

/**
 * Generates videos while processes are killed at seeded random times, or shortly after a segment has been stored and
 * before its job ends.
 * @returns a running process.
 */
async function generateThroughKills(
  site: BatchSite,
  { kills, nodes, seed }: KillPlan,
): Promise<LaunchedService> {
  const random = seededRandom(seed);
  const running: LaunchedService[] = [];
  for (let node = 0; node < nodes; node += 1) running.push(await site.launch(node));
  let killed = 0;
  const kill = async () => {
    for (; killed < kills; killed += 1) {
      if (random() < 0.5) await sleep(random() * MAX_LIFE_MS);
      else await untilStored(site, random() * MAX_DELAY_MS);
      const node = Math.floor(random() * nodes);
      running[node]?.signal('SIGKILL');
      await running[node]?.stop();
      running[node] = await site.launch(node);
    }
  };
  const request = async () => {
    let accepted = 0;
    for (let at = 0; killed < kills || accepted <= MAX_OPEN; at += 1) {
      const service = running[at % nodes];
      // A process that is killed during the request sends no response.
      const open = await (service && openVideos(service).catch(() => undefined));
      if (service && open !== undefined && open < MAX_OPEN) {
        const video = await extendClip(service, clip).catch(() => undefined);
        if (video !== undefined) accepted += 1;
      }
      await sleep(200);
    }
  };
  await Promise.all([kill(), request()]);
  return running[0] as LaunchedService;
}

/** Waits until another segment is stored, at most {@link MAX_WAIT_MS}, and then `thenMs`. */
async function untilStored(site: BatchSite, thenMs: number): Promise<void> {
  const count = async () => (await blobNames(site)).filter((name) => name.endsWith('.mp4')).length;
  const before = await count();
  const deadline = performance.now() + MAX_WAIT_MS;
  while ((await count()) <= before && performance.now() < deadline) await sleep(20);
  await sleep(thenMs);
}

async function blobNames(site: BatchSite): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of site.blobs.list('videos/', new AbortController().signal)) names.push(name);
  return names;
}

async function openVideos(service: LaunchedService): Promise<number> {
  const videos = await allVideos(service);
  return videos.filter(({ status }) => status === 'queued' || status === 'in_progress').length;
}

/** Checks the invariants of all videos after failures. */
async function expectGeneratedOnce(
  site: BatchSite,
  service: LaunchedService,
  expect: ExpectStatic,
): Promise<void> {
  await expect.poll(() => openVideos(service).catch(() => -1), PATIENCE).toBe(0);
  const videos = await allVideos(service);
  expect(videos.length).toBeGreaterThan(MAX_OPEN);
  expect(videos.map(({ status, error }) => [status, error])).toEqual(videos.map(() => ['completed', null]));
  for (const { id } of videos) {
    expect((await (await service.fetch(`/v1/videos/${id}/content`)).bytes()).length).toBeGreaterThan(1000);
  }

  const rows = await usageRows(service);
  expect(rows.map(({ status }) => status)).toEqual(videos.map(() => 'completed'));
  const credits = await (
    await service.fetch('/v1/credits', { headers: { authorization: `Bearer ${SERVICE_KEY}` } })
  ).json();
  expect(credits).toEqual({ object: 'credits', balance: GRANTED - videos.length * COST, reserved: 0 });

  // Ignores clips without a job: the sweep deletes them.
  const blobs = async () =>
    (await blobNames(site)).filter((name) => videos.some(({ id }) => name.includes(id))).length;
  await expect.poll(blobs, PATIENCE).toBe(2 * videos.length);
  const jobs = () => site.records.db.selectFrom('jobs').selectAll().execute();
  await expect.poll(jobs, PATIENCE).toEqual([]);
  // A process removes leftover files of its predecessor when it starts.
  expect(await readdir(join(service.dataDir, 'videos'))).toEqual([]);
}

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-kill-'));
  clip = await smallClip(folder);
  await rm(folder, { recursive: true });
});

// The seeds contain both times of a kill in the default tier.
test.concurrent('one node killed at random times generates each video once', async ({ expect }) => {
  const site = await openMachineSite({ config: CONFIG, granted: GRANTED, env: { PLUGINS: 'video' } });
  try {
    const service = await generateThroughKills(site, { kills: repetitions(2, 12, 3), nodes: 1, seed: 5 });
    await expectGeneratedOnce(site, service, expect);
  } finally {
    await site.close();
  }
});

// Generates videos for half a minute; batch-kill.deep.test.ts kills two nodes by default.
inDeepTier(() => {
  test.concurrent('two nodes killed at random times generate each video once', async (context) => {
    needs(context, HAS_POSTGRES, 'PostgreSQL');
    needs(context, HAS_REDIS, 'Redis');
    needs(context, HAS_S3, 'versitygw');
    const servers = await startSharedServers();
    const site = await openSharedSite(servers, {
      config: CONFIG,
      granted: GRANTED,
      env: { PLUGINS: 'video' },
    });
    try {
      const service = await generateThroughKills(site, { kills: repetitions(1, 8), nodes: 2, seed: 3 });
      await expectGeneratedOnce(site, service, context.expect);
    } finally {
      await site.close();
      await servers.close();
    }
  });
});
