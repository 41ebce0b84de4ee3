import type { Clock } from '../contract/core/clock.ts';
import type { JobHandler, JobRunner } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { JobStore, ClaimedJob } from '../contract/stores/job-store.ts';
import { FailureLog } from '../kit/logging/failure-log.ts';
import type { ProcessIdentity } from '../kit/process/host-id.ts';
import { JobFailureLog } from './job-failure-log.ts';
import { LeasedJob } from './leased-job.ts';
import { runJobInSpan } from './job-span.ts';
import { type JobTiming, retryDelayMs } from './job-timing.ts';
import { isHeldByExitedProcess, leaseName } from './lease-name.ts';

export interface SqlJobRunnerDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** This process. */
  readonly self: ProcessIdentity;
  /** Whether a process of this one's place runs. */
  readonly isRunning: (pid: number) => boolean;
  readonly timing: JobTiming;
  readonly tracer: Tracer;
  readonly handler: JobHandler;
}

/** Runs jobs of one kind from the table. */
export class SqlJobRunner implements JobRunner {
  readonly #parts: SqlJobRunnerDeps;
  /** Those that run here, by lease. */
  readonly #held = new Map<string, LeasedJob>();
  readonly #runs = new Set<Promise<void>>();
  readonly #working: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  readonly #failedRuns: JobFailureLog;
  /** Of the table, by what is asked of it. */
  readonly #failures = new Map<string, FailureLog>();
  #begun = 0;
  #renewing: Promise<void> | undefined;
  /** Whether there may be a free job that {@link #work} has not seen. */
  #fresh = true;
  #wake: (() => void) | undefined;
  #stopped = false;

  constructor(parts: SqlJobRunnerDeps) {
    this.#parts = parts;
    this.#failedRuns = new JobFailureLog(parts.log, parts.handler.kind);
    this.#timer = setInterval(() => this.#renewOnce(), parts.timing.renewalMs);
    this.#working = this.#work();
  }

  /** Looks for a free job at once. */
  poll(): void {
    this.#fresh = true;
    this.#wake?.();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.poll();
    for (const held of this.#held.values()) held.stop();
    await this.#working;
    await Promise.all(this.#runs);
    clearInterval(this.#timer);
    await this.#renewing;
  }

  /** Begins runs while there are places and free jobs. */
  async #work(): Promise<void> {
    await this.#watchful('leases of processes that died could not be looked for', () => this.#freeDead());
    while (!this.#stopped) {
      this.#fresh = false;
      const { concurrency } = this.#parts.handler;
      if (this.#runs.size < concurrency && (await this.#beginOne())) continue;
      if (!this.#fresh) await this.#nap();
    }
  }

  /** Until somebody says that there may be work, at most for a while: other processes cannot say so. */
  async #nap(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#parts.timing.pollMs);
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }

  /** @returns whether there was a free job. */
  async #beginOne(): Promise<boolean> {
    const { store, clock, handler, self, timing } = this.#parts;
    this.#begun += 1;
    const lease = leaseName(self, this.#begun);
    const at = clock.now();
    const taken = await this.#watchful('jobs could not be looked for', () =>
      store.claimJob({ kind: handler.kind, lease }, { at, until: at + timing.leaseMs }),
    );
    if (taken === undefined) return false;
    const run = this.#run(taken, lease);
    this.#runs.add(run);
    void run.then(() => {
      this.#runs.delete(run);
      this.poll();
    });
    return true;
  }

  async #run(job: ClaimedJob, lease: string): Promise<void> {
    const held = new LeasedJob(this.#parts.timing.leaseMs);
    this.#held.set(lease, held);
    if (this.#stopped) held.stop();
    const settle = await this.#outcome(job, lease, held.signal);
    // When it fails the lease ends by itself, and the next run finds what became of the job.
    await this.#watchful('the end of a run could not be stored', settle);
    this.#held.delete(lease);
    held.close();
  }

  /** Runs a job. @returns what stores that it did. */
  async #outcome(job: ClaimedJob, lease: string, signal: AbortSignal): Promise<() => Promise<void>> {
    const { store, clock, tracer, handler, timing } = this.#parts;
    try {
      const outcome = await runJobInSpan(tracer, handler, job, signal);
      if (!signal.aborted) this.#failedRuns.recordSuccess();
      if (outcome.kind === 'done') return () => store.removeJob(lease);
      return () => store.rescheduleJob(lease, clock.now() + outcome.delayMs, 0);
    } catch (error) {
      const failures = job.failures + 1;
      const delayMs = retryDelayMs(timing, failures);
      this.#failedRuns.recordFailure(error, { job: job.id, delayMs });
      return () => store.rescheduleJob(lease, clock.now() + delayMs, failures);
    }
  }

  /** One at a time: a slow store must not meet a queue of them. */
  #renewOnce(): void {
    this.#renewing ??= this.#watchful('leases of jobs could not be renewed', () => this.#renew()).then(() => {
      this.#renewing = undefined;
    });
  }

  async #renew(): Promise<void> {
    const { store, clock, timing } = this.#parts;
    const running = [...this.#held];
    if (running.length > 0) {
      const leases = running.map(([lease]) => lease);
      const kept = await store.renewLeases(leases, clock.now() + timing.leaseMs);
      for (const [lease, held] of running) {
        if (kept.has(lease)) held.renewed();
        else held.lost();
      }
    }
    await this.#freeDead();
  }

  /** Frees jobs of processes that are known to have ended. */
  async #freeDead(): Promise<void> {
    const { store, clock, handler, self, isRunning } = this.#parts;
    for (const lease of await store.leases(handler.kind)) {
      if (!isHeldByExitedProcess(lease, self, isRunning)) continue;
      await store.releaseJob(lease, clock.now());
      this.poll();
    }
  }

  /** Runs what may fail while the store is away: it is tried again in a while, by whoever calls this. */
  async #watchful<T>(failure: string, work: () => Promise<T>): Promise<T | undefined> {
    const { log, handler } = this.#parts;
    const failures = this.#failures.get(failure) ?? new FailureLog(log, failure, { kind: handler.kind });
    this.#failures.set(failure, failures);
    try {
      const done = await work();
      failures.recordSuccess();
      return done;
    } catch (error) {
      failures.recordFailure(error);
      return undefined;
    }
  }
}
