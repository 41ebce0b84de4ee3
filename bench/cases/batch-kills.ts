/** Batches on the real process, which is killed at random moments: what the tests do, for longer. */

import { batchesThroughKills } from '../../tools/harness/batches/batch-kills.ts';
import { faultsAfter, startLineUpstream } from '../../tools/harness/batches/batch-lines.ts';
import {
  type BatchSite,
  openMachineSite,
  openSharedSite,
  type SiteOptions,
  startSharedServers,
} from '../../tools/harness/batches/batch-sites.ts';
import type { LaunchedService } from '../../tools/harness/services/launcher.ts';
import { type Row, report } from '../report.ts';

const KILLS = 50;
const LINES = 2000;
const GRANTED = 1_000_000;

interface Place {
  readonly name: string;
  readonly seed: number;
  readonly nodes: 1 | 2;
  open(options: SiteOptions): Promise<BatchSite>;
}

async function killed({ name, seed, nodes, open }: Place): Promise<{ rows: Row[]; note: string }> {
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
    const faults = await faultsAfter(batches, { ...site, service: last, lines: LINES, granted: GRANTED });
    for (const fault of faults) console.error(fault);
    const states = Object.entries(killedIn).map(([status, count]) => `${count} in '${status}'`);
    return {
      rows: [
        { measure: `${name}: batches of ${LINES} lines that ended`, ours: batches.length, unit: '' },
        {
          measure: `${name}: differences from a run without kills`,
          ours: faults.length,
          unit: '',
          target: 0,
        },
        { measure: `${name}: lines that ran again`, ours: upstream.repeated, unit: '' },
        { measure: `${name}: time in all`, ours: seconds, unit: 's' },
      ],
      note: `${name}: ${KILLS} kills, by the state that a client had seen last: ${states.join(', ')}.`,
    };
  } finally {
    await site.close();
    await upstream.close();
  }
}

export async function benchBatchKills(): Promise<void> {
  const one = await killed({ name: 'one machine', seed: 11, nodes: 1, open: openMachineSite });
  const servers = await startSharedServers();
  try {
    const open = (options: SiteOptions) => openSharedSite(servers, options);
    const two = await killed({ name: 'two machines', seed: 12, nodes: 2, open });
    await report(
      'batch-kills',
      'Batches whose processes are killed with SIGKILL and started again',
      [...one.rows, ...two.rows],
      [
        one.note,
        two.note,
        'One machine has SQLite and a disk; two share PostgreSQL, Redis and an S3 server, and one or the other is killed.',
        'Compared at the end: every custom_id once over both files with the answer of its line, counts, tokens, one usage row a completed line, credits, and nothing left in tables and blobs.',
        'Each line takes 150 ms upstream; kills come at any time of up to 2 s after the start, while a batch is validated, and within 120 ms of its last answer.',
      ],
    );
  } finally {
    await servers.close();
  }
}
