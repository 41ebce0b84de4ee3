/**
 * The pool of inference processes that all embedded models share. Inference blocks its thread, and an error in native
 * code terminates its process, so it runs outside the serving process
 * (docs/decisions/inference-in-child-processes.md). After each inference step the pool decides which job runs next
 * (scheduler.ts).
 */

import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { InferenceSettings } from '../../contract/core/settings.ts';
import type { ReadyReport } from '../../contract/engines/engine.ts';
import { requireClassSlot } from '../../kit/limits/queue-slots.ts';
import type { AudioLoadLevel } from '../audio-load.ts';
import { providerEnvironment } from '../runtime/provider-environment.ts';
import type { LoadProgress } from '../workers/process-protocol.ts';
import { type AnyJob, JobResults, type JobSpec, type ResultIterator, StepJob } from './job.ts';
import type { PoolMeter } from './pool-metrics.ts';
import { dueMs, nextJob, queueKeyOf, type Served } from './scheduler.ts';
import { ServedTime } from './served-time.ts';
import type { ModelDescriptions } from './worker-protocol.ts';
import { WorkerSlot } from './worker-slot.ts';

/** Well above the first load on a slow machine, which imports the models and measures the voices. */
const LOAD_TIMEOUT_MS = 600_000;
/** Well above the longest step: a sentence of 600 characters, or 30 s of audio for the largest Whisper, on a busy machine. */
const STEP_TIMEOUT_MS = 120_000;
/** Step timeout of processes under SCHED_IDLE. */
const LOW_PRIORITY_STEP_TIMEOUT_MS = 20 * STEP_TIMEOUT_MS;
const RETRY_AFTER_S = 2;

export interface InferencePool {
  /**
   * Returns the description of a loaded model. The caller declares its type, as for {@link runJob}.
   * @throws Error when the pool has no model of this name.
   */
  description<Description>(model: string): Description;
  /**
   * Runs one request on a model. The job starts with the first pull and runs ahead of the consumer by a bounded
   * amount. `return()` and an abort stop it after the current step.
   * @throws ServiceError `rate_limited` or `overloaded` when the queue of its class is full, `overloaded` when no
   *   process can load the models, `internal` (`worker_crashed`) when its process crashes; the reason of the signal
   *   after an abort.
   */
  runJob<Request, Result>(
    model: string,
    spec: JobSpec<Request, Result>,
    signal: AbortSignal,
  ): ResultIterator<Result>;
  ready(): ReadyReport;
  /** Kills every process and fails the open jobs. Idempotent. */
  close(): Promise<void>;
}

export interface InferencePoolOptions<Spec> {
  /** Path of the processes' entry file, which calls `serveInference`. */
  readonly entry: string;
  /** Models to load first, by name. Without models, no process runs. */
  readonly models: Readonly<Record<string, Spec>>;
  readonly settings: InferenceSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly meter: PoolMeter;
  /** Whether the processes run under SCHED_IDLE. Default: false. */
  readonly lowPriority?: boolean;
  readonly loadTimeoutMs?: number;
  readonly stepTimeoutMs?: number;
  /** Called with what the running steps need of the cores when it may have changed. */
  readonly onLoad?: (level: AudioLoadLevel) => void;
}

/** A pool that must be started. Jobs that arrive before its processes have loaded their models wait. */
export interface StartablePool<Spec> extends InferencePool {
  /**
   * Starts the processes and waits until each has loaded every model.
   * @throws the error of a failed load, which the pool retries.
   */
  start(): Promise<void>;
  /**
   * Changes the loaded models. Each process is replaced in turn by one that has loaded the new set, and exits when its
   * open jobs have finished, so running and waiting jobs are not interrupted. Retained models are loaded again, because
   * a process does not return freed memory to the operating system. Without models, no process runs. Jobs of
   * removed models fail. One call at a time.
   * @throws the error of a failed load. The existing processes keep running.
   */
  setModels(models: Readonly<Record<string, Spec>>): Promise<void>;
}

export function inferencePool<Spec>(options: InferencePoolOptions<Spec>): StartablePool<Spec> {
  return new Pool(options);
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

class Pool<Spec> implements StartablePool<Spec> {
  readonly #options: InferencePoolOptions<Spec>;
  #slots: readonly WorkerSlot<Spec>[];
  /** Replacement slots, until they have loaded. */
  readonly #loading = new Set<WorkerSlot<Spec>>();
  /** Replaced slots, until their jobs have finished. */
  readonly #retired = new Set<WorkerSlot<Spec>>();
  #retirement: PromiseWithResolvers<void> | undefined;
  /** Models for which jobs are accepted. */
  #models: Readonly<Record<string, Spec>>;
  /** Every open job, in order of arrival. */
  readonly #jobs = new Set<AnyJob>();
  readonly #served: { readonly queues: Mutable<Served['queues']>; readonly keys: ServedTime } = {
    queues: {},
    keys: new ServedTime(),
  };
  #descriptions: ModelDescriptions = {};
  #lastId = 0;
  #closed = false;

  constructor(options: InferencePoolOptions<Spec>) {
    this.#options = options;
    this.#models = options.models;
    this.#slots = Array.from({ length: this.#sizeFor(options.models) }, () =>
      this.#createSlot(options.models),
    );
  }

  async start(): Promise<void> {
    // Each process loads every model, so all descriptions are equal.
    const [descriptions = {}] = await Promise.all(this.#slots.map((each) => each.start()));
    this.#descriptions = descriptions;
  }

  async setModels(models: Readonly<Record<string, Spec>>): Promise<void> {
    const stays = ([name]: [string, Spec]) => Object.hasOwn(models, name);
    this.#models = Object.fromEntries(Object.entries(this.#models).filter(stays));
    this.#failAll(shuttingDown(), (job) => !Object.hasOwn(models, job.model));
    // Waiting for the slots that an earlier change retired bounds the number of processes to twice the pool size.
    await this.#retirement?.promise;
    const size = this.#sizeFor(models);
    if (this.#slots.length === 0) {
      this.#slots = await this.#loadSlots(size, models);
    } else {
      for (const slot of this.#slots.slice(0, size)) {
        if (!haveSameNames(slot.models, models)) await this.#replaceSlot(slot, models);
      }
      const spare = this.#slots.slice(size);
      this.#slots = this.#slots.slice(0, size);
      await Promise.all(spare.map((each) => this.#retireSlot(each)));
    }
    this.#models = models;
  }

  description<Description>(model: string): Description {
    if (!Object.hasOwn(this.#descriptions, model)) throw new Error(`no model '${model}' in the pool`);
    return this.#descriptions[model] as Description;
  }

  runJob<Request, Result>(
    model: string,
    spec: JobSpec<Request, Result>,
    signal: AbortSignal,
  ): ResultIterator<Result> {
    const start = () => {
      const job = this.#admitJob(model, spec);
      this.#dispatch();
      return job;
    };
    return new JobResults<Request, Result>(
      { start, pulled: () => this.#dispatch(), ended: (job) => this.#removeJob(job) },
      signal,
    );
  }

  ready(): ReadyReport {
    const loaded = this.#slots.filter((each) => each.loaded).length;
    const { settings } = this.#options;
    return {
      ready: loaded > 0,
      detail: `${loaded} of ${this.#slots.length} inference processes loaded, ${settings.provider}, ${settings.threads} threads each`,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#failAll(shuttingDown());
    await Promise.all([...this.#activeSlots(), ...this.#loading].map((each) => each.close()));
    this.#closeIdleRetired();
  }

  #sizeFor(models: Readonly<Record<string, Spec>>): number {
    return Object.keys(models).length === 0 ? 0 : this.#options.settings.workers;
  }

  #createSlot(
    models: Readonly<Record<string, Spec>>,
    onProgress?: (progress: LoadProgress) => void,
  ): WorkerSlot<Spec> {
    const {
      settings,
      meter,
      entry,
      clock,
      log,
      lowPriority = false,
      loadTimeoutMs,
      stepTimeoutMs,
    } = this.#options;
    return new WorkerSlot<Spec>({
      entry,
      load: { models, runtime: { provider: settings.provider, threads: settings.threads }, lowPriority },
      clock,
      log,
      environment: { ...providerEnvironment(settings.provider), ...settings.environment },
      loadTimeoutMs: loadTimeoutMs ?? LOAD_TIMEOUT_MS,
      stepTimeoutMs: stepTimeoutMs ?? (lowPriority ? LOW_PRIORITY_STEP_TIMEOUT_MS : STEP_TIMEOUT_MS),
      onChange: () => this.#dispatch(),
      onStepFinished: (job, fromMs, nowMs) => {
        this.#served.keys.finish(job, nowMs - fromMs);
        meter.stepFinished(job, fromMs, nowMs);
      },
      onProgress,
      onCrash: () => meter.processCrashed(),
    });
  }

  /** Creates slots and waits until all have loaded. @throws the error of a failed load, after closing all of them. */
  async #loadSlots(
    count: number,
    models: Readonly<Record<string, Spec>>,
  ): Promise<readonly WorkerSlot<Spec>[]> {
    const onProgress = progressLog(this.#options.log);
    const slots = Array.from({ length: count }, () => this.#createSlot(models, onProgress));
    for (const each of slots) this.#loading.add(each);
    try {
      if (this.#closed) throw shuttingDown();
      const [descriptions = {}] = await Promise.all(slots.map((each) => each.start()));
      this.#descriptions = descriptions;
      return slots;
    } catch (error) {
      await Promise.all(slots.map((each) => each.close()));
      throw error;
    } finally {
      for (const each of slots) this.#loading.delete(each);
    }
  }

  async #replaceSlot(slot: WorkerSlot<Spec>, models: Readonly<Record<string, Spec>>): Promise<void> {
    const successors = await this.#loadSlots(1, models);
    this.#slots = this.#slots.flatMap((each) => (each === slot ? successors : each));
    await this.#retireSlot(slot);
    this.#dispatch();
  }

  /** Closes a slot when its open jobs have finished, or immediately if it has none. */
  async #retireSlot(slot: WorkerSlot<Spec>): Promise<void> {
    this.#retired.add(slot);
    this.#retirement ??= Promise.withResolvers();
    this.#closeIdleRetired();
    if (!slot.busy) await slot.close();
  }

  #closeIdleRetired(): void {
    for (const slot of this.#retired) {
      if (slot.busy && !this.#closed) continue;
      this.#retired.delete(slot);
      void slot.close();
    }
    if (this.#retired.size > 0) return;
    this.#retirement?.resolve();
    this.#retirement = undefined;
  }

  /** Every slot that may have jobs. */
  #activeSlots(): readonly WorkerSlot<Spec>[] {
    return [...this.#retired, ...this.#slots];
  }

  #admitJob<Request, Result>(model: string, spec: JobSpec<Request, Result>): StepJob<Request, Result> {
    const { queueLimit } = this.#options.settings;
    if (this.#closed || !Object.hasOwn(this.#models, model)) throw shuttingDown();
    if (this.#allFailing()) throw loadFailed();
    const open = this.#jobs.values().filter((job) => job.priority === spec.priority);
    requireClassSlot(open, spec.fairnessKey, queueLimit);
    this.#lastId += 1;
    const { clock, meter } = this.#options;
    const job = new StepJob(this.#lastId, model, spec, clock.monotonicMs(), meter.traceContext());
    this.#jobs.add(job);
    meter.jobQueued(job);
    return job;
  }

  /** Runs a step on every idle slot: of one of its open jobs, or of a job that no slot has opened. */
  #dispatch(): void {
    if (this.#allFailing()) this.#failAll(loadFailed());
    const nowMs = this.#options.clock.monotonicMs();
    for (const slot of this.#activeSlots()) {
      if (!slot.idle) continue;
      const job = nextJob(this.#candidates(slot), this.#served, nowMs);
      if (job === undefined) continue;
      this.#served.queues[queueKeyOf(job)] = nowMs;
      this.#served.keys.start(job);
      if (!job.started) this.#options.meter.jobStarted(job, nowMs);
      job.started = true;
      job.urgent = job.priority === 'realtime' && dueMs(job, this.#served.queues) <= nowMs;
      slot.runStep(job);
    }
    this.#options.onLoad?.(this.#loadLevel());
    this.#closeIdleRetired();
  }

  #loadLevel(): AudioLoadLevel {
    let level: AudioLoadLevel = 'none';
    for (const job of this.#jobs) {
      if (!job.running) continue;
      if (job.urgent) return 'urgent';
      level = 'some';
    }
    return level;
  }

  *#candidates(slot: WorkerSlot<Spec>): Generator<AnyJob> {
    const acceptsNewJobs = !this.#retired.has(slot);
    for (const job of this.#jobs) {
      if (!job.runnable) continue;
      const isNew = () => !this.#activeSlots().some((other) => other.hasJob(job));
      if (slot.hasJob(job) || (acceptsNewJobs && isNew())) yield job;
    }
  }

  #removeJob(job: AnyJob): void {
    if (!this.#jobs.delete(job)) return;
    this.#options.meter.jobFinished(job);
    for (const slot of this.#activeSlots()) slot.closeJob(job);
    this.#closeIdleRetired();
    if (!this.#jobs.values().some(({ priority }) => priority === job.priority))
      this.#served.keys.clear(job.priority);
  }

  /** Whether the last load failed in every slot. */
  #allFailing(): boolean {
    return this.#slots.every((each) => each.failing);
  }

  #failAll(error: ServiceError, which: (job: AnyJob) => boolean = () => true): void {
    for (const job of [...this.#jobs].filter(which)) {
      job.fail(error);
      this.#removeJob(job);
    }
  }
}

const PROGRESS_MESSAGES: Readonly<Record<LoadProgress['state'], string>> = {
  loading: 'loading a model',
  converting: 'converting a model, once on this machine',
  loaded: 'loaded a model',
};

/** Logs each state of each model once: all processes load the same models. */
function progressLog(log: Logger): (progress: LoadProgress) => void {
  const logged = new Set<string>();
  return ({ model, state }) => {
    const key = `${model} ${state}`;
    if (!logged.has(key)) log.info(PROGRESS_MESSAGES[state], { model });
    logged.add(key);
  };
}

function loadFailed(): ServiceError {
  return new ServiceError('overloaded', 'The models failed to load. The service is retrying.', {
    code: 'server_overloaded',
    retryAfterS: RETRY_AFTER_S,
  });
}

function haveSameNames(one: object, other: object): boolean {
  const names = new Set(Object.keys(one));
  return names.symmetricDifference(new Set(Object.keys(other))).size === 0;
}
