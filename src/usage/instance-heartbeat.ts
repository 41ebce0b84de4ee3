import type { CallJournal, Instance } from '../contract/accounts/accounts-store.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import { unixSeconds } from '../kit/clock.ts';
import { FailureLog } from '../kit/logging/failure-log.ts';
import type { Accounts } from './accounts.ts';
import type { CallLedger } from './call-ledger.ts';

/** Heartbeat interval. */
const HEARTBEAT_MS = 10_000;
/** A process without a heartbeat for this time, while this process was polling, is considered crashed. */
export const INSTANCE_TIMEOUT_S = 60;
/**
 * Maximum gap between polls. After a longer gap, e.g. because the database was unavailable for all, silence
 * is measured again from the start.
 */
const MAX_POLL_GAP_MS = 3 * HEARTBEAT_MS;
/** Page size of reads of open calls. */
const PAGE = 500;

export interface InstanceHeartbeatDeps {
  readonly journal: CallJournal;
  readonly accounts: Accounts;
  readonly ledger: CallLedger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Identity of this process. */
  readonly self: Omit<Instance, 'seenAt'>;
  /** Whether a process of this host is running. */
  readonly isRunning: (pid: number) => boolean;
}

/** Last heartbeat of a process, and since when it is unchanged, by the monotonic clock of this process. */
interface ObservedHeartbeat {
  readonly seenAt: number;
  readonly sinceMs: number;
}

/** Sends heartbeats of this process and recovers the calls of crashed processes. */
export class InstanceHeartbeat {
  readonly #deps: InstanceHeartbeatDeps;
  readonly #failures: FailureLog;
  #observed: ReadonlyMap<string, ObservedHeartbeat> = new Map();
  #polledMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(deps: InstanceHeartbeatDeps) {
    this.#deps = deps;
    this.#failures = new FailureLog(deps.log, 'heartbeat failed');
  }

  /** Resolves when calls can be opened, and calls of processes that crashed before are recovered. */
  async start(): Promise<void> {
    await this.beat();
    this.#timer = setInterval(() => void this.#sendOrLog(), HEARTBEAT_MS);
  }

  /** Sends a heartbeat, retries pending store operations, and recovers the calls of crashed processes. */
  async beat(): Promise<void> {
    const { journal, ledger, clock, self } = this.#deps;
    const seenAt = unixSeconds(clock);
    await journal.recordHeartbeat({ ...self, seenAt });
    await ledger.retryPending();
    const instances = await journal.listInstances();
    this.#observe(instances);
    for (const instance of instances) if (this.#hasCrashed(instance)) await this.#recoverCalls(instance);
  }

  /** Unregisters this process; to be called after its calls are closed. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    const { journal, ledger, self } = this.#deps;
    await ledger.retryPending();
    // With open calls the process stays registered, and the next process recovers them.
    await journal.removeInstance(self.id);
  }

  /** Only changes of a heartbeat count, because clocks of machines are not compared. */
  #observe(instances: readonly Instance[]): void {
    const nowMs = this.#deps.clock.monotonicMs();
    const before =
      nowMs - this.#polledMs > MAX_POLL_GAP_MS ? new Map<string, ObservedHeartbeat>() : this.#observed;
    this.#polledMs = nowMs;
    this.#observed = new Map(
      instances.map(({ id, seenAt }) => {
        const last = before.get(id);
        return [id, last?.seenAt === seenAt ? last : { seenAt, sinceMs: nowMs }];
      }),
    );
  }

  #hasCrashed({ id, host, pid }: Instance): boolean {
    const { self, isRunning } = this.#deps;
    if (id === self.id) return false;
    const sinceMs = this.#observed.get(id)?.sinceMs ?? this.#polledMs;
    if (this.#polledMs - sinceMs >= INSTANCE_TIMEOUT_S * 1000) return true;
    // Process ids are reused: an instance with the id of this process was an earlier process.
    return host === self.host && (pid === self.pid || !isRunning(pid));
  }

  async #recoverCalls({ id }: Instance): Promise<void> {
    const { journal, accounts, log } = this.#deps;
    let ended = 0;
    for (;;) {
      const calls = await journal.listOpenCalls(id, PAGE);
      if (calls.length === 0) break;
      for (const call of calls) if (await accounts.recover(call)) ended += 1;
    }
    await journal.removeInstance(id);
    if (ended > 0) log.warn('recovered calls of a crashed process', { calls: ended });
  }

  /** Never concurrently: a heartbeat that waits for the database must not accumulate others. */
  async #sendOrLog(): Promise<void> {
    if (this.#sending !== undefined) return;
    this.#sending = this.beat().then(
      () => this.#failures.recordSuccess(),
      (error: unknown) => this.#failures.recordFailure(error),
    );
    await this.#sending;
    this.#sending = undefined;
  }
}
