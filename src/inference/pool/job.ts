/** One request in the pool: its place in the schedule, the results that wait for its consumer, and how the consumer pulls them. */

import type { Traceparent } from '../../contract/core/tracer.ts';
import type { Priority } from '../../contract/engines/engine.ts';
import type { Delivery, WaitingJob } from './scheduler.ts';

/**
 * Audio in ms that a job buffers for its consumer before the pool stops running its steps. A consumer that does not
 * read holds at most this much plus the audio of one step.
 */
export const PREFETCH_MS = 4_000;
/** The same limit for results without a duration, as a number of results. */
export const PREFETCH_RESULTS = 64;

/** A request of an engine to the pool. */
export interface JobSpec<Request, Result> {
  /** Passed to the model unchanged. */
  readonly request: Request;
  readonly priority: Priority;
  /** Fairness key: the id of the API key that the job runs for. */
  readonly fairnessKey: string;
  readonly delivery: Delivery;
  /** Unplayed audio of the same listener, in ms. Absent: none. */
  readonly aheadMs?: number | undefined;
  /** Playback duration of a result, in ms. Absent for results that are not audio. */
  lengthMs?(result: Result): number;
}

/** A job whose request and result types are known to its engine only. */
export type AnyJob = StepJob<unknown, unknown>;

export class StepJob<Request, Result> implements WaitingJob {
  readonly priority: Priority;
  readonly fairnessKey: string;
  readonly delivery: Delivery;
  readonly aheadMs: number;
  readonly request: Request;
  /** Whether its first step has started. */
  started = false;
  servedMs: number | undefined;
  firstAudioMs: number | undefined;
  audioMs = 0;
  /** Whether a step of it is running in an inference process. */
  running = false;
  /** Whether the deadline of its last step had passed when that step started, for a realtime client. */
  urgent = false;

  readonly #work: JobSpec<Request, Result>;
  #buffer: Result[] = [];
  #bufferedMs = 0;
  #end: 'open' | 'done' | { readonly error: unknown } = 'open';
  #wake: (() => void) | undefined;

  constructor(
    readonly id: number,
    readonly model: string,
    work: JobSpec<Request, Result>,
    readonly arrivedMs: number,
    /** Trace context of the caller. */
    readonly traceparent: Traceparent | undefined,
  ) {
    this.priority = work.priority;
    this.fairnessKey = work.fairnessKey;
    this.delivery = work.delivery;
    this.aheadMs = Math.max(0, work.aheadMs ?? 0);
    this.request = work.request;
    this.#work = work;
  }

  /** Whether its next step could run now. */
  get runnable(): boolean {
    const hasCapacity = this.#bufferedMs < PREFETCH_MS && this.#buffer.length < PREFETCH_RESULTS;
    return this.open && !this.running && hasCapacity;
  }

  /** Whether it has neither finished nor failed. */
  get open(): boolean {
    return this.#end === 'open';
  }

  /** Buffers a result of a step. Ignored after the job has finished or failed. */
  push(result: Result, nowMs: number): void {
    if (!this.open) return;
    const lengthMs = this.#lengthMs(result);
    // Words arrive before the audio.
    if (lengthMs > 0) this.firstAudioMs ??= nowMs;
    this.audioMs += lengthMs;
    this.#bufferedMs += lengthMs;
    this.#buffer.push(result);
    this.#signal();
  }

  /** Marks the job as finished. Buffered results can still be pulled. */
  finish(): void {
    if (!this.open) return;
    this.#end = 'done';
    this.#signal();
  }

  /** Fails the job: drops the buffered results and makes the next pull throw `error`. */
  fail(error: unknown): void {
    if (!this.open) return;
    this.#end = { error };
    this.#buffer = [];
    this.#signal();
  }

  /** Returns the next result, or undefined after the last. One caller at a time. */
  async pull(): Promise<Result | undefined> {
    while (this.#buffer.length === 0 && this.open) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (typeof this.#end === 'object') throw this.#end.error;
    const result = this.#buffer.shift();
    if (result !== undefined) this.#bufferedMs -= this.#lengthMs(result);
    return result;
  }

  #lengthMs(result: Result): number {
    return this.#work.lengthMs?.(result) ?? 0;
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** What a job needs of its pool. */
export interface JobHost<Request, Result> {
  /** Queues the job. */
  start(): StepJob<Request, Result>;
  /** Called for each pulled result, after which the next step may have room. */
  pulled(): void;
  /** Called when a started job has ended, at least once. */
  ended(job: StepJob<Request, Result>): void;
}

const DONE = { done: true, value: undefined } as const;

/** Can be returned early. */
export type ResultIterator<Result> = AsyncIterableIterator<Result, void, undefined> &
  Required<Pick<AsyncIterator<Result, void, undefined>, 'return'>>;

/** The results of a job. It starts with the first pull. A consumer that returns or aborts ends it, also during a pull. */
export class JobResults<Request, Result> implements ResultIterator<Result> {
  readonly #host: JobHost<Request, Result>;
  readonly #signal: AbortSignal;
  #job: StepJob<Request, Result> | undefined;
  #isOver = false;

  constructor(host: JobHost<Request, Result>, signal: AbortSignal) {
    this.#host = host;
    this.#signal = signal;
  }

  async next(): Promise<IteratorResult<Result, void>> {
    if (this.#isOver) return DONE;
    try {
      this.#signal.throwIfAborted();
      const result = await this.#started().pull();
      if (result !== undefined) {
        this.#host.pulled();
        return { done: false, value: result };
      }
    } catch (error) {
      this.#end();
      throw error;
    }
    this.#end();
    return DONE;
  }

  async return(): Promise<IteratorResult<Result, void>> {
    this.#job?.finish();
    this.#end();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #started(): StepJob<Request, Result> {
    if (this.#job === undefined) {
      this.#job = this.#host.start();
      this.#signal.addEventListener('abort', this.#abort, { once: true });
    }
    return this.#job;
  }

  readonly #abort = () => {
    this.#job?.fail(this.#signal.reason);
    if (this.#job !== undefined) this.#host.ended(this.#job);
  };

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#abort);
    if (this.#job !== undefined) this.#host.ended(this.#job);
  }
}
