/** One worker slot of the pool: a supervised process that has every model loaded and runs inference steps. */

import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';
import { fromProcessError, type LoadProgress } from '../workers/process-protocol.ts';
import { SupervisedProcess } from '../workers/supervised-process.ts';
import type { AnyJob } from './job.ts';
import type { ModelUnavailableError } from './model.ts';
import type { FromWorker, LoadModels, ModelDescriptions, ToWorker } from './worker-protocol.ts';

export interface WorkerSlotOptions<Spec> {
  /** Path of the entry file, which calls `serveInference`. */
  readonly entry: string;
  readonly load: LoadModels<Spec>;
  readonly environment: Readonly<Record<string, string>>;
  /** A process whose load takes longer is killed. */
  readonly loadTimeoutMs: number;
  /** A process whose step takes longer is killed. */
  readonly stepTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the slot becomes able to run a step, and when its process exits. */
  readonly onChange: () => void;
  /** Called after each step. Times are monotonic, in ms. */
  readonly onStepFinished: (job: AnyJob, fromMs: number, nowMs: number) => void;
  /** Called with the progress of each load. Absent: ignored. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Called when the process exits unexpectedly. */
  readonly onCrash: () => void;
}

/** Errors of steps are received as plain data, so their class is known by its name. */
const UNAVAILABLE: ModelUnavailableError['name'] = 'ModelUnavailableError';
const RETRY_AFTER_S = 2;

function failedOnInput(): ServiceError {
  return new ServiceError('internal', 'The model failed on this input.', { code: 'server_error' });
}

function partUnavailable(): ServiceError {
  return new ServiceError('overloaded', 'A part of the model is unavailable. The service is retrying.', {
    code: 'server_overloaded',
    retryAfterS: RETRY_AFTER_S,
  });
}

export class WorkerSlot<Spec> {
  readonly #options: WorkerSlotOptions<Spec>;
  readonly #process: SupervisedProcess<LoadModels<Spec>, ModelDescriptions, ToWorker, FromWorker>;
  /** Open jobs of this process, by id. They fail when the process crashes. */
  readonly #jobs = new Map<number, AnyJob>();
  /** The running step. */
  #step: { readonly job: AnyJob; readonly startedMs: number } | undefined;

  constructor(options: WorkerSlotOptions<Spec>) {
    this.#options = options;
    const { entry, load, environment, loadTimeoutMs, log, onChange, onProgress } = options;
    this.#process = new SupervisedProcess({
      name: 'inference process',
      entry,
      load,
      environment,
      loadTimeoutMs,
      log,
      onMessage: (message) => this.#receive(message),
      onLoaded: onChange,
      onProgress,
      onExit: () => this.#handleExit(),
    });
  }

  /** Whether it can run a step now. */
  get idle(): boolean {
    return this.loaded && this.#step === undefined;
  }

  /** Whether every model is loaded. */
  get loaded(): boolean {
    return this.#process.loaded;
  }

  /** Whether the last attempt to load the models failed, so that jobs must not wait for this slot. */
  get failing(): boolean {
    return this.#process.failing;
  }

  /** Specs of the models that it loads, by name in the pool. */
  get models(): Readonly<Record<string, Spec>> {
    return this.#options.load.models;
  }

  /** Whether it has open jobs. */
  get busy(): boolean {
    return this.#jobs.size > 0;
  }

  hasJob(job: AnyJob): boolean {
    return this.#jobs.has(job.id);
  }

  /** Starts the process and loads the models, as {@link SupervisedProcess.start} does. */
  start(): Promise<ModelDescriptions> {
    return this.#process.start();
  }

  /** Runs the next step of a job, and opens the job first if it is new in this process. Only when {@link idle}. */
  runStep(job: AnyJob): void {
    const isNew = !this.#jobs.has(job.id);
    this.#jobs.set(job.id, job);
    job.running = true;
    this.#step = { job, startedMs: this.#options.clock.monotonicMs() };
    this.#process.startWatchdog(this.#options.stepTimeoutMs);
    const open = isNew ? { open: { model: job.model, request: job.request } } : {};
    this.#process.send({ kind: 'step', job: job.id, ...open });
  }

  /** Closes a job before its last step. A running step of the job completes and is its last. */
  closeJob(job: AnyJob): void {
    if (this.#jobs.delete(job.id)) this.#process.send({ kind: 'close', job: job.id });
  }

  /** Kills the process. Idempotent. */
  close(): Promise<void> {
    return this.#process.close();
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'result':
        this.#push(message.job, message.result);
        return;
      case 'step-done':
        if (message.result !== undefined) this.#push(message.job, message.result);
        this.#finishStep(message.job, message.done, undefined);
        return;
      case 'step-failed':
        this.#finishStep(message.job, true, fromProcessError(message.error));
        return;
    }
  }

  #push(id: number, result: unknown): void {
    this.#jobs.get(id)?.push(result, this.#options.clock.monotonicMs());
  }

  #finishStep(id: number, done: boolean, error: Error | undefined): void {
    this.#process.stopWatchdog();
    if (this.#step === undefined) return;
    const { job, startedMs } = this.#step;
    const nowMs = this.#options.clock.monotonicMs();
    this.#step = undefined;
    job.running = false;
    job.servedMs = nowMs;
    if (done) this.#jobs.delete(id);
    if (error !== undefined) {
      this.#options.log.error('inference step failed', error, { model: job.model });
      job.fail(error.name === UNAVAILABLE ? partUnavailable() : failedOnInput());
    } else if (done) {
      job.finish();
    }
    this.#options.onStepFinished(job, startedMs, nowMs);
    this.#options.onChange();
  }

  /** Fails the open jobs of a process that crashed. */
  #handleExit(): void {
    this.#options.onCrash();
    const crashed = new ServiceError(
      'internal',
      'The inference worker crashed and is restarting. Retry the request.',
      { code: 'worker_crashed' },
    );
    if (this.#step !== undefined) this.#step.job.running = false;
    this.#step = undefined;
    for (const job of this.#jobs.values()) job.fail(crashed);
    this.#jobs.clear();
    this.#options.onChange();
  }
}
