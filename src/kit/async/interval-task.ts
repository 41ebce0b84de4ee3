export interface IntervalTaskOptions {
  /** Must not reject; its signal fires at the close. */
  readonly runTask: (signal: AbortSignal) => Promise<void>;
  readonly intervalMs: number;
}

/** Does something at once and then from time to time, never twice at the same time. Its owner closes it. */
export class IntervalTask {
  readonly #work: IntervalTaskOptions['runTask'];
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor({ runTask: work, intervalMs: everyMs }: IntervalTaskOptions) {
    this.#work = work;
    this.#begin();
    this.#timer = setInterval(() => this.#begin(), everyMs);
    this.#timer.unref();
  }

  /** Resolves when nothing is done any more. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed.abort(new Error('the recurring work was closed'));
    await this.#running;
  }

  #begin(): void {
    this.#running ??= this.#work(this.#closed.signal).finally(() => {
      this.#running = undefined;
    });
  }
}
