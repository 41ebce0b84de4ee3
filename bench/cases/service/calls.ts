/** Cost of billing per call, for opening and closing it, on both databases. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/kit/clock.ts';
import { parsePostgresUrl } from '../../../src/kit/validation/postgres-url.ts';
import { callJournal } from '../../../src/records/accounts/call-journal.ts';
import { creditStore } from '../../../src/records/accounts/credit-store.ts';
import { openRecords } from '../../../src/records/open-records.ts';
import type { Records } from '../../../src/records/schema/records.ts';
import { Accounts } from '../../../src/usage/accounts.ts';
import { CallLedger } from '../../../src/usage/call-ledger.ts';
import { priceList } from '../../../src/usage/prices.ts';
import { rowMetrics } from '../../../src/usage/row-metrics.ts';
import { noCallLimits, noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { SPEECH_PRICE, speechCall } from '../../../tools/harness/doubles/usage-parts.ts';
import { HAS_POSTGRES, startPostgres } from '../../../tools/harness/servers/postgres.ts';
import { type Row, report } from '../../report.ts';
import { median } from '../../statistics.ts';

const CALLS = 1000;
const TARGET_MS = 0.3;
/** Credits for all calls. */
const CREDITS = 1_000_000_000_000;

export async function benchCalls(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-calls-'));
  const rows: Row[] = [];
  try {
    const sqlite = await openRecords({ kind: 'sqlite', path: join(folder, 'service.sqlite') });
    rows.push(...(await measured('SQLite', sqlite, TARGET_MS)));
    await sqlite.close();
    if (HAS_POSTGRES) {
      const server = await startPostgres();
      const postgres = await openRecords(parsePostgresUrl(await server.freshDatabase()));
      rows.push(...(await measured('PostgreSQL on the same machine', postgres)));
      await postgres.close();
      await server.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  await report('calls', 'A billed call, opened and closed', rows, [
    `Medians of ${CALLS} sequential calls in an otherwise idle process.`,
  ]);
}

async function measured(database: string, records: Records, target?: number): Promise<Row[]> {
  await creditStore(records).grant('a', CREDITS, 0);
  const parts = { journal: callJournal(records), clock: systemClock, log: silentLog, metrics: noMetrics };
  const ledger = new CallLedger({ ...parts, findPrice: priceList([SPEECH_PRICE]), instance: 'bench' });
  const accounts = new Accounts({ ...parts, ledger, rows: rowMetrics(noMetrics), limits: noCallLimits });
  const rows: Row[] = [];
  for (const [kind, model] of [
    ['free', 'free'],
    ['charged', SPEECH_PRICE.model],
  ] as const) {
    const opened: number[] = [];
    const both: number[] = [];
    for (let i = 0; i < CALLS; i += 1) {
      const from = performance.now();
      const call = await accounts.openCall(speechCall(10, { model }));
      opened.push(performance.now() - from);
      await call.close({ status: 'completed', inputTokens: 3, outputTokens: 4, characters: 10 });
      both.push(performance.now() - from);
    }
    const measure = `${database}, ${kind}`;
    rows.push({ measure: `${measure}: opened`, ours: median(opened), unit: 'ms' });
    const whole = { measure: `${measure}: opened and closed`, ours: median(both), unit: 'ms' };
    rows.push(target === undefined ? whole : { ...whole, target });
  }
  return rows;
}
