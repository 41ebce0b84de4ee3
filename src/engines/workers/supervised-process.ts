/**
 * A child process that is always meant to be there: started, loaded, watched, replaced when it dies, and
 * killed at the end. What it does is told by its protocol, which its owner knows.
 */

import type { Subprocess } from 'bun';
import type { Logger } from '../../contract/core/logger.ts';
import { sendToChild } from '../../kit/process/send-to-child.ts';
import { type FromProcess, fromFault, type ToProcess } from './process-protocol.ts';

const FIRST_RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;

export interface SupervisedProcessOptions<Load, Received> {
  /** What log lines and errors call it: `inference process`. */
  readonly name: string;
  /** Path of the entry file, which calls `serveProcess`. */
  readonly entry: string;
  /** Sent to each new process. */
  readonly load: Load;
  /** Everything that the process finds in its environment: never the keys of callers or upstreams. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where its standard error goes: by default to that of the service. */
  readonly errorOutput?: 'inherit' | 'ignore';
  /** A load that takes longer has hung, and its process is killed. */
  readonly loadLimitMs: number;
  readonly log: Logger;
  /** Called with each message of the process. */
  readonly received: (message: Received) => void;
  /** Called when a process has loaded, the first and each that follows a lost one. */
  readonly loaded: () => void;
  /** Called when the process has ended, or one could not be started: what it held is gone. Not after `close`. */
  readonly lost: () => void;
}

/**
 * `Load` goes to the process at its start, `Loaded` comes back once it can work; then `Sent` and `Received`
 * are the messages in each direction.
 */
export class SupervisedProcess<Load, Loaded, Sent, Received> {
  readonly #options: SupervisedProcessOptions<Load, Received>;
  #state: 'loading' | 'loaded' | 'down' | 'closed' = 'loading';
  #child: Subprocess | undefined;
  #loading: PromiseWithResolvers<Loaded> | undefined;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  #restart: ReturnType<typeof setTimeout> | undefined;
  #losses = 0;
  #loadFailed = false;

  constructor(options: SupervisedProcessOptions<Load, Received>) {
    this.#options = options;
  }

  /** Can be sent messages. */
  get loaded(): boolean {
    return this.#state === 'loaded';
  }

  /** Its last try to load failed, so nobody should wait for it. */
  get failing(): boolean {
    return this.#loadFailed;
  }

  /**
   * Starts the process and waits until it has loaded. Whatever fails is tried again until {@link close},
   * after a pause that grows with each failure in a row.
   * @throws the error of the start or the load, or one that says how the process ended meanwhile, by
   *   {@link close} too.
   */
  async start(): Promise<Loaded> {
    this.#state = 'loading';
    const loading = Promise.withResolvers<Loaded>();
    this.#loading = loading;
    try {
      this.#child = this.#spawn();
      this.watch(this.#options.loadLimitMs);
    } catch (error) {
      loading.reject(error);
      this.#retryLater({ reason: 'it could not be started' });
    }
    return loading.promise;
  }

  /** Sends a message; lost when the process is not {@link loaded}, which its owner hears by `lost`. */
  send(message: Sent): void {
    if (this.loaded) this.#send({ kind: 'message', message });
  }

  /** Kills the process unless {@link answered} is called in time; its end then tells everybody. */
  watch(limitMs: number): void {
    const child = this.#child;
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      this.#options.log.warn(`${this.#options.name} hangs and is killed`, { limitMs });
      child?.kill('SIGKILL');
    }, limitMs);
  }

  /** Ends the {@link watch}: the process works, so the next that is lost is replaced soon. */
  answered(): void {
    clearTimeout(this.#watchdog);
    this.#losses = 0;
  }

  /** Kills the process: it holds nothing that is worth saving. Idempotent. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#loading?.reject(new Error(`The ${this.#options.name} was closed before it had loaded.`));
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
        // What it said before its end may be read after it was closed.
        if (from === this.#child && this.#state !== 'closed') this.#receive(message);
      },
    });
    // Not `onExit`, which may be called before there is a child to know it by.
    child.exited.then(() => {
      if (child === this.#child) this.#lost(child.exitCode, child.signalCode);
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
      case 'loaded':
        clearTimeout(this.#watchdog);
        this.#loadFailed = false;
        this.#state = 'loaded';
        this.#loading?.resolve(message.loaded);
        this.#options.loaded();
        return;
      case 'load-failed':
        this.#loading?.reject(fromFault(message.fault));
        this.#child?.kill('SIGKILL');
        return;
      case 'message':
        this.#options.received(message.message);
        return;
    }
  }

  #lost(exitCode: number | null, signal: number | string | null): void {
    clearTimeout(this.#watchdog);
    if (this.#state === 'closed') return;
    const how = signal ?? `exit code ${exitCode}`;
    this.#loading?.reject(new Error(`The ${this.#options.name} ended before it had loaded (${how}).`));
    this.#retryLater({ exitCode, signal });
  }

  #retryLater(why: Readonly<Record<string, string | number | null>>): void {
    const { name, log } = this.#options;
    if (this.#state === 'loading') this.#loadFailed = true;
    this.#state = 'down';
    const delayMs = Math.min(MAX_RESTART_MS, FIRST_RESTART_MS * 2 ** this.#losses);
    this.#losses += 1;
    log.warn(`${name} ended`, { ...why, restartInMs: delayMs });
    this.#restart = setTimeout(() => {
      this.start().catch((error) => {
        if (this.#state !== 'closed') log.error(`${name} could not be loaded`, error);
      });
    }, delayMs);
    this.#options.lost();
  }
}
