/** One place in the pool, which always tries to hold a process with every model loaded, and runs passes there. */

import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';
import { fromFault } from '../workers/process-protocol.ts';
import { SupervisedProcess } from '../workers/supervised-process.ts';
import type { AnyJob } from './job.ts';
import type { FromWorker, LoadModels, ModelDescriptions, ToWorker } from './worker-protocol.ts';

export interface InferenceProcessOptions<Spec> {
  /** Path of the entry file, which calls `serveInference`. */
  readonly entry: string;
  readonly load: LoadModels<Spec>;
  readonly environment: Readonly<Record<string, string>>;
  /** A load that takes longer has hung, and its process is killed. */
  readonly loadLimitMs: number;
  /** The same for a pass. */
  readonly passLimitMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when a pass could be run, or when the process is lost: look at the state. */
  readonly changed: () => void;
  /** Called after each pass. Times are monotonic, in ms. */
  readonly passed: (job: AnyJob, fromMs: number, nowMs: number) => void;
  /** Called when the process has ended by itself. */
  readonly lost: () => void;
}

export class InferenceProcess<Spec> {
  readonly #options: InferenceProcessOptions<Spec>;
  readonly #process: SupervisedProcess<LoadModels<Spec>, ModelDescriptions, ToWorker, FromWorker>;
  /** Jobs that this process has open; they die with it. */
  readonly #jobs = new Map<number, AnyJob>();
  /** The pass that is being run. */
  #pass: { readonly job: AnyJob; readonly sinceMs: number } | undefined;

  constructor(options: InferenceProcessOptions<Spec>) {
    this.#options = options;
    const { entry, load, environment, loadLimitMs, log, changed } = options;
    this.#process = new SupervisedProcess({
      name: 'inference process',
      entry,
      load,
      environment,
      loadLimitMs,
      log,
      received: (message) => this.#receive(message),
      loaded: changed,
      lost: () => this.#lost(),
    });
  }

  /** Can run a pass now. */
  get idle(): boolean {
    return this.loaded && this.#pass === undefined;
  }

  /** Every model is loaded. */
  get loaded(): boolean {
    return this.#process.loaded;
  }

  /** Its last try to load its models failed, so nobody should wait for it. */
  get failing(): boolean {
    return this.#process.failing;
  }

  /** What it loads, by name in the pool. */
  get models(): Readonly<Record<string, Spec>> {
    return this.#options.load.models;
  }

  /** Jobs are open here. */
  get busy(): boolean {
    return this.#jobs.size > 0;
  }

  has(job: AnyJob): boolean {
    return this.#jobs.has(job.id);
  }

  /** Starts the process and loads the models, as {@link SupervisedProcess.start} does. */
  start(): Promise<ModelDescriptions> {
    return this.#process.start();
  }

  /** Runs the next pass of a job, opening it first when it is new here. Only when {@link idle}. */
  run(job: AnyJob): void {
    if (!this.#jobs.has(job.id)) {
      this.#jobs.set(job.id, job);
      this.#process.send({ kind: 'open', job: job.id, model: job.model, request: job.request });
    }
    job.running = true;
    this.#pass = { job, sinceMs: this.#options.clock.monotonicMs() };
    this.#process.watch(this.#options.passLimitMs);
    this.#process.send({ kind: 'next', job: job.id });
  }

  /** Closes a job that ended before its last pass; the pass that may be running is its last. */
  forget(job: AnyJob): void {
    if (this.#jobs.delete(job.id)) this.#process.send({ kind: 'close', job: job.id });
  }

  /** Kills the process. Idempotent. */
  close(): Promise<void> {
    return this.#process.close();
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'result':
        this.#jobs.get(message.job)?.push(message.result, this.#options.clock.monotonicMs());
        return;
      case 'passed':
        this.#passOver(message.job, message.done, undefined);
        return;
      case 'failed':
        this.#passOver(message.job, true, fromFault(message.fault));
        return;
    }
  }

  #passOver(id: number, ended: boolean, error: Error | undefined): void {
    this.#process.answered();
    if (this.#pass === undefined) return;
    const { job, sinceMs } = this.#pass;
    const nowMs = this.#options.clock.monotonicMs();
    this.#pass = undefined;
    job.running = false;
    job.servedMs = nowMs;
    if (ended) this.#jobs.delete(id);
    if (error !== undefined) {
      this.#options.log.error('inference pass failed', error, { model: job.model });
      job.fail(new ServiceError('internal', 'The model failed on this input.', { code: 'server_error' }));
    } else if (ended) {
      job.finish();
    }
    this.#options.passed(job, sinceMs, nowMs);
    this.#options.changed();
  }

  /** The process has ended: its requests fail. */
  #lost(): void {
    this.#options.lost();
    const crashed = new ServiceError(
      'internal',
      'The process that worked on this request died; a new one is being started. Send the request again.',
      { code: 'worker_crashed' },
    );
    if (this.#pass !== undefined) this.#pass.job.running = false;
    this.#pass = undefined;
    for (const job of this.#jobs.values()) job.fail(crashed);
    this.#jobs.clear();
    this.#options.changed();
  }
}
