import type { CallJournal } from '../contract/accounts/accounts-store.ts';
import type { Calls, JobCalls, LineCalls } from '../contract/accounts/calls.ts';
import type { CallLimits } from '../contract/accounts/limits.ts';
import type { Price } from '../contract/accounts/prices.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import { isRunning, hostId } from '../kit/process/host-id.ts';
import { Accounts } from './accounts.ts';
import { CallLedger } from './call-ledger.ts';
import { InstanceHeartbeat } from './instance-heartbeat.ts';
import { JobAccounts } from './job-accounts.ts';
import { LineAccounts } from './line-accounts.ts';
import { priceList } from './prices.ts';
import { rowMetrics } from './row-metrics.ts';

export interface AccountsSettings {
  readonly journal: CallJournal;
  readonly prices: readonly Price[];
  readonly limits: CallLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Makes this process one that opens calls, and ends those of processes that died.
 * @returns `close`, for when every call is closed.
 */
export async function startAccounts({ prices, ...parts }: AccountsSettings): Promise<{
  readonly calls: Calls;
  readonly lineCalls: LineCalls;
  readonly jobCalls: JobCalls;
  close(): Promise<void>;
}> {
  const self = { id: crypto.randomUUID(), place: hostId(), pid: process.pid };
  const books = new CallLedger({ ...parts, instance: self.id, findPrice: priceList(prices) });
  const rows = rowMetrics(parts.metrics);
  const accounts = new Accounts({ ...parts, books, rows });
  const watch = new InstanceHeartbeat({ ...parts, accounts, books, self, isRunning });
  await watch.start();
  return {
    calls: accounts,
    lineCalls: new LineAccounts(books, rows),
    jobCalls: new JobAccounts(books, rows),
    close: () => watch.stop(),
  };
}
