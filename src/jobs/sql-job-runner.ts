import type { Clock } from '../contract/core/clock.ts';
import type { JobHandler, JobRunner } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { ClaimedJob, JobStore } from '../contract/stores/job-store.ts';
import { FailureLog } from '../kit/logging/failure-log.ts';
import type { ProcessIdentity } from '../kit/process/host-id.ts';
import { JobFailureLog } from './job-failure-log.ts';
import { runJobInSpan } from './job-span.ts';
import { type JobTiming, retryDelayMs } from './job-timing.ts';
import { isHeldByExitedProcess, leaseName } from './lease-name.ts';
import { LeasedJob } from './leased-job.ts';

export interface SqlJobRunnerDeps {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Identity of this process. */
  readonly self: ProcessIdentity;
  /** Whether a process of this host is running. */
  readonly isRunning: (pid: number) => boolean;
  readonly timing: JobTiming;
  readonly tracer: Tracer;
  readonly handler: JobHandler;
}

/** Runs jobs of one kind from the table. */
export class SqlJobRunner implements JobRunner {
  readonly #deps: SqlJobRunnerDeps;
  /** Jobs running in this process, by lease. */
  readonly #leased = new Map<string, LeasedJob>();
  readonly #runs = new Set<Promise<void>>();
  readonly #working: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  readonly #jobFailures: JobFailureLog;
  /** Failure logs of table operations, by message. */
  readonly #failures = new Map<string, FailureLog>();
  #startedRuns = 0;
  #renewing: Promise<void> | undefined;
  /** Whether a job may have become available since {@link #work} last polled. */
  #mayHaveJobs = true;
  #wake: (() => void) | undefined;
  #stopped = false;

  constructor(deps: SqlJobRunnerDeps) {
    this.#deps = deps;
    this.#jobFailures = new JobFailureLog(deps.log, deps.handler.kind);
    this.#timer = setInterval(() => this.#renewOnce(), deps.timing.renewalMs);
    this.#working = this.#work();
  }

  /** Polls for an available job immediately. */
  poll(): void {
    this.#mayHaveJobs = true;
    this.#wake?.();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.poll();
    for (const leased of this.#leased.values()) leased.stop();
    await this.#working;
    await Promise.all(this.#runs);
    clearInterval(this.#timer);
    await this.#renewing;
  }

  /** Starts runs while there are free slots and available jobs. */
  async #work(): Promise<void> {
    await this.#tryOperation('leases of exited processes could not be read', () => this.#releaseExited());
    while (!this.#stopped) {
      this.#mayHaveJobs = false;
      const { concurrency } = this.#deps.handler;
      if (this.#runs.size < concurrency && (await this.#claimAndRun())) continue;
      if (!this.#mayHaveJobs) await this.#waitForWork();
    }
  }

  /** Waits for a wake-up, at most for the poll interval, because other processes cannot wake this one. */
  async #waitForWork(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#deps.timing.pollMs);
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }

  /**
   * Claims a job and starts its run.
   * @returns whether a job was available.
   */
  async #claimAndRun(): Promise<boolean> {
    const { store, clock, handler, self, timing } = this.#deps;
    this.#startedRuns += 1;
    const lease = leaseName(self, this.#startedRuns);
    const at = clock.now();
    const claimed = await this.#tryOperation('jobs could not be claimed', () =>
      store.claimJob({ kind: handler.kind, lease }, { at, until: at + timing.leaseMs }),
    );
    if (claimed === undefined) return false;
    const run = this.#run(claimed, lease);
    this.#runs.add(run);
    void run.then(() => {
      this.#runs.delete(run);
      this.poll();
    });
    return true;
  }

  async #run(job: ClaimedJob, lease: string): Promise<void> {
    const leased = new LeasedJob(this.#deps.timing.leaseMs);
    this.#leased.set(lease, leased);
    if (this.#stopped) leased.stop();
    const settle = await this.#outcome(job, lease, leased.signal);
    // If this fails, the lease expires and the next run continues the job.
    await this.#tryOperation('the outcome of a job run could not be stored', settle);
    this.#leased.delete(lease);
    leased.close();
  }

  /**
   * Runs a job.
   * @returns a function that stores the outcome.
   */
  async #outcome(job: ClaimedJob, lease: string, signal: AbortSignal): Promise<() => Promise<void>> {
    const { store, clock, tracer, handler, timing } = this.#deps;
    try {
      const outcome = await runJobInSpan(tracer, handler, job, signal);
      if (!signal.aborted) this.#jobFailures.recordSuccess();
      if (outcome.kind === 'done') return () => store.removeJob(lease);
      return () => store.rescheduleJob(lease, clock.now() + outcome.delayMs, 0);
    } catch (error) {
      const failures = job.failures + 1;
      const delayMs = retryDelayMs(timing, failures);
      this.#jobFailures.recordFailure(error, { job: job.id, delayMs });
      return () => store.rescheduleJob(lease, clock.now() + delayMs, failures);
    }
  }

  /** Never concurrently, so that a slow store does not accumulate renewals. */
  #renewOnce(): void {
    this.#renewing ??= this.#tryOperation('job leases could not be renewed', () => this.#renew()).then(() => {
      this.#renewing = undefined;
    });
  }

  async #renew(): Promise<void> {
    const { store, clock, timing } = this.#deps;
    const running = [...this.#leased];
    if (running.length > 0) {
      const leases = running.map(([lease]) => lease);
      const renewed = await store.renewLeases(leases, clock.now() + timing.leaseMs);
      for (const [lease, leased] of running) {
        if (renewed.has(lease)) leased.renewed();
        else leased.lost();
      }
    }
    await this.#releaseExited();
  }

  /** Releases the jobs of processes that are known to have exited. */
  async #releaseExited(): Promise<void> {
    const { store, clock, handler, self, isRunning } = this.#deps;
    for (const lease of await store.leases(handler.kind)) {
      if (!isHeldByExitedProcess(lease, self, isRunning)) continue;
      await store.releaseJob(lease, clock.now());
      this.poll();
    }
  }

  /** Runs a table operation that may fail while the database is unavailable. The caller retries it later. */
  async #tryOperation<T>(failure: string, work: () => Promise<T>): Promise<T | undefined> {
    const { log, handler } = this.#deps;
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
