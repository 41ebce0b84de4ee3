/** A process that serves one caller. */
export interface SingleUseProcess {
  readonly hasEnded: boolean;
  /** Kills the process and resolves when it has exited. Idempotent. */
  kill(): Promise<void>;
}

/** Keeps one started process ready for the next caller, because a start takes a while. */
export class SpareProcess<Process extends SingleUseProcess> {
  readonly #start: () => Process;
  readonly #idleMs: number | undefined;
  #spare: Process | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /**
   * @param start starts a process. It may throw an error.
   * @param idleMs time in ms after the last {@link prepare} at which the spare process is stopped. Default: never.
   */
  constructor(start: () => Process, idleMs?: number) {
    this.#start = start;
    this.#idleMs = idleMs;
  }

  /** Whether a spare process is running. */
  get isReady(): boolean {
    return this.#spare?.hasEnded === false;
  }

  /** Starts the spare process unless one is running. A failed start is repeated by the next caller. */
  prepare(): void {
    if (this.#closed) return;
    clearTimeout(this.#idleTimer);
    if (this.#idleMs !== undefined) {
      this.#idleTimer = setTimeout(() => void this.#stopSpare(), this.#idleMs);
      this.#idleTimer.unref();
    }
    if (this.isReady) return;
    try {
      this.#spare = this.#start();
    } catch {
      this.#spare = undefined;
    }
  }

  /**
   * Returns the spare process or a new one. The caller must kill it, and calls {@link prepare} when the next one may start.
   * @throws the error of a failed start, and an Error after {@link close}.
   */
  acquire(): Process {
    if (this.#closed) throw new Error('the spare process is closed');
    const spare = this.#spare;
    this.#spare = undefined;
    return spare?.hasEnded === false ? spare : this.#start();
  }

  /** Stops the spare process. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    await this.#stopSpare();
  }

  async #stopSpare(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    await spare?.kill();
  }
}
