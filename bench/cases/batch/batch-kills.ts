/** Batches of the real process, which is killed at random times. A longer version of the tests. */

import { batchesThroughKills } from '../../../tools/harness/batches/batch-kills.ts';
import { startLineUpstream, violationsAfter } from '../../../tools/harness/batches/batch-lines.ts';
import {
  type BatchSite,
  openMachineSite,
  openSharedSite,
  type SiteOptions,
  startSharedServers,
} from '../../../tools/harness/batches/batch-sites.ts';
import type { LaunchedService } from '../../../tools/harness/services/launcher.ts';
import { type Row, report } from '../../report.ts';

const KILLS = 50;
const LINES = 2000;
const GRANTED = 1_000_000;

interface Place {
  readonly name: string;
  readonly seed: number;
  readonly nodes: 1 | 2;
  open(options: SiteOptions): Promise<BatchSite>;
}

async function batchesWithKills({ name, seed, nodes, open }: Place): Promise<{ rows: Row[]; note: string }> {
  const upstream = startLineUpstream();
  const site = await open({ config: upstream.config, granted: GRANTED });
  try {
    let last: LaunchedService | undefined;
    const launch = async (node: number) => {
      last = await site.launch(node);
      return last;
    };
    const start = performance.now();
    const plan = { kills: KILLS, seed, lines: LINES, nodes, launch, upstream };
    const { batches, killedIn } = await batchesThroughKills(plan);
    const seconds = (performance.now() - start) / 1000;
    if (last === undefined) throw new Error('nothing was launched');
    const errors = await violationsAfter(batches, { ...site, service: last, lines: LINES, granted: GRANTED });
    for (const error of errors) console.error(error);
    const states = Object.entries(killedIn).map(([status, count]) => `${count} in '${status}'`);
    return {
      rows: [
        { measure: `${name}: batches of ${LINES} lines that ended`, ours: batches.length, unit: '' },
        {
          measure: `${name}: differences from a run without kills`,
          ours: errors.length,
          unit: '',
          target: 0,
        },
        { measure: `${name}: lines that ran again`, ours: upstream.repeated, unit: '' },
        { measure: `${name}: time in all`, ours: seconds, unit: 's' },
      ],
      note: `${name}: ${KILLS} kills, by the last status that the client received: ${states.join(', ')}.`,
    };
  } finally {
    await site.close();
    await upstream.close();
  }
}

export async function benchBatchKills(): Promise<void> {
  const one = await batchesWithKills({ name: 'one machine', seed: 11, nodes: 1, open: openMachineSite });
  const servers = await startSharedServers();
  try {
    const open = (options: SiteOptions) => openSharedSite(servers, options);
    const two = await batchesWithKills({ name: 'two machines', seed: 12, nodes: 2, open });
    await report(
      'batch-kills',
      'Batches whose processes are killed with SIGKILL and restarted',
      [...one.rows, ...two.rows],
      [
        one.note,
        two.note,
        'One machine: SQLite and a disk. Two machines: PostgreSQL, Redis and an S3 server; a random one is killed.',
        'Checked at the end: every custom_id has one correct result in one of the two files; counts, tokens and credits; one usage row per completed line; no leftovers in tables and blobs.',
        'Each line takes 150 ms upstream. Kills occur up to 2 s after the start, during validation, and within 120 ms of the last upstream response.',
      ],
    );
  } finally {
    await servers.close();
  }
}
