/** `/v1/realtime` over real sockets, each part alone or all in one table. */

import type { Measured } from '../realtime/measured.ts';
import { report } from '../report.ts';
import { measureCancels } from './realtime-cancel.ts';
import { measureCycles } from './realtime-cycles.ts';
import { measureIdle } from './realtime-idle.ts';
import { measureLatency } from './realtime-latency.ts';
import { measureStreams } from './realtime-streams.ts';

/** Each part by its name in the command. */
const PARTS: Readonly<Record<string, () => Promise<Measured>>> = {
  'realtime-latency': measureLatency,
  'realtime-cancel': measureCancels,
  'realtime-idle': measureIdle,
  'realtime-streams': measureStreams,
  'realtime-cycles': measureCycles,
};

/** A bench for each part, which reports it alone. */
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
