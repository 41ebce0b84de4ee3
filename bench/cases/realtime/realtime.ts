/** `/v1/realtime` over real sockets: single parts, or all parts in one table. */

import type { Measured } from '../../realtime/measured.ts';
import { report } from '../../report.ts';
import { measureCancels } from './realtime-cancel.ts';
import { measureCycles } from './realtime-cycles.ts';
import { measureIdle } from './realtime-idle.ts';
import { measureLatency } from './realtime-latency.ts';
import { measureStreams } from './realtime-streams.ts';

/** Parts by benchmark name. */
const PARTS: Readonly<Record<string, () => Promise<Measured>>> = {
  'realtime-latency': measureLatency,
  'realtime-cancel': measureCancels,
  'realtime-idle': measureIdle,
  'realtime-streams': measureStreams,
  'realtime-cycles': measureCycles,
};

/** One benchmark per part. */
export const realtimeParts: Readonly<Record<string, () => Promise<void>>> = Object.fromEntries(
  Object.entries(PARTS).map(([name, measure]) => [name, async () => reportAll(name, [await measure()])]),
);

export async function benchRealtime(): Promise<void> {
  const parts: Measured[] = [];
  for (const measure of Object.values(PARTS)) parts.push(await measure());
  await reportAll('realtime', parts);
}

async function reportAll(name: string, parts: readonly Measured[]): Promise<void> {
  const rows = parts.flatMap((part) => part.rows);
  const notes = parts.flatMap((part) => part.notes);
  await report(name, 'Realtime over WebSockets', rows, notes);
}
