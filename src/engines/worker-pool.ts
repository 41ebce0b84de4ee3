/**
 * The pool of inference processes that all embedded models share. Inference blocks the thread that calls
 * it and a fault in native code ends the process it runs in, so neither happens in the serving process
 * (docs/decisions/inference-in-child-processes.md). The pool decides, at every pass boundary, which job
 * runs next (pass-schedule.ts).
 */

import type { Clock } from '../contract/clock.ts';
import type { ReadyReport } from '../contract/engine.ts';
import { ServiceError, shuttingDown } from '../contract/error.ts';
import type { Logger } from '../contract/logger.ts';
import type { InferenceSettings } from '../contract/settings.ts';
import { InferenceProcess } from './inference-process.ts';
import { type AnyJob, PassJob, type PassWork } from './pass-job.ts';
import { lineOf, nextJob, type Served } from './pass-schedule.ts';
import type { PoolMeter } from './pool-meter.ts';
import { requirePlace } from './queue-places.ts';
import type { ModelDescriptions } from './worker-protocol.ts';

/** Far beyond the first load on a slow machine, which imports the models and measures the voices. */
const LOAD_LIMIT_MS = 600_000;
/** Far beyond the longest pass: a sentence of 600 characters, or 30 s of audio for the largest Whisper, on a busy machine. */
const PASS_LIMIT_MS = 120_000;
/** The same where everybody else goes first. */
const PASS_LIMIT_OF_NICE_MS = 20 * PASS_LIMIT_MS;
const RETRY_AFTER_S = 2;

export interface InferencePool {
  /**
   * What a loaded model tells of itself. The caller names the type, as it does for {@link run}: whoever
   * knows a model by its id knows what it is.
   */
  description<Description>(model: string): Description;
  /**
   * Has a model work on one request. Work begins with the first pull and runs ahead of the consumer by a
   * bounded amount; `return()` and abort stop it at the next pass boundary.
   * @throws ServiceError `overloaded` when too many jobs of its class are open or no process can load the models,
   *   `internal` (`worker_crashed`) when its process died; the signal's reason after an abort.
   */
  run<Request, Result>(
    model: string,
    work: PassWork<Request, Result>,
    signal: AbortSignal,
  ): AsyncGenerator<Result, void, undefined>;
  ready(): ReadyReport;
  /** Ends every process; open jobs fail. Idempotent. */
  close(): Promise<void>;
}

export interface InferencePoolOptions<Spec> {
  /** Path of the processes' entry file, which calls `serveInference`. */
  readonly entry: string;
  /** What to load, by model id; without any there are no processes. */
  readonly models: Readonly<Record<string, Spec>>;
  readonly settings: InferenceSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly meter: PoolMeter;
  /** Whether the processes leave the cores to all others. */
  readonly nice?: boolean;
  readonly loadLimitMs?: number;
  readonly passLimitMs?: number;
}

/**
 * Starts the processes and waits until each has loaded every model.
 * @throws what a load threw, after ending the other processes.
 */
export async function startInferencePool<Spec>(options: InferencePoolOptions<Spec>): Promise<InferencePool> {
  const pool = inferencePool(options);
  try {
    await pool.start();
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** A pool without processes, until it is started; jobs that come before that, or meanwhile, wait for one that has its models. */
export interface StartablePool extends InferencePool {
  /** Starts the processes and waits until each has loaded every model. @throws what a load threw; it is tried again. */
  start(): Promise<void>;
}

export function inferencePool<Spec>(options: InferencePoolOptions<Spec>): StartablePool {
  return new Pool(options);
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

class Pool<Spec> implements StartablePool {
  readonly #options: InferencePoolOptions<Spec>;
  readonly #processes: readonly InferenceProcess<Spec>[];
  /** Every job that has neither ended nor been dropped, in order of arrival. */
  readonly #jobs = new Set<AnyJob>();
  readonly #linesServed: Mutable<Served['lines']> = {};
  /** When each owner of an open job last got a pass. */
  readonly #ownersServed = new Map<string, number>();
  #descriptions: ModelDescriptions = {};
  #lastId = 0;
  #closed = false;

  constructor(options: InferencePoolOptions<Spec>) {
    this.#options = options;
    const { settings, meter, entry, models, clock, log, nice = false } = options;
    this.#processes = Array.from(
      { length: Object.keys(models).length === 0 ? 0 : settings.workers },
      () =>
        new InferenceProcess<Spec>({
          entry,
          load: { models, runtime: { provider: settings.provider, threads: settings.threads }, nice },
          clock,
          log,
          environment: settings.environment,
          loadLimitMs: options.loadLimitMs ?? LOAD_LIMIT_MS,
          passLimitMs: options.passLimitMs ?? (nice ? PASS_LIMIT_OF_NICE_MS : PASS_LIMIT_MS),
          changed: () => this.#dispatch(),
          passed: (model, lengthMs) => meter.passed(model, lengthMs),
        }),
    );
  }

  async start(): Promise<void> {
    // Each process loads every model, so each tells the same.
    const [descriptions = {}] = await Promise.all(this.#processes.map((each) => each.start()));
    this.#descriptions = descriptions;
  }

  description<Description>(model: string): Description {
    if (!Object.hasOwn(this.#descriptions, model)) throw new Error(`no model '${model}' in the pool`);
    return this.#descriptions[model] as Description;
  }

  async *run<Request, Result>(
    model: string,
    work: PassWork<Request, Result>,
    signal: AbortSignal,
  ): AsyncGenerator<Result, void, undefined> {
    signal.throwIfAborted();
    const job = this.#admit(model, work);
    const abort = () => {
      job.fail(signal.reason);
      this.#drop(job);
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      this.#dispatch();
      for (let result = await job.pull(); result !== undefined; result = await job.pull()) {
        // The pull may have made room for the job's next pass.
        this.#dispatch();
        yield result;
        signal.throwIfAborted();
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.#drop(job);
    }
  }

  ready(): ReadyReport {
    const loaded = this.#processes.filter((each) => each.loaded).length;
    const { settings } = this.#options;
    return {
      ready: loaded > 0,
      detail: `${loaded} of ${this.#processes.length} inference processes loaded, ${settings.provider}, ${settings.threads} threads each`,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#failAll(shuttingDown());
    await Promise.all(this.#processes.map((each) => each.close()));
  }

  #admit<Request, Result>(model: string, work: PassWork<Request, Result>): PassJob<Request, Result> {
    const { queueLimit } = this.#options.settings;
    if (this.#closed) throw shuttingDown();
    if (this.#unable()) throw this.#noProcess();
    const open = this.#jobs.values().filter((job) => job.priority === work.priority);
    requirePlace(open, work.owner, queueLimit);
    this.#lastId += 1;
    const job = new PassJob(this.#lastId, model, work, this.#options.clock.monotonicMs());
    this.#jobs.add(job);
    this.#options.meter.jobOpened();
    return job;
  }

  /** Gives every idle process the job that should run there: one of its own, or one that nobody began. */
  #dispatch(): void {
    if (this.#unable()) this.#failAll(this.#noProcess());
    const nowMs = this.#options.clock.monotonicMs();
    for (const process of this.#processes) {
      if (!process.idle) continue;
      const served = { lines: this.#linesServed, owners: this.#ownersServed };
      const job = nextJob(this.#candidates(process), served, nowMs);
      if (job === undefined) continue;
      this.#linesServed[lineOf(job)] = nowMs;
      this.#ownersServed.set(job.owner, nowMs);
      process.run(job);
    }
  }

  *#candidates(process: InferenceProcess<Spec>): Generator<AnyJob> {
    for (const job of this.#jobs) {
      if (!job.runnable) continue;
      if (process.has(job) || !this.#processes.some((other) => other.has(job))) yield job;
    }
  }

  #drop(job: AnyJob): void {
    if (!this.#jobs.delete(job)) return;
    this.#options.meter.jobEnded();
    for (const process of this.#processes) process.forget(job);
    if (![...this.#jobs].some(({ owner }) => owner === job.owner)) this.#ownersServed.delete(job.owner);
  }

  /** No process has its models and none is about to. */
  #unable(): boolean {
    return this.#processes.every((each) => each.failing);
  }

  #noProcess(): ServiceError {
    return new ServiceError('overloaded', 'No inference process could load its models; it is tried again.', {
      code: 'server_overloaded',
      retryAfterS: RETRY_AFTER_S,
    });
  }

  #failAll(error: ServiceError): void {
    for (const job of [...this.#jobs]) {
      job.fail(error);
      this.#drop(job);
    }
  }
}
