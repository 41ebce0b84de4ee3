import { PythonProcess, type PythonProcessOptions } from './python-process.ts';

/** A reserve that nobody has asked for this long is let go: it holds about 200 MB. */
const IDLE_MS = 10 * 60_000;

/**
 * Keeps one Python process started for the next container. It is started when somebody may need it, and let go when
 * nobody has for a while.
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

  /** Whether there is one for the next container. */
  get filled(): boolean {
    return this.#spare?.gone === false;
  }

  /** Has a process started, unless one is. */
  prepare(): void {
    if (this.#closed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#drop(), this.#idleMs);
    this.#idle.unref();
    if (!this.filled) this.#spare = this.#start();
  }

  /**
   * A process for one container, which owns it. The next one is started as soon as this one is ready.
   * @throws Error when the system starts none, and after {@link close}.
   */
  take(): PythonProcess {
    if (this.#closed) throw new Error('the reserve of Python processes is closed');
    const spare = this.#spare;
    this.#spare = undefined;
    const taken = spare?.gone === false ? spare : new PythonProcess(this.#options);
    taken.ready().then(
      () => this.prepare(),
      () => undefined,
    );
    return taken;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#drop();
  }

  /** Undefined when the system starts none now; whoever needs one then tries again. */
  #start(): PythonProcess | undefined {
    try {
      return new PythonProcess(this.#options);
    } catch {
      return undefined;
    }
  }

  async #drop(): Promise<void> {
    const spare = this.#spare;
    this.#spare = undefined;
    await spare?.kill();
  }
}
