import { PythonProcess, type PythonProcessOptions } from './python-process.ts';

/** Idle time after which the reserve process, which uses about 200 MB, is stopped. */
const IDLE_MS = 10 * 60_000;

/**
 * Keeps one started Python process in reserve for the next container. It is started when the code interpreter is used, and
 * stopped after {@link IDLE_MS} without use.
 */
export class PythonReserve {
  readonly #options: PythonProcessOptions;
  readonly #idleMs: number;
  #spare: PythonProcess | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: PythonProcessOptions, idleMs = IDLE_MS) {
    this.#options = options;
    this.#idleMs = idleMs;
  }

  /** Whether a process is in reserve. */
  get filled(): boolean {
    return this.#spare?.hasTerminated === false;
  }

  /** Starts the reserve process unless one exists, and restarts the idle timer. */
  prepare(): void {
    if (this.#closed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#stopReserve(), this.#idleMs);
    this.#idle.unref();
    if (!this.filled) this.#spare = this.#start();
  }

  /**
   * Returns a process for one container; the caller must kill it. The next reserve process is started as soon as this one is
   * ready.
   * @throws Error if the operating system cannot start a process, and after {@link close}.
   */
  take(): PythonProcess {
    if (this.#closed) throw new Error('the reserve of Python processes is closed');
    const spare = this.#spare;
    this.#spare = undefined;
    const acquired = spare?.hasTerminated === false ? spare : new PythonProcess(this.#options);
    acquired.ready().then(
      () => this.prepare(),
      () => undefined,
    );
    return acquired;
  }

  /** Stops the reserve process. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#stopReserve();
  }

  /** Returns undefined if the process cannot be started; the next caller tries again. */
  #start(): PythonProcess | undefined {
    try {
      return new PythonProcess(this.#options);
    } catch {
      return undefined;
    }
  }

  async #stopReserve(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    await spare?.kill();
  }
}
