import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { NewCall } from '../../../src/contract/accounts/calls.ts';
import type { Price } from '../../../src/contract/accounts/prices.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type { Metrics } from '../../../src/contract/core/metrics.ts';
import { callJournal } from '../../../src/records/accounts/call-journal.ts';
import { creditStore } from '../../../src/records/accounts/credit-store.ts';
import { usageStore } from '../../../src/records/accounts/usage-store.ts';
import type { Records } from '../../../src/records/schema/records.ts';
import { Accounts } from '../../../src/usage/accounts.ts';
import { CallLedger } from '../../../src/usage/call-ledger.ts';
import { InstanceHeartbeat } from '../../../src/usage/instance-heartbeat.ts';
import { JobAccounts } from '../../../src/usage/job-accounts.ts';
import { LineAccounts } from '../../../src/usage/line-accounts.ts';
import { priceList } from '../../../src/usage/prices.ts';
import { rowMetrics } from '../../../src/usage/row-metrics.ts';
import { noCallLimits, noMetrics } from './doubles.ts';
import { ManualClock } from './manual-clock.ts';
import { memoryRecords } from './memory-records.ts';
import { RecordingLogger } from './recording-logger.ts';

/** Price of speech with `svc-tts`: two micro-credits per call and one per character. */
export const SPEECH_PRICE: Price = {
  endpoint: '/v1/audio/speech',
  model: 'svc-tts',
  request: 2_000_000n,
  inputToken: 0n,
  outputToken: 0n,
  character: 1_000_000n,
  audioSecond: 0n,
};

/** A caller of an organization. */
export function callerOf(organization: string): Caller {
  return { organization, keyId: `key of ${organization}`, requestId: newId('req_') };
}

/** A speech call with this maximum number of characters. */
export function speechCall(characters: number, overrides: Partial<NewCall> = {}): NewCall {
  return {
    endpoint: '/v1/audio/speech',
    model: 'svc-tts',
    caller: callerOf('a'),
    maxUsage: { inputTokens: 0, outputTokens: 0, characters },
    ...overrides,
  };
}

/** Simulated processes that share an in-memory database. */
export function sharedAccounts(prices: readonly Price[] = [SPEECH_PRICE]) {
  const records = memoryRecords();
  const journal = callJournal(records);
  const credits = creditStore(records);
  const usage = usageStore(records);
  const clock = new ManualClock();
  const log = new RecordingLogger();
  const running = new Set<number>();
  let started = 0;
  return {
    records,
    journal,
    credits,
    clock,
    log,
    /** Ids of the running processes. */
    running,
    /** Starts a process. @param over its records. Default: the shared database. */
    process({
      host = 'here',
      over = records,
      metrics = noMetrics,
    }: {
      host?: string;
      over?: Records;
      metrics?: Metrics;
    } = {}) {
      started += 1;
      const self = { id: `i${started}`, host, pid: started };
      running.add(self.pid);
      const parts = { journal: callJournal(over), clock, log, metrics };
      const ledger = new CallLedger({ ...parts, instance: self.id, findPrice: priceList(prices) });
      const rows = rowMetrics(metrics);
      const accounts = new Accounts({ ...parts, ledger, rows, limits: noCallLimits });
      const lines = new LineAccounts(ledger, rows);
      const jobs = new JobAccounts(ledger, rows);
      const isRunning = (pid: number) => running.has(pid);
      const watch = new InstanceHeartbeat({ ...parts, accounts, ledger, self, isRunning });
      return { accounts, lines, jobs, ledger, watch, self };
    },
    rows: async (organization = 'a') => (await usage.list({ organization, limit: 1000 })).records,
    close: () => records.close(),
  };
}
