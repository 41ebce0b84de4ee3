import type { CallJournal } from '../contract/accounts/accounts-store.ts';
import type { Calls, JobCalls, LineCalls } from '../contract/accounts/calls.ts';
import type { CallLimits } from '../contract/accounts/limits.ts';
import type { Price } from '../contract/accounts/prices.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import { hostId, isRunning } from '../kit/process/host-id.ts';
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
 * Registers this process, and recovers the calls of crashed processes.
 * @returns `close`, to be called after all calls are closed.
 */
export async function startAccounts({ prices, ...deps }: AccountsSettings): Promise<{
  readonly calls: Calls;
  readonly lineCalls: LineCalls;
  readonly jobCalls: JobCalls;
  close(): Promise<void>;
}> {
  const self = { id: crypto.randomUUID(), host: hostId(), pid: process.pid };
  const ledger = new CallLedger({ ...deps, instance: self.id, findPrice: priceList(prices) });
  const rows = rowMetrics(deps.metrics);
  const accounts = new Accounts({ ...deps, ledger, rows });
  const heartbeat = new InstanceHeartbeat({ ...deps, accounts, ledger, self, isRunning });
  await heartbeat.start();
  return {
    calls: accounts,
    lineCalls: new LineAccounts(ledger, rows),
    jobCalls: new JobAccounts(ledger, rows),
    close: () => heartbeat.stop(),
  };
}
