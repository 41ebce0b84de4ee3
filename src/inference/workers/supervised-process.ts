/**
 * A supervised worker process: started, loaded, monitored by a watchdog, restarted with exponential backoff when it
 * exits, and killed on close. Its message protocol is defined by the caller.
 */

import type { Subprocess } from 'bun';
import type { Logger } from '../../contract/core/logger.ts';
import { sendToChild } from '../../kit/process/send-to-child.ts';
import { type FromProcess, fromProcessError, type LoadProgress, type ToProcess } from './process-protocol.ts';

const FIRST_RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;

export interface SupervisedProcessOptions<Load, Received> {
  /** Name in log lines and errors, such as `inference process`. */
  readonly name: string;
  /** Path of the entry file, which calls `serveProcess`. */
  readonly entry: string;
  /** Sent to each new process. */
  readonly load: Load;
  /** The whole environment of the process. Must not contain API keys of callers or upstreams. */
  readonly environment: Readonly<Record<string, string>>;
  /** Destination of its standard error. Default: the standard error of the service. */
  readonly errorOutput?: 'inherit' | 'ignore';
  /** A process whose load takes longer is killed. */
  readonly loadTimeoutMs: number;
  readonly log: Logger;
  /** Called with each message of the process. */
  readonly onMessage: (message: Received) => void;
  /** Called with the progress of each load. Absent: ignored. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Called when a process has loaded: the first one and each replacement. */
  readonly onLoaded: () => void;
  /** Called when the process exits or fails to start. Its state is lost. Not called after `close`. */
  readonly onExit: () => void;
}

/** The process exited by itself before it finished loading, and reported no error. */
export class ExitedWhileLoadingError extends Error {
  override readonly name = 'ExitedWhileLoadingError';
}

/**
 * `Load` is sent to the process at its start and `Loaded` is its reply when it is ready. `Sent` and `Received` are the
 * messages in each direction after that.
 */
export class SupervisedProcess<Load, Loaded, Sent, Received> {
  readonly #options: SupervisedProcessOptions<Load, Received>;
  #state: 'loading' | 'loaded' | 'down' | 'closed' = 'loading';
  #child: Subprocess | undefined;
  #loading: PromiseWithResolvers<Loaded> | undefined;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  #restart: ReturnType<typeof setTimeout> | undefined;
  /** Exits since the last completed request. */
  #exits = 0;
  #loadFailed = false;

  constructor(options: SupervisedProcessOptions<Load, Received>) {
    this.#options = options;
  }

  /** Whether the process has loaded and accepts messages. */
  get loaded(): boolean {
    return this.#state === 'loaded';
  }

  /** Whether the last load failed, so that requests must not wait for the process. */
  get failing(): boolean {
    return this.#loadFailed;
  }

  /**
   * Starts the process and waits until it has loaded. A failed start or load is retried until {@link close}, with
   * exponential backoff.
   * @throws the error of the start or the load, ExitedWhileLoadingError when the process exits before it has loaded, or an
   *   Error when it is closed.
   */
  async start(): Promise<Loaded> {
    this.#state = 'loading';
    const loading = Promise.withResolvers<Loaded>();
    this.#loading = loading;
    try {
      this.#child = this.#spawn();
      this.startWatchdog(this.#options.loadTimeoutMs);
    } catch (error) {
      loading.reject(error);
      this.#scheduleRestart({ reason: 'failed to start' });
    }
    return loading.promise;
  }

  /** Sends a message. Messages to a process that is not {@link loaded} are dropped; `onExit` reports the exit. */
  send(message: Sent): void {
    if (this.loaded) this.#send({ kind: 'message', message });
  }

  /**
   * Stops all threads of a loaded process until {@link resume}. A stopped process cannot notice the exit of this one, so it calls
   * `killWithParent`.
   */
  pause(): void {
    if (this.loaded) this.#child?.kill('SIGSTOP');
  }

  /** Idempotent. */
  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Kills the process unless {@link stopWatchdog} is called within `timeoutMs`. */
  startWatchdog(timeoutMs: number): void {
    const child = this.#child;
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      this.#options.log.warn(`${this.#options.name} watchdog timeout, killing process`, { timeoutMs });
      child?.kill('SIGKILL');
    }, timeoutMs);
  }

  /** Stops the watchdog and resets the restart backoff, because the process has completed a request. */
  stopWatchdog(): void {
    clearTimeout(this.#watchdog);
    this.#exits = 0;
  }

  /** Kills the process, which has no state to save. Idempotent. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#loading?.reject(new Error(`The ${this.#options.name} was closed before it finished loading.`));
    clearTimeout(this.#restart);
    clearTimeout(this.#watchdog);
    this.#child?.kill('SIGKILL');
    await this.#child?.exited;
  }

  #spawn(): Subprocess {
    const child = Bun.spawn({
      cmd: [process.execPath, this.#options.entry],
      env: this.#options.environment,
      stdio: ['ignore', 'ignore', this.#options.errorOutput ?? 'inherit'],
      serialization: 'advanced',
      ipc: (message: FromProcess<Loaded, Received>, from) => {
        // Messages that were sent before the exit can arrive after the close.
        if (from === this.#child && this.#state !== 'closed') this.#receive(message);
      },
    });
    // Not the `onExit` option of Bun.spawn, which may be called before `spawn` returns the child.
    child.exited.then(() => {
      if (child === this.#child) this.#handleExit(child.exitCode, child.signalCode);
    });
    return child;
  }

  #send(message: ToProcess<Load, Sent>): void {
    if (this.#child) sendToChild(this.#child, message);
  }

  #receive(message: FromProcess<Loaded, Received>): void {
    switch (message.kind) {
      case 'up':
        this.#send({ kind: 'load', load: this.#options.load });
        return;
      case 'loading':
        this.#options.onProgress?.({ model: message.model, state: message.state });
        return;
      case 'loaded':
        clearTimeout(this.#watchdog);
        this.#loadFailed = false;
        this.#state = 'loaded';
        this.#loading?.resolve(message.loaded);
        this.#options.onLoaded();
        return;
      case 'load-failed':
        this.#loading?.reject(fromProcessError(message.error));
        this.#child?.kill('SIGKILL');
        return;
      case 'message':
        this.#options.onMessage(message.message);
        return;
    }
  }

  #handleExit(exitCode: number | null, signal: number | string | null): void {
    clearTimeout(this.#watchdog);
    if (this.#state === 'closed') return;
    const cause = signal ?? `exit code ${exitCode}`;
    this.#loading?.reject(
      new ExitedWhileLoadingError(`The ${this.#options.name} exited before it finished loading (${cause}).`),
    );
    this.#scheduleRestart({ exitCode, signal });
  }

  #scheduleRestart(fields: Readonly<Record<string, string | number | null>>): void {
    const { name, log } = this.#options;
    if (this.#state === 'loading') this.#loadFailed = true;
    this.#state = 'down';
    const delayMs = Math.min(MAX_RESTART_MS, FIRST_RESTART_MS * 2 ** this.#exits);
    this.#exits += 1;
    log.warn(`${name} exited`, { ...fields, restartInMs: delayMs });
    this.#restart = setTimeout(() => {
      this.start().catch((error) => {
        if (this.#state !== 'closed') log.error(`${name} failed to load`, error);
      });
    }, delayMs);
    this.#options.onExit();
  }
}
