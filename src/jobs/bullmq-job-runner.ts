import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, type Queue, Worker } from 'bullmq';
import type { Clock } from '../contract/core/clock.ts';
import type { JobHandler, JobKind, JobOutcome, JobRunner } from '../contract/core/jobs.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Traceparent, Tracer } from '../contract/core/tracer.ts';
import type { Redis } from '../redis/open-redis.ts';
import { JobFailureLog } from './job-failure-log.ts';
import { LeasedJob } from './leased-job.ts';
import { type TracedJob, runJobInSpan } from './job-span.ts';
import { type JobTiming, retryDelayMs } from './job-timing.ts';

export const KEY_PREFIX = 'voice-service:jobs';
/** BullMQ's name for delays of our own. */
export const RETRY_TYPE = 'growing';
/** How long the end of a runner waits for Redis; the jobs of one that did not wait are free when their leases end. */
const CLOSING_MS = 2000;
/** How long it waits before it asks a Redis again that did not answer. */
const ASK_AGAIN_MS = 1000;

export interface JobData {
  /** Failed runs before the last that did not fail: they no longer make a delay longer. */
  readonly forgiven: number;
  /** What asked for it; absent when that was not traced. */
  readonly cause?: Traceparent | undefined;
}

export type QueueOf = Queue<JobData, void, JobKind>;
type JobOf = Job<JobData, void, JobKind>;

export interface BullmqJobRunnerDeps {
  /** Its own; it ends it. */
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
  readonly #parts: BullmqJobRunnerDeps;
  readonly #worker: Worker<JobData, void, JobKind>;
  /** Those that run here, by id. */
  readonly #held = new Map<string, LeasedJob>();
  readonly #runs = new Set<Promise<void>>();
  readonly #failedRuns: JobFailureLog;
  #isAway = false;
  #stopped: Promise<void> | undefined;

  constructor(parts: BullmqJobRunnerDeps) {
    this.#parts = parts;
    const { redis, timing, handler } = parts;
    this.#failedRuns = new JobFailureLog(parts.log, handler.kind);
    this.#worker = new Worker<JobData, void, JobKind>(
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
        runRetryDelay: ASK_AGAIN_MS,
        settings: {
          backoffStrategy: (attempts, _type, _error, job) =>
            retryDelayMs(timing, attempts - ((job?.data as JobData | undefined)?.forgiven ?? 0)),
        },
      },
    );
    this.#worker.on('locksRenewed', ({ jobIds }) => {
      for (const id of jobIds) this.#held.get(id)?.renewed();
    });
    this.#worker.on('lockRenewalFailed', (jobIds) => {
      for (const id of jobIds) this.#held.get(id)?.lost();
    });
    this.#worker.on('error', (error) => this.#complain(error));
    redis.on('ready', () => {
      this.#isAway = false;
    });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { redis } = this.#parts;
    for (const held of this.#held.values()) held.stop();
    await this.#worker.pause(true);
    await Promise.all(this.#runs);
    // A gentle close of a worker whose Redis is away would wait for it.
    const closing = this.#worker.close(redis.status !== 'ready');
    const patience = new AbortController();
    const patient = sleep(CLOSING_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([closing, patient]);
    patience.abort();
    redis.disconnect();
  }

  /** Runs a job for BullMQ, which forgets it when this resolves. */
  async #process(job: JobOf, token: string | undefined): Promise<void> {
    const { clock, timing } = this.#parts;
    const id = job.id ?? '';
    const held = new LeasedJob(timing.leaseMs);
    this.#held.set(id, held);
    if (this.#stopped !== undefined) held.stop();
    try {
      const outcome = await this.#outcome({ id, cause: job.data.cause }, held.signal);
      if (outcome.kind === 'done') return;
      if (job.attemptsMade > job.data.forgiven)
        await job.updateData({ ...job.data, forgiven: job.attemptsMade });
      // Also when it may go on at once: what waits comes first then, and by `moveToWait` it would be the next.
      await job.moveToDelayed(clock.now() + outcome.delayMs, token);
      throw new DelayedError();
    } finally {
      if (this.#held.get(id) === held) this.#held.delete(id);
      held.close();
    }
  }

  async #outcome(job: TracedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { tracer, handler } = this.#parts;
    const running = runJobInSpan(tracer, handler, job, signal);
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#runs.add(ended);
    try {
      const outcome = await running;
      if (!signal.aborted) this.#failedRuns.recordSuccess();
      return outcome;
    } catch (error) {
      this.#failedRuns.recordFailure(error, { job: job.id });
      // Redis keeps the message of what is thrown.
      throw new Error('the run failed');
    } finally {
      this.#runs.delete(ended);
    }
  }

  /** Says once that Redis is away, and of everything else what it was. */
  #complain(error: Error): void {
    const { handler, log, redis, failed } = this.#parts;
    failed?.();
    if (redis.status !== 'ready') {
      if (this.#isAway || this.#stopped !== undefined) return;
      this.#isAway = true;
      log.warn('Redis is away; its jobs wait', { kind: handler.kind });
      return;
    }
    const reason = error.name;
    log.warn('Redis refused a runner, whose job it gave to another or has lost', {
      kind: handler.kind,
      reason,
    });
  }
}
