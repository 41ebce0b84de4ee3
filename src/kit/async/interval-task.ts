export interface IntervalTaskOptions {
  /** The task. Must not reject; its signal fires on close. */
  readonly runTask: (signal: AbortSignal) => Promise<void>;
  readonly intervalMs: number;
}

/** Runs a task immediately and then at an interval, never concurrently with itself. The owner closes it. */
export class IntervalTask {
  readonly #runTask: IntervalTaskOptions['runTask'];
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor({ runTask, intervalMs }: IntervalTaskOptions) {
    this.#runTask = runTask;
    this.#startRun();
    this.#timer = setInterval(() => this.#startRun(), intervalMs);
    this.#timer.unref();
  }

  /** Stops the interval and resolves when the running task has finished. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed.abort(new Error('the interval task was closed'));
    await this.#running;
  }

  #startRun(): void {
    this.#running ??= this.#runTask(this.#closed.signal).finally(() => {
      this.#running = undefined;
    });
  }
}
