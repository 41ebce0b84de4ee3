import { LaunchError, type LaunchedService } from '../../tools/harness/services/launcher.ts';

const POLL_MS = 100;

/** A process of the service that may be killed and started again under the same name. */
export class SoakNode {
  readonly name: string;
  readonly #launch: () => Promise<LaunchedService>;
  #service: LaunchedService | undefined;
  #isUp = false;
  /** Number of log lines at level `error` of ended processes, by message. */
  readonly #errors = new Map<string, number>();

  /** @param launch starts a process of the node. */
  constructor(name: string, launch: () => Promise<LaunchedService>) {
    this.name = name;
    this.#launch = launch;
  }

  /** Whether clients send requests to this node. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** @throws Error if the node was never started. */
  get service(): LaunchedService {
    if (this.#service === undefined) throw new Error(`the node '${this.name}' was not started`);
    return this.#service;
  }

  /** Resolves when the node is ready. @throws LaunchError if the process exits before; the reason of the signal. */
  async start(signal: AbortSignal): Promise<void> {
    const service = await this.#launch();
    this.#service = service;
    let exitCode: number | undefined;
    void service.exited.then((code) => {
      exitCode = code;
    });
    for (;;) {
      signal.throwIfAborted();
      if (exitCode !== undefined) throw new LaunchError(exitCode, service.output());
      const response = await fetch(`${service.baseUrl}/readyz`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.ok) break;
      await Bun.sleep(POLL_MS);
    }
    this.#isUp = true;
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    this.#isUp = false;
    this.service.signal('SIGKILL');
    await this.service.stop();
    this.#count();
  }

  /** Stops the process with SIGTERM. @returns the exit code. */
  async stop(): Promise<number> {
    this.#isUp = false;
    const exitCode = await this.service.stop();
    this.#count();
    return exitCode;
  }

  /** Number of logged errors by message. */
  get errors(): ReadonlyMap<string, number> {
    return this.#errors;
  }

  #count(): void {
    for (const { level, msg } of this.service.log()) {
      if (level !== 'error' && level !== 50) continue;
      const text = String(msg);
      this.#errors.set(text, (this.#errors.get(text) ?? 0) + 1);
    }
  }
}
