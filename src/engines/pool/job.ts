/** One request in the pool: its place in the schedule and the results that wait for its consumer. */

import type { Traceparent } from '../../contract/core/tracer.ts';
import type { Priority } from '../../contract/engines/engine.ts';
import type { Delivery, WaitingJob } from './scheduler.ts';

/**
 * Audio that may wait for a consumer before its job stops being run, in ms. A reader that does not read
 * holds this much plus one pass.
 */
export const PREFETCH_MS = 4_000;
/** The same for results that have no length, in results. */
export const PREFETCH_RESULTS = 64;

/** What an engine asks of the pool. */
export interface JobSpec<Request, Result> {
  /** Goes to the model as it is. */
  readonly request: Request;
  readonly priority: Priority;
  /** For whom the work is done. */
  readonly owner: string;
  readonly delivery: Delivery;
  /** Unplayed audio of the same listener, in ms; absent means none. */
  readonly aheadMs?: number | undefined;
  /** How long a result plays, in ms; absent for results that nobody listens to. */
  lengthMs?(result: Result): number;
}

/** A job whose request and results only its engine knows. */
export type AnyJob = StepJob<unknown, unknown>;

export class StepJob<Request, Result> implements WaitingJob {
  readonly priority: Priority;
  readonly owner: string;
  readonly delivery: Delivery;
  readonly aheadMs: number;
  readonly request: Request;
  /** A pass has started. */
  started = false;
  servedMs: number | undefined;
  firstAudioMs: number | undefined;
  audioMs = 0;
  /** A pass is running in the inference process. */
  running = false;

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
    /** What it is a part of, for its trace. */
    readonly place: Traceparent | undefined,
  ) {
    this.priority = work.priority;
    this.owner = work.owner;
    this.delivery = work.delivery;
    this.aheadMs = Math.max(0, work.aheadMs ?? 0);
    this.request = work.request;
    this.#work = work;
  }

  /** Whether its next pass could run now. */
  get runnable(): boolean {
    const hasRoom = this.#bufferedMs < PREFETCH_MS && this.#buffer.length < PREFETCH_RESULTS;
    return this.open && !this.running && hasRoom;
  }

  /** Whether it can still bring results or an end. */
  get open(): boolean {
    return this.#end === 'open';
  }

  /** Takes a result of a pass; ignored once the job has ended. */
  push(result: Result, nowMs: number): void {
    if (!this.open) return;
    const lengthMs = this.#lengthMs(result);
    this.firstAudioMs ??= nowMs;
    this.audioMs += lengthMs;
    this.#bufferedMs += lengthMs;
    this.#buffer.push(result);
    this.#signal();
  }

  /** No more results come; what is buffered can still be pulled. */
  finish(): void {
    if (!this.open) return;
    this.#end = 'done';
    this.#signal();
  }

  /** Ends the job; buffered results are dropped and the next pull throws `error`. */
  fail(error: unknown): void {
    if (!this.open) return;
    this.#end = { error };
    this.#buffer = [];
    this.#signal();
  }

  /** The next result, or undefined after the last. One caller at a time. */
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
