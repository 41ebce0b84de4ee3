/** A low-priority worker that exists only while it is used. */

import { shuttingDown } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';

/** Idle time after which the worker is closed to release its memory. */
const IDLE_MS = 300_000;

/** A worker with its own processes. */
export interface StartableWorker {
  /** Starts the processes. Jobs may be sent before they have started. A failed start is retried. */
  start(): Promise<unknown>;
  /** Kills the processes and fails the open jobs. Idempotent. */
  close(): Promise<void>;
}

export interface BackgroundWorkerOptions<Worker extends StartableWorker> {
  /** Name in log lines, such as `background inference pool`. */
  readonly name: string;
  readonly createWorker: () => Worker;
  readonly log: Logger;
  /** Default: 5 minutes. */
  readonly idleMs?: number | undefined;
}

/** Starts a worker with its first job, and closes it when it has had no job for some time. */
export class BackgroundWorker<Worker extends StartableWorker> {
  readonly #options: BackgroundWorkerOptions<Worker>;
  #worker: Worker | undefined;
  #openJobs = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the last idle worker has closed. */
  #idleClosed: Promise<void> | undefined;
  #closed = false;

  constructor(options: BackgroundWorkerOptions<Worker>) {
    this.#options = options;
  }

  /**
   * Runs a job on the worker, which stays open until the job ends. The job starts with the first pull.
   * @throws ServiceError `overloaded` after {@link close}; the errors of the job.
   */
  async *runJob<Result>(
    start: (worker: Worker) => AsyncIterable<Result>,
  ): AsyncGenerator<Result, void, undefined> {
    const worker = this.#startedWorker();
    this.#openJobs += 1;
    try {
      yield* start(worker);
    } finally {
      this.#openJobs -= 1;
      if (this.#openJobs === 0 && !this.#closed) this.#scheduleIdleClose();
    }
  }

  /** Closes the worker, which fails the open jobs. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    await Promise.all([this.#worker?.close(), this.#idleClosed]);
  }

  #startedWorker(): Worker {
    if (this.#closed) throw shuttingDown();
    clearTimeout(this.#idleTimer);
    if (this.#worker) return this.#worker;
    const { name, createWorker, log } = this.#options;
    const worker = createWorker();
    this.#worker = worker;
    // Waiting jobs fail with their own error, and the worker retries the start.
    worker.start().catch((error: unknown) => {
      if (this.#worker === worker && !this.#closed) log.error(`${name} failed to start`, error);
    });
    return worker;
  }

  #scheduleIdleClose(): void {
    this.#idleTimer = setTimeout(() => {
      this.#idleClosed = this.#worker?.close();
      this.#worker = undefined;
    }, this.#options.idleMs ?? IDLE_MS);
  }
}
