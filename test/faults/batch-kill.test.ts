import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { batchesThroughKills } from '../../tools/harness/batches/batch-kills.ts';
import {
  faultsAfter,
  finishedBatch,
  type LineUpstream,
  startBatch,
  startLineUpstream,
} from '../../tools/harness/batches/batch-lines.ts';
import {
  type BatchSite,
  openMachineSite,
  openSharedSite,
  startSharedServers,
} from '../../tools/harness/batches/batch-sites.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import { retrieveBatch } from '../../tools/harness/services/batch-service.ts';
import type { LaunchedService } from '../../tools/harness/services/launcher.ts';
import { needs } from '../harness/needs.ts';
import { repetitions } from '../harness/tier.ts';

/**
 * Batches of real processes that are killed repeatedly: no line is lost or executed twice. The benchmark `batch-kills`
 * runs longer.
 */

// Up to a minute on an idle machine, several minutes on a busy one.
vi.setConfig({ testTimeout: 400_000 });

const GRANTED = 1_000_000;
const LINES = 2000;
const PATIENCE = { timeout: 180_000, interval: 50 };

let upstream: LineUpstream;
beforeEach(() => {
  upstream = startLineUpstream();
});
afterEach(() => upstream.close());

/** Runs batches while nodes are killed. Returns violations of the invariants. */
async function violationsOf(site: BatchSite, plan: { kills: number; seed: number; nodes: 1 | 2 }) {
  let last: LaunchedService | undefined;
  const launch = async (node: number) => {
    last = await site.launch(node);
    return last;
  };
  const { batches } = await batchesThroughKills({ ...plan, lines: LINES, launch, upstream });
  if (last === undefined) throw new Error('no node was launched');
  return await faultsAfter(batches, { ...site, service: last, lines: LINES, granted: GRANTED });
}

test('one node killed at random times loses and repeats no line', async () => {
  const site = await openMachineSite({ config: upstream.config, granted: GRANTED });
  try {
    expect(await violationsOf(site, { kills: repetitions(3, 10), seed: 1, nodes: 1 })).toEqual([]);
  } finally {
    await site.close();
  }
});

test('a node that is stopped completes its running lines, and no line is repeated', async () => {
  const site = await openMachineSite({ config: upstream.config, granted: GRANTED });
  try {
    const first = await site.launch();
    await expect.poll(async () => (await first.fetch('/readyz')).status).toBe(200);
    const { id } = await startBatch(first, { batch: 1, lines: LINES });
    const completed = async () => (await retrieveBatch(first, id)).request_counts.completed;
    await expect.poll(completed, PATIENCE).toBeGreaterThan(0);
    expect(await first.stop()).toBe(0);
    const next = await site.launch();
    const status = () =>
      retrieveBatch(next, id).then(
        (batch) => batch.status,
        () => 'starting',
      );
    await expect.poll(status, PATIENCE).toBe('completed');
    expect(upstream.repeated).toBe(0);
    const batches = [await finishedBatch(next, id)];
    expect(await faultsAfter(batches, { ...site, service: next, lines: LINES, granted: GRANTED })).toEqual(
      [],
    );
  } finally {
    await site.close();
  }
});

test('two nodes killed at random times lose and repeat no line', async (context) => {
  needs(context, HAS_POSTGRES, 'PostgreSQL');
  needs(context, HAS_REDIS, 'Redis');
  needs(context, HAS_S3, 'versitygw');
  const servers = await startSharedServers();
  const site = await openSharedSite(servers, { config: upstream.config, granted: GRANTED });
  try {
    expect(await violationsOf(site, { kills: repetitions(3, 10), seed: 2, nodes: 2 })).toEqual([]);
  } finally {
    await site.close();
    await servers.close();
  }
});
