/**
 * One place in the pool, which always tries to hold a process with every model loaded. Owns the process:
 * starts it, watches its passes, replaces it when it dies and kills it at the end.
 */

import type { Subprocess } from 'bun';
import type { Clock } from '../contract/clock.ts';
import { ServiceError } from '../contract/error.ts';
import type { Logger } from '../contract/logger.ts';
import type { PassJob } from './pass-job.ts';
import type { RuntimeOptions } from './pass-model.ts';
import { type FromWorker, fromFault, type ToWorker } from './worker-protocol.ts';

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 30_000;

export interface InferenceProcessOptions<Spec> {
  /** Path of the entry file, which calls `serveInference`. */
  readonly entry: string;
  readonly runtime: RuntimeOptions;
  /** What to load, by model id. */
  readonly models: Readonly<Record<string, Spec>>;
  /** Everything that the process finds in its environment: never the keys of callers or upstreams. */
  readonly environment: Readonly<Record<string, string>>;
  /** A load that takes longer has hung, and its process is killed. */
  readonly loadLimitMs: number;
  /** The same for a pass. */
  readonly passLimitMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when a pass could be run, or when the process is lost: look at the state. */
  readonly changed: () => void;
  /** Called after each pass with its model and length. */
  readonly passed: (model: string, lengthMs: number) => void;
}

/** Sample rates by model id. */
export type ModelRates = Readonly<Record<string, number>>;

type State =
  | { readonly kind: 'loading' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy'; readonly job: PassJob; readonly sinceMs: number }
  /** Dead, with a restart to come. */
  | { readonly kind: 'down' }
  | { readonly kind: 'closed' };

export class InferenceProcess<Spec> {
  readonly #options: InferenceProcessOptions<Spec>;
  /** Jobs that this process has open; they die with it. */
  readonly #jobs = new Map<number, PassJob>();
  #state: State = { kind: 'loading' };
  #child: Subprocess | undefined;
  #loading: PromiseWithResolvers<ModelRates> | undefined;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  #restart: ReturnType<typeof setTimeout> | undefined;
  #losses = 0;
  #loadFailed = false;

  constructor(options: InferenceProcessOptions<Spec>) {
    this.#options = options;
  }

  /** Can run a pass now. */
  get idle(): boolean {
    return this.#state.kind === 'idle';
  }

  /** Every model is loaded. */
  get loaded(): boolean {
    return this.#state.kind === 'idle' || this.#state.kind === 'busy';
  }

  /** Its last try to load its models failed, so nobody should wait for it. */
  get failing(): boolean {
    return this.#loadFailed;
  }

  has(job: PassJob): boolean {
    return this.#jobs.has(job.id);
  }

  /**
   * Starts the process and loads the models. Whatever fails is tried again until {@link close}.
   * @throws the error of the start or the load, or one that says how the process ended meanwhile.
   */
  async start(): Promise<ModelRates> {
    this.#state = { kind: 'loading' };
    const loading = Promise.withResolvers<ModelRates>();
    this.#loading = loading;
    try {
      this.#child = this.#spawn();
      this.#watch(this.#options.loadLimitMs);
    } catch (error) {
      loading.reject(error);
      this.#retryLater({ reason: 'it could not be started' });
    }
    return loading.promise;
  }

  #spawn(): Subprocess {
    return Bun.spawn({
      cmd: [process.execPath, this.#options.entry],
      env: this.#options.environment,
      stdio: ['ignore', 'ignore', 'inherit'],
      serialization: 'advanced',
      ipc: (message: FromWorker, child) => {
        if (child === this.#child) this.#receive(message);
      },
      onExit: (child, exitCode, signal) => {
        if (child === this.#child) this.#lost(exitCode, signal);
      },
    });
  }

  /** Kills the process unless what it does now ends in time; its exit tells everybody. */
  #watch(limitMs: number): void {
    const child = this.#child;
    this.#watchdog = setTimeout(() => {
      this.#options.log.warn('inference process hangs and is killed', { limitMs });
      child?.kill('SIGKILL');
    }, limitMs);
  }

  /** Runs the next pass of a job, opening it first when it is new here. Only when {@link idle}. */
  run(job: PassJob): void {
    if (!this.#jobs.has(job.id)) {
      this.#jobs.set(job.id, job);
      this.#send({ kind: 'open', job: job.id, model: job.model, request: job.request });
    }
    job.running = true;
    this.#state = { kind: 'busy', job, sinceMs: this.#options.clock.monotonicMs() };
    this.#watch(this.#options.passLimitMs);
    this.#send({ kind: 'next', job: job.id });
  }

  /** Closes a job that ended before its last pass; the pass that may be running is its last. */
  forget(job: PassJob): void {
    if (this.#jobs.delete(job.id)) this.#send({ kind: 'close', job: job.id });
  }

  /** Kills the process: it holds nothing that is worth saving. Idempotent. */
  async close(): Promise<void> {
    this.#state = { kind: 'closed' };
    clearTimeout(this.#restart);
    clearTimeout(this.#watchdog);
    this.#child?.kill('SIGKILL');
    await this.#child?.exited;
  }

  #send(message: ToWorker<Spec>): void {
    // A process that has just died is reported by its exit; nothing is lost with the message.
    if (this.#child?.exitCode === null && this.#child.signalCode === null) this.#child.send(message);
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'up':
        this.#send({ kind: 'load', runtime: this.#options.runtime, models: this.#options.models });
        return;
      case 'loaded':
        clearTimeout(this.#watchdog);
        this.#loadFailed = false;
        this.#state = { kind: 'idle' };
        this.#loading?.resolve(message.rateHz);
        this.#options.changed();
        return;
      case 'load-failed':
        this.#loading?.reject(fromFault(message.fault));
        this.#child?.kill('SIGKILL');
        return;
      case 'samples':
        this.#jobs.get(message.job)?.push(message.samples, this.#options.clock.monotonicMs());
        return;
      case 'passed':
        this.#losses = 0;
        this.#passOver(message.job, message.done, undefined);
        return;
      case 'failed':
        this.#passOver(message.job, true, fromFault(message.fault));
        return;
    }
  }

  #passOver(id: number, ended: boolean, error: Error | undefined): void {
    clearTimeout(this.#watchdog);
    if (this.#state.kind !== 'busy') return;
    const { job, sinceMs } = this.#state;
    const nowMs = this.#options.clock.monotonicMs();
    this.#state = { kind: 'idle' };
    job.running = false;
    job.servedMs = nowMs;
    if (ended) this.#jobs.delete(id);
    if (error !== undefined) {
      this.#options.log.error('inference pass failed', error, { model: job.model });
      job.fail(new ServiceError('internal', 'The model failed on this input.', { code: 'server_error' }));
    } else if (ended) {
      job.finish();
    }
    this.#options.passed(job.model, nowMs - sinceMs);
    this.#options.changed();
  }

  /** The process has ended: its requests fail. */
  #lost(exitCode: number | null, signal: number | string | null): void {
    clearTimeout(this.#watchdog);
    if (this.#state.kind === 'closed') return;
    const crashed = new ServiceError(
      'internal',
      'The process that made the audio died; a new one is being started. Send the request again.',
      { code: 'worker_crashed' },
    );
    if (this.#state.kind === 'busy') this.#state.job.running = false;
    for (const job of this.#jobs.values()) job.fail(crashed);
    this.#jobs.clear();
    const how = signal ?? `exit code ${exitCode}`;
    this.#loading?.reject(new Error(`An inference process ended before it had loaded its models (${how}).`));
    this.#retryLater({ exitCode, signal });
  }

  /** There is no process: another is started after a pause that grows with each one in a row. */
  #retryLater(why: Readonly<Record<string, string | number | null>>): void {
    if (this.#state.kind === 'loading') this.#loadFailed = true;
    this.#state = { kind: 'down' };
    const delayMs = Math.min(LONGEST_RESTART_MS, FIRST_RESTART_MS * 2 ** this.#losses);
    this.#losses += 1;
    this.#options.log.warn('inference process ended', { ...why, restartInMs: delayMs });
    this.#restart = setTimeout(() => {
      this.start().catch((error) => this.#options.log.error('models could not be loaded', error));
    }, delayMs);
    this.#options.changed();
  }
}
