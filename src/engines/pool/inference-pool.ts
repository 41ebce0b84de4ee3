/**
 * The pool of inference processes that all embedded models share. Inference blocks the thread that calls
 * it and a fault in native code ends the process it runs in, so neither happens in the serving process
 * (docs/decisions/inference-in-child-processes.md). The pool decides, at every pass boundary, which job
 * runs next (pass-schedule.ts).
 */

import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { InferenceSettings } from '../../contract/core/settings.ts';
import type { ReadyReport } from '../../contract/engines/engine.ts';
import { type AnyJob, PassJob, type PassWork } from './job.ts';
import type { PoolMeter } from './pool-metrics.ts';
import { requirePlace } from './queue-quota.ts';
import { lineOf, nextJob, type Served } from './scheduler.ts';
import type { ModelDescriptions } from './worker-protocol.ts';
import { InferenceProcess } from './worker-slot.ts';

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
  /** What to load first, by name; without any there are no processes. */
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

/** A pool without processes, until it is started; jobs that come before that, or meanwhile, wait for one that has its models. */
export interface StartablePool<Spec> extends InferencePool {
  /** Starts the processes and waits until each has loaded every model. @throws what a load threw; it is tried again. */
  start(): Promise<void>;
  /**
   * Changes which models the processes have. One after the other is replaced by one that has loaded them, and ends when
   * its open jobs have, so that whoever runs or waits notices nothing; models that stay are loaded once more, because
   * memory that a process has had it does not give back. Without models there are no processes. Jobs of models that are
   * left out fail. One call at a time.
   * @throws what a load threw; the processes that there were go on.
   */
  hold(models: Readonly<Record<string, Spec>>): Promise<void>;
}

export function inferencePool<Spec>(options: InferencePoolOptions<Spec>): StartablePool<Spec> {
  return new Pool(options);
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

class Pool<Spec> implements StartablePool<Spec> {
  readonly #options: InferencePoolOptions<Spec>;
  #processes: readonly InferenceProcess<Spec>[];
  /** Processes that are to take the place of others, until they have loaded. */
  readonly #loading = new Set<InferenceProcess<Spec>>();
  /** Processes that have been replaced, until their jobs have ended. */
  readonly #retired = new Set<InferenceProcess<Spec>>();
  #retirement: PromiseWithResolvers<void> | undefined;
  /** Jobs are taken for these. */
  #models: Readonly<Record<string, Spec>>;
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
    this.#models = options.models;
    this.#processes = Array.from({ length: this.#sizeFor(options.models) }, () =>
      this.#process(options.models),
    );
  }

  async start(): Promise<void> {
    // Each process loads every model, so each tells the same.
    const [descriptions = {}] = await Promise.all(this.#processes.map((each) => each.start()));
    this.#descriptions = descriptions;
  }

  async hold(models: Readonly<Record<string, Spec>>): Promise<void> {
    const stays = ([name]: [string, Spec]) => Object.hasOwn(models, name);
    this.#models = Object.fromEntries(Object.entries(this.#models).filter(stays));
    this.#failAll(shuttingDown(), (job) => !Object.hasOwn(models, job.model));
    // Those of an earlier change: there are never more than twice as many as there should be.
    await this.#retirement?.promise;
    const size = this.#sizeFor(models);
    if (this.#processes.length === 0) {
      this.#processes = await this.#loaded(size, models);
    } else {
      for (const process of this.#processes.slice(0, size)) {
        if (!haveSameNames(process.models, models)) await this.#replace(process, models);
      }
      const spare = this.#processes.slice(size);
      this.#processes = this.#processes.slice(0, size);
      await Promise.all(spare.map((each) => this.#retire(each)));
    }
    this.#models = models;
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
    await Promise.all([...this.#all(), ...this.#loading].map((each) => each.close()));
    this.#endRetired();
  }

  #sizeFor(models: Readonly<Record<string, Spec>>): number {
    return Object.keys(models).length === 0 ? 0 : this.#options.settings.workers;
  }

  #process(models: Readonly<Record<string, Spec>>): InferenceProcess<Spec> {
    const { settings, meter, entry, clock, log, nice = false, loadLimitMs, passLimitMs } = this.#options;
    return new InferenceProcess<Spec>({
      entry,
      load: { models, runtime: { provider: settings.provider, threads: settings.threads }, nice },
      clock,
      log,
      environment: settings.environment,
      loadLimitMs: loadLimitMs ?? LOAD_LIMIT_MS,
      passLimitMs: passLimitMs ?? (nice ? PASS_LIMIT_OF_NICE_MS : PASS_LIMIT_MS),
      changed: () => this.#dispatch(),
      passed: (job, fromMs, nowMs) => meter.passed(job, fromMs, nowMs),
      lost: () => meter.processLost(),
    });
  }

  /** New processes with their models; all or none. @throws what a load threw. */
  async #loaded(
    count: number,
    models: Readonly<Record<string, Spec>>,
  ): Promise<readonly InferenceProcess<Spec>[]> {
    const processes = Array.from({ length: count }, () => this.#process(models));
    for (const each of processes) this.#loading.add(each);
    try {
      if (this.#closed) throw shuttingDown();
      const [descriptions = {}] = await Promise.all(processes.map((each) => each.start()));
      this.#descriptions = descriptions;
      return processes;
    } catch (error) {
      await Promise.all(processes.map((each) => each.close()));
      throw error;
    } finally {
      for (const each of processes) this.#loading.delete(each);
    }
  }

  async #replace(process: InferenceProcess<Spec>, models: Readonly<Record<string, Spec>>): Promise<void> {
    const successors = await this.#loaded(1, models);
    this.#processes = this.#processes.flatMap((each) => (each === process ? successors : each));
    await this.#retire(process);
    this.#dispatch();
  }

  /** Ends a process when nothing is open there any more; at once where nothing is. */
  async #retire(process: InferenceProcess<Spec>): Promise<void> {
    this.#retired.add(process);
    this.#retirement ??= Promise.withResolvers();
    this.#endRetired();
    if (!process.busy) await process.close();
  }

  #endRetired(): void {
    for (const process of this.#retired) {
      if (process.busy && !this.#closed) continue;
      this.#retired.delete(process);
      void process.close();
    }
    if (this.#retired.size > 0) return;
    this.#retirement?.resolve();
    this.#retirement = undefined;
  }

  /** Every process that may have jobs. */
  #all(): readonly InferenceProcess<Spec>[] {
    return [...this.#retired, ...this.#processes];
  }

  #admit<Request, Result>(model: string, work: PassWork<Request, Result>): PassJob<Request, Result> {
    const { queueLimit } = this.#options.settings;
    if (this.#closed || !Object.hasOwn(this.#models, model)) throw shuttingDown();
    if (this.#unable()) throw this.#noProcess();
    const open = this.#jobs.values().filter((job) => job.priority === work.priority);
    requirePlace(open, work.owner, queueLimit);
    this.#lastId += 1;
    const { clock, meter } = this.#options;
    const job = new PassJob(this.#lastId, model, work, clock.monotonicMs(), meter.here());
    this.#jobs.add(job);
    meter.jobOpened(job);
    return job;
  }

  /** Gives every idle process the job that should run there: one of its own, or one that nobody began. */
  #dispatch(): void {
    if (this.#unable()) this.#failAll(this.#noProcess());
    const nowMs = this.#options.clock.monotonicMs();
    for (const process of this.#all()) {
      if (!process.idle) continue;
      const served = { lines: this.#linesServed, owners: this.#ownersServed };
      const job = nextJob(this.#candidates(process), served, nowMs);
      if (job === undefined) continue;
      this.#linesServed[lineOf(job)] = nowMs;
      this.#ownersServed.set(job.owner, nowMs);
      if (!job.begun) this.#options.meter.jobBegun(job, nowMs);
      job.begun = true;
      process.run(job);
    }
    this.#endRetired();
  }

  *#candidates(process: InferenceProcess<Spec>): Generator<AnyJob> {
    const takesNew = !this.#retired.has(process);
    for (const job of this.#jobs) {
      if (!job.runnable) continue;
      if (process.has(job) || (takesNew && !this.#all().some((other) => other.has(job)))) yield job;
    }
  }

  #drop(job: AnyJob): void {
    if (!this.#jobs.delete(job)) return;
    this.#options.meter.jobEnded(job);
    for (const process of this.#all()) process.forget(job);
    this.#endRetired();
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

  #failAll(error: ServiceError, which: (job: AnyJob) => boolean = () => true): void {
    for (const job of [...this.#jobs].filter(which)) {
      job.fail(error);
      this.#drop(job);
    }
  }
}

function haveSameNames(one: object, other: object): boolean {
  const names = new Set(Object.keys(one));
  return names.symmetricDifference(new Set(Object.keys(other))).size === 0;
}
