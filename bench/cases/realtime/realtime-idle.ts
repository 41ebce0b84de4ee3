/** Memory of idle connections. */

import { fileURLToPath } from 'node:url';
import { launchService, NO_MODELS } from '../../../tools/harness/services/launcher.ts';
import { openLineProcess } from '../../line-process.ts';
import type { IdleOrder } from '../../realtime/idle-clients.ts';
import type { Measured } from '../../realtime/measured.ts';
import { residentAloneKb } from '../../resident-memory.ts';

const CLIENTS = fileURLToPath(new URL('../../realtime/idle-clients.ts', import.meta.url));
const SOCKETS = 5000;
/** Connections that are opened and closed before the measurement. */
const WARM_UP = 100;
const TARGET_KB = 30;
/** Duration of a measurement. Its minimum is the retained memory. */
const SETTLE_MS = 4000;
const SAMPLE_EVERY_MS = 200;

export async function measureIdle(): Promise<Measured> {
  const service = await launchService({ config: NO_MODELS });
  const clients = openLineProcess([process.execPath, CLIENTS, service.baseUrl]);
  const order = (request: IdleOrder) => clients.sendRequest<{ readonly done: number }>(request);
  try {
    await order({ kind: 'open', sockets: WARM_UP });
    await order({ kind: 'close' });
    const before = await retainedKb(service.pid);
    const { done } = await order({ kind: 'open', sockets: SOCKETS });
    const open = await retainedKb(service.pid);
    await order({ kind: 'detect' });
    const detecting = await retainedKb(service.pid);
    await order({ kind: 'close' });
    const after = await retainedKb(service.pid);
    const each = (kb: number) => (kb - before) / done;
    return {
      rows: [
        { measure: `${done} idle sockets, memory of each`, ours: each(open), unit: 'kB', target: TARGET_KB },
        { measure: 'the same with server_vad set', ours: each(detecting), unit: 'kB' },
        { measure: 'serving process before', ours: before / 1024, unit: 'MiB' },
        { measure: 'serving process with all of them', ours: open / 1024, unit: 'MiB' },
        { measure: 'serving process when all have left', ours: after / 1024, unit: 'MiB' },
      ],
      notes: [
        `Idle: authenticated, session.created received; resident memory of the serving process, minimum within ${SETTLE_MS / 1000} s, after ${WARM_UP} sockets of warm-up.`,
      ],
    };
  } finally {
    await clients.close();
    await service.stop();
  }
}

async function retainedKb(pid: number): Promise<number> {
  let minimum = Number.POSITIVE_INFINITY;
  for (let ms = 0; ms < SETTLE_MS; ms += SAMPLE_EVERY_MS) {
    await Bun.sleep(SAMPLE_EVERY_MS);
    minimum = Math.min(minimum, residentAloneKb(pid));
  }
  return minimum;
}
