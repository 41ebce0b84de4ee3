/**
 * Lazily started low-priority worker pool for background work. The first job starts the processes, which run under
 * SCHED_IDLE and are stopped after five minutes without jobs.
 */

import { shuttingDown } from '../../contract/core/error.ts';
import { type InferencePool, type InferencePoolOptions, inferencePool } from './inference-pool.ts';
import type { JobSpec } from './job.ts';

/** Idle time after which the processes are stopped to free their memory. */
const IDLE_MS = 300_000;

export interface BackgroundPoolOptions<Spec> extends Omit<InferencePoolOptions<Spec>, 'lowPriority'> {
  /** Default: 5 minutes. */
  readonly idleMs?: number;
}

export class BackgroundPool<Spec> implements Pick<InferencePool, 'runJob' | 'close'> {
  readonly #options: BackgroundPoolOptions<Spec>;
  #pool: InferencePool | undefined;
  #openJobs = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: BackgroundPoolOptions<Spec>) {
    this.#options = options;
  }

  /** As {@link InferencePool.runJob}. Jobs wait while the models load. */
  async *runJob<Request, Result>(
    model: string,
    work: JobSpec<Request, Result>,
    signal: AbortSignal,
  ): AsyncGenerator<Result, void, undefined> {
    const pool = this.#startedPool();
    this.#openJobs += 1;
    try {
      yield* pool.runJob<Request, Result>(model, work, signal);
    } finally {
      this.#openJobs -= 1;
      if (this.#openJobs === 0) this.#scheduleStop();
    }
  }

  /** Kills every process and fails the open jobs. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    await this.#pool?.close();
  }

  #startedPool(): InferencePool {
    if (this.#closed) throw shuttingDown();
    clearTimeout(this.#idleTimer);
    if (this.#pool) return this.#pool;
    const pool = inferencePool({ ...this.#options, lowPriority: true });
    this.#pool = pool;
    // Waiting jobs fail with their own error, and the pool retries the start.
    pool.start().catch((error: unknown) => {
      if (this.#pool === pool && !this.#closed)
        this.#options.log.error('failed to start the background worker pool', error);
    });
    return pool;
  }

  #scheduleStop(): void {
    if (this.#closed) return;
    this.#idleTimer = setTimeout(() => {
      const pool = this.#pool;
      this.#pool = undefined;
      void pool?.close();
    }, this.#options.idleMs ?? IDLE_MS);
  }
}
