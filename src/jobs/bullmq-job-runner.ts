import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, isNotConnectionError, type Job, type Queue, Worker } from 'bullmq';
import type { Clock } from '../contract/core/clock.ts';
import type { JobHandler, JobOutcome, JobRunner } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Traceparent, Tracer } from '../contract/core/tracer.ts';
import type { Redis } from '../redis/open-redis.ts';
import { JobFailureLog } from './job-failure-log.ts';
import { runJobInSpan, type TracedJob } from './job-span.ts';
import { type JobTiming, retryDelayMs } from './job-timing.ts';
import { LeasedJob } from './leased-job.ts';

export const KEY_PREFIX = 'voice-service:jobs';
/** Type name of the custom backoff strategy. */
export const RETRY_TYPE = 'growing';
/** Time that stopping waits for Redis, in ms. Jobs are otherwise released when their leases expire. */
const CLOSE_TIMEOUT_MS = 2000;
/** Delay before a retry after a Redis error, in ms. */
const RETRY_DELAY_MS = 1000;

export interface JobData {
  /** Number of failed runs before the last successful one, which no longer increase the retry delay. */
  readonly forgiven: number;
  /** Trace context of the request that enqueued the job; absent if it was not traced. */
  readonly cause?: Traceparent | undefined;
}

export type QueueOf = Queue<JobData, void, string>;
type JobOf = Job<JobData, void, string>;

export interface BullmqJobRunnerDeps {
  /** Connection of this runner, which closes it. */
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timing: JobTiming;
  readonly tracer: Tracer;
  readonly failed?: () => void;
  readonly handler: JobHandler;
}

/** Runs jobs of one kind from Redis. */
export class BullmqJobRunner implements JobRunner {
  readonly #deps: BullmqJobRunnerDeps;
  readonly #worker: Worker<JobData, void, string>;
  /** Jobs running in this process, by id. */
  readonly #leased = new Map<string, LeasedJob>();
  readonly #runs = new Set<Promise<void>>();
  readonly #failures: JobFailureLog;
  #isUnavailable = false;
  #stopped: Promise<void> | undefined;

  constructor(deps: BullmqJobRunnerDeps) {
    this.#deps = deps;
    const { redis, timing, handler } = deps;
    this.#failures = new JobFailureLog(deps.log, handler.kind);
    this.#worker = new Worker<JobData, void, string>(
      handler.kind,
      (job, token) => this.#process(job, token),
      {
        connection: redis,
        prefix: KEY_PREFIX,
        concurrency: handler.concurrency,
        lockDuration: timing.leaseMs,
        lockRenewTime: timing.renewalMs,
        stalledInterval: timing.pollMs,
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        runRetryDelay: RETRY_DELAY_MS,
        settings: {
          backoffStrategy: (attempts, _type, _error, job) =>
            retryDelayMs(timing, attempts - ((job?.data as JobData | undefined)?.forgiven ?? 0)),
        },
      },
    );
    this.#worker.on('locksRenewed', ({ jobIds }) => {
      for (const id of jobIds) this.#leased.get(id)?.renewed();
    });
    this.#worker.on('lockRenewalFailed', (jobIds) => {
      for (const id of jobIds) this.#leased.get(id)?.lost();
    });
    this.#worker.on('error', (error) => this.#logWorkerError(error));
    redis.on('ready', () => {
      this.#isUnavailable = false;
    });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { redis } = this.#deps;
    for (const leased of this.#leased.values()) leased.stop();
    await this.#worker.pause(true);
    await Promise.all(this.#runs);
    // A graceful close would wait for an unavailable Redis.
    const closing = this.#worker.close(redis.status !== 'ready');
    const timeout = new AbortController();
    const timedOut = sleep(CLOSE_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => undefined);
    await Promise.race([closing, timedOut]);
    timeout.abort();
    redis.disconnect();
  }

  /** Runs a job for BullMQ, which removes it when this resolves. */
  async #process(job: JobOf, token: string | undefined): Promise<void> {
    const { clock, timing } = this.#deps;
    const id = job.id ?? '';
    this.#isUnavailable = false;
    const leased = new LeasedJob(timing.leaseMs);
    this.#leased.set(id, leased);
    if (this.#stopped !== undefined) leased.stop();
    try {
      const outcome = await this.#outcome({ id, cause: job.data.cause }, leased.signal);
      if (outcome.kind === 'done') return;
      if (job.attemptsMade > job.data.forgiven)
        await job.updateData({ ...job.data, forgiven: job.attemptsMade });
      // Also without a delay: `moveToWait` would put this job in front of other waiting jobs.
      await job.moveToDelayed(clock.now() + outcome.delayMs, token);
      throw new DelayedError();
    } finally {
      if (this.#leased.get(id) === leased) this.#leased.delete(id);
      leased.close();
    }
  }

  async #outcome(job: TracedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { tracer, handler } = this.#deps;
    const running = runJobInSpan(tracer, handler, job, signal);
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#runs.add(ended);
    try {
      const outcome = await running;
      if (!signal.aborted) this.#failures.recordSuccess();
      return outcome;
    } catch (error) {
      this.#failures.recordFailure(error, { job: job.id });
      // Redis stores the message of the error, which can be private.
      throw new Error('job run failed');
    } finally {
      this.#runs.delete(ended);
    }
  }

  /**
   * Logs once that Redis is unavailable; logs every other error with its name. A worker has a second connection, which can be
   * lost while the first one is still open.
   */
  #logWorkerError(error: Error): void {
    const { handler, log, redis, failed } = this.#deps;
    failed?.();
    if (redis.status !== 'ready' || isConnectionError(error)) {
      if (this.#isUnavailable || this.#stopped !== undefined) return;
      this.#isUnavailable = true;
      log.warn('Redis unavailable, jobs paused', { kind: handler.kind });
      return;
    }
    const reason = error.name;
    log.warn('Redis rejected a runner whose job was reassigned or lost', {
      kind: handler.kind,
      reason,
    });
  }
}

/** Whether a connection was lost or cannot be opened. The other errors of a worker are rejected commands. */
function isConnectionError(error: Error): boolean {
  const isSocketError = 'syscall' in error;
  return isSocketError || !isNotConnectionError(error);
}
