import type { CallJournal, Instance } from '../contract/accounts/accounts-store.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import { unixSeconds } from '../kit/clock.ts';
import { FailureLog } from '../kit/logging/failure-log.ts';
import type { Accounts } from './accounts.ts';
import type { CallLedger } from './call-ledger.ts';

/** How often a process says that it lives. */
const BEAT_MS = 10_000;
/** One that said nothing for so long, while this one listened, is dead. */
export const INSTANCE_TIMEOUT_S = 60;
/** Who says nothing for longer has not listened either: the database may have been away for all. */
const LISTENING_MS = 3 * BEAT_MS;
/** Calls that are read at once. */
const PAGE = 500;

export interface InstanceHeartbeatDeps {
  readonly journal: CallJournal;
  readonly accounts: Accounts;
  readonly books: CallLedger;
  readonly clock: Clock;
  readonly log: Logger;
  /** This process. */
  readonly self: Omit<Instance, 'seenAt'>;
  /** Whether a process of this one's place runs. */
  readonly isRunning: (pid: number) => boolean;
}

/** What a process said last, and since when it says so, by the monotonic clock of who hears it. */
interface Heard {
  readonly seenAt: number;
  readonly sinceMs: number;
}

/** Keeps this process noted as one that lives, and ends the calls of those that died. */
export class InstanceHeartbeat {
  readonly #parts: InstanceHeartbeatDeps;
  readonly #failures: FailureLog;
  #heard: ReadonlyMap<string, Heard> = new Map();
  #listenedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(parts: InstanceHeartbeatDeps) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log, 'open calls could not be looked after');
  }

  /** Resolves when calls may be opened, and those of processes that died before are ended. */
  async start(): Promise<void> {
    await this.beat();
    this.#timer = setInterval(() => void this.#beatOrLog(), BEAT_MS);
  }

  /** Says that this process lives, stores what could not be stored, and ends the calls of the dead. */
  async beat(): Promise<void> {
    const { journal, books, clock, self } = this.#parts;
    const seenAt = unixSeconds(clock);
    await journal.recordHeartbeat({ ...self, seenAt });
    await books.retryPending();
    const instances = await journal.listInstances();
    this.#hear(instances);
    for (const instance of instances) if (this.#isDead(instance)) await this.#bury(instance);
  }

  /** For the end of the process, when its calls are closed. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    const { journal, books, self } = this.#parts;
    await books.retryPending();
    // With calls that are still open it stays noted, and whoever starts next ends them.
    await journal.removeInstance(self.id);
  }

  /** Clocks of machines are not compared: what counts is whether a process says something new. */
  #hear(instances: readonly Instance[]): void {
    const nowMs = this.#parts.clock.monotonicMs();
    const before = nowMs - this.#listenedMs > LISTENING_MS ? new Map<string, Heard>() : this.#heard;
    this.#listenedMs = nowMs;
    this.#heard = new Map(
      instances.map(({ id, seenAt }) => {
        const last = before.get(id);
        return [id, last?.seenAt === seenAt ? last : { seenAt, sinceMs: nowMs }];
      }),
    );
  }

  #isDead({ id, place, pid }: Instance): boolean {
    const { self, isRunning } = this.#parts;
    if (id === self.id) return false;
    const sinceMs = this.#heard.get(id)?.sinceMs ?? this.#listenedMs;
    if (this.#listenedMs - sinceMs >= INSTANCE_TIMEOUT_S * 1000) return true;
    // Numbers are used again: one with this process's own number was before it.
    return place === self.place && (pid === self.pid || !isRunning(pid));
  }

  async #bury({ id }: Instance): Promise<void> {
    const { journal, accounts, log } = this.#parts;
    let ended = 0;
    for (;;) {
      const calls = await journal.listOpenCalls(id, PAGE);
      if (calls.length === 0) break;
      for (const call of calls) if (await accounts.recover(call)) ended += 1;
    }
    await journal.removeInstance(id);
    if (ended > 0) log.warn('calls of a process that died were ended', { calls: ended });
  }

  /** One at a time: a beat that waits for the store must not be followed by a queue of others. */
  async #beatOrLog(): Promise<void> {
    if (this.#beating !== undefined) return;
    this.#beating = this.beat().then(
      () => this.#failures.recordSuccess(),
      (error: unknown) => this.#failures.recordFailure(error),
    );
    await this.#beating;
    this.#beating = undefined;
  }
}
