import { type TestContext, test, vi } from 'vitest';
import { batchesThroughKills } from '../../tools/harness/batches/batch-kills.ts';
import {
  finishedBatch,
  type LineUpstream,
  startBatch,
  startLineUpstream,
  violationsAfter,
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
import { inDeepTier, repetitions } from '../harness/tier.ts';

/**
 * Batches of real processes that are killed repeatedly: no line is lost or executed twice. The benchmark `batch-kills`
 * runs longer.
 */

// Up to a minute on an idle machine, several minutes on a busy one. The tests run concurrently, because they mostly wait.
vi.setConfig({ testTimeout: 400_000, maxConcurrency: 3 });

const GRANTED = 1_000_000;
/** Fewer lines take longer each, so that a batch has the same duration. */
const LINES = repetitions(300, 2000, 300);
const LINE_MS = repetitions(1000, 150, 1000);
const POLL_MS = repetitions(100, 40, 100);
const PATIENCE = { interval: POLL_MS };

function ownUpstream(context: TestContext): LineUpstream {
  const upstream = startLineUpstream(LINE_MS);
  context.onTestFinished(() => upstream.close());
  return upstream;
}

interface Plan {
  readonly kills: number;
  readonly seed: number;
  readonly nodes: 1 | 2;
}

/** Runs batches while nodes are killed. Returns violations of the invariants. */
async function violationsOf(site: BatchSite, upstream: LineUpstream, plan: Plan): Promise<string[]> {
  let last: LaunchedService | undefined;
  const launch = async (node: number) => {
    last = await site.launch(node);
    return last;
  };
  const { batches } = await batchesThroughKills({
    ...plan,
    lines: LINES,
    pollMs: POLL_MS,
    launch,
    upstream,
  });
  if (last === undefined) throw new Error('no node was launched');
  return await violationsAfter(batches, { ...site, service: last, lines: LINES, granted: GRANTED });
}

// The test with two nodes has the same kills.
inDeepTier(() => {
  test.concurrent('one node killed at random times loses and repeats no line', async (context) => {
    const { expect } = context;
    const upstream = ownUpstream(context);
    const site = await openMachineSite({ config: upstream.config, granted: GRANTED });
    try {
      expect(await violationsOf(site, upstream, { kills: 10, seed: 1, nodes: 1 })).toEqual([]);
    } finally {
      await site.close();
    }
  });
});

test.concurrent('a node that is stopped completes its running lines, and no line is repeated', async (context) => {
  const { expect } = context;
  const upstream = ownUpstream(context);
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
    expect(
      await violationsAfter(batches, { ...site, service: next, lines: LINES, granted: GRANTED }),
    ).toEqual([]);
  } finally {
    await site.close();
  }
});

test.concurrent('two nodes killed at random times lose and repeat no line', async (context) => {
  const { expect } = context;
  needs(context, HAS_POSTGRES, 'PostgreSQL');
  needs(context, HAS_REDIS, 'Redis');
  needs(context, HAS_S3, 'versitygw');
  const upstream = ownUpstream(context);
  const servers = await startSharedServers();
  const site = await openSharedSite(servers, { config: upstream.config, granted: GRANTED });
  try {
    expect(await violationsOf(site, upstream, { kills: repetitions(2, 10, 3), seed: 2, nodes: 2 })).toEqual(
      [],
    );
  } finally {
    await site.close();
    await servers.close();
  }
});
