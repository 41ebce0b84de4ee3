/** Runs the lines of a batch concurrently and retries failed ones, until all are finished or the run has to stop. */

import type { LineBill, LineCalls } from '../../../src/contract/accounts/calls.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import type { ServiceError } from '../../../src/contract/core/error.ts';
import type { Operation } from '../../../src/contract/engines/operation.ts';
import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import { EventLoopYielder } from '../../../src/kit/async/event-loop-yielder.ts';
import { untilAborted } from '../../../src/kit/async/until-aborted.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { type LineRequest, lineRequest } from '../input/line-request.ts';
import type { InputLine, LinePosition } from '../input/line-splitter.ts';
import type { CheckpointWriter } from '../results/checkpoints.ts';
import type { LineResult } from '../results/pending-results.ts';
import { errorLine, outputLine } from '../results/result-line.ts';
import { attemptLine } from './attempt.ts';
import { type Attempt, ConcurrencyLimiter } from './concurrency.ts';
import type { FairShare } from './fair-share.ts';
import { isTransient, type RetryPolicy } from './retry-policy.ts';

/** Share of the batch's run time after which a checkpoint is due, so that long batches have few parts. */
const CHECKPOINT_SHARE = 0.01;
const MAX_CHECKPOINT_MS = 10_000;

/**
 * `completed`: every line has a result. `stopped`: the batch is cancelled or expired. `yielded`: the batch can resume
 * later or in another process. `lost`: another runner has claimed it.
 */
export type RunOutcome = 'completed' | 'stopped' | 'yielded' | 'lost';

export interface LineRunnerTimes {
  /** Interval for polling the status of the batch. */
  readonly pollIntervalMs: number;
  /** Run time after which a batch yields to waiting batches. */
  readonly timeSliceMs: number;
  /** Time for running lines to finish when the process drains. */
  readonly drainMs: number;
}

export interface LineRunnerDeps {
  readonly batch: BatchRecord;
  readonly operation: Operation;
  readonly lineCalls: LineCalls;
  readonly checkpoints: CheckpointWriter;
  readonly retries: RetryPolicy;
  readonly share: FairShare;
  /** Maximum number of concurrent lines. */
  readonly maxLines: number;
  /** Reads the input from a position on. */
  readonly read: (from: LinePosition, signal: AbortSignal) => AsyncIterable<readonly InputLine[]>;
  /** Whether other batches may be waiting. */
  readonly hasWaitingBatches: () => boolean;
  /** Called for every internal error, for logging. May be called many times. */
  readonly onInternalError: (error: ServiceError) => void;
  readonly clock: Clock;
  readonly times: LineRunnerTimes;
}

export class LineRunner {
  readonly #deps: LineRunnerDeps;
  readonly #limiter: ConcurrencyLimiter;
  readonly #yielder: EventLoopYielder;
  /** Fires when no further line must start. */
  readonly #stopping = new AbortController();
  /** Fires when running lines are aborted. */
  readonly #aborting = new AbortController();
  #end: Exclude<RunOutcome, 'completed'> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #running = 0;
  /** Retry timers of lines in backoff. */
  readonly #backingOff = new Map<LineRequest, ReturnType<typeof setTimeout>>();
  /** Lines whose backoff is over. */
  readonly #due: LineRequest[] = [];
  #openBytes = 0;
  #changed: PromiseWithResolvers<void> | undefined;
  #savedMs: number;
  #isPolling = false;
  readonly #startedMs: number;

  constructor(deps: LineRunnerDeps) {
    this.#deps = deps;
    this.#limiter = new ConcurrencyLimiter(deps.maxLines);
    this.#yielder = new EventLoopYielder(deps.clock);
    this.#startedMs = deps.clock.monotonicMs();
    this.#savedMs = this.#startedMs;
  }

  /**
   * Must be called once. Finished lines are saved when it resolves.
   * @param signal fires when the process drains or loses the job.
   * @throws the errors of the stores. Lines without a checkpoint run again.
   */
  async run(signal: AbortSignal): Promise<RunOutcome> {
    let abortTimer: ReturnType<typeof setTimeout> | undefined;
    const drain = () => {
      this.#stop('yielded');
      abortTimer = setTimeout(() => this.#aborting.abort(signal.reason), this.#deps.times.drainMs);
    };
    signal.addEventListener('abort', drain, { once: true });
    const timer = setInterval(() => this.#tick(), this.#deps.times.pollIntervalMs);
    if (signal.aborted) drain();
    try {
      await this.#startAll();
      await this.#settle();
    } catch (error) {
      this.#fail(error);
      await this.#settle();
    } finally {
      signal.removeEventListener('abort', drain);
      clearInterval(timer);
      clearTimeout(abortTimer);
    }
    return await this.#saveLast();
  }

  async #saveLast(): Promise<RunOutcome> {
    if (this.#end === 'lost') return 'lost';
    const saving = this.#deps.checkpoints.save();
    if (this.#failure !== undefined) {
      await saving.catch(() => undefined);
      throw this.#failure.error;
    }
    return (await saving) === undefined ? 'lost' : (this.#end ?? 'completed');
  }

  async #startAll(): Promise<void> {
    const { checkpoints, read } = this.#deps;
    const stopping = this.#stopping.signal;
    try {
      for await (const lines of untilAborted(read(checkpoints.nextPosition, stopping), stopping)) {
        for (const line of lines) {
          if (!this.#canStart(line) && !(await this.#waitForCapacity(line))) return;
          if (checkpoints.startLine(line)) this.#start(lineRequest(line));
          if (this.#yielder.isDue(line.endBytes - line.startBytes)) await this.#yielder.yieldNow();
        }
      }
    } catch (error) {
      // Reading throws when it is stopped, which is not an error.
      if (!stopping.aborted) throw error;
    }
  }

  /** Waits until a line may start. Returns false if the run stops. */
  async #waitForCapacity(line: InputLine): Promise<boolean> {
    for (;;) {
      if (this.#stopping.signal.aborted) return false;
      this.#retryDue();
      if (this.#canStart(line)) return true;
      await this.#waitForChange();
    }
  }

  #canStart(line: InputLine): boolean {
    if (this.#stopping.signal.aborted || this.#due.length > 0 || !this.#canAttempt()) return false;
    const { share, checkpoints } = this.#deps;
    const open = this.#running + this.#backingOff.size;
    const bytes = this.#openBytes + (line.endBytes - line.startBytes);
    if (open >= share.limit || (open > 0 && bytes > share.limitBytes)) return false;
    return checkpoints.canStart(line);
  }

  #canAttempt(): boolean {
    const { share } = this.#deps;
    // A batch without running lines may always start one: otherwise nothing would trigger the next check.
    if (this.#running > 0 && share.isFull) return false;
    return this.#running < Math.min(this.#limiter.limit, share.limit);
  }

  #retryDue(): void {
    while (this.#canAttempt()) {
      const request = this.#due.shift();
      if (request === undefined) return;
      void this.#attempt(request);
    }
  }

  /** Waits until every started line has finished or is left to a later run. */
  async #settle(): Promise<void> {
    for (;;) {
      if (this.#stopping.signal.aborted) this.#dropWaiting();
      else this.#retryDue();
      if (this.#running + this.#backingOff.size + this.#due.length === 0) return;
      await this.#waitForChange();
    }
  }

  #dropWaiting(): void {
    for (const timer of this.#backingOff.values()) clearTimeout(timer);
    this.#backingOff.clear();
    this.#due.length = 0;
  }

  #start(request: LineRequest): void {
    this.#openBytes += request.lengthBytes;
    void this.#attempt(request);
  }

  /** Never rejects. */
  async #attempt(request: LineRequest): Promise<void> {
    this.#running += 1;
    const finishLine = this.#deps.share.startLine();
    const attempt = this.#limiter.startAttempt();
    try {
      const end = await attemptLine(this.#deps, request.body, this.#aborting.signal);
      if (end.kind === 'succeeded') {
        this.#limiter.succeeded(attempt);
        const text = outputLine(request.customId, end.requestId, end.body);
        this.#recordResult(request, { kind: 'output', text, bills: end.bills });
      } else if (end.kind === 'failed') {
        await this.#handleFailure(request, attempt, end.error, end.bills);
      } else await this.#deps.lineCalls.discard(end.bills);
    } catch (error) {
      this.#fail(error);
    }
    this.#running -= 1;
    finishLine();
    this.#wake();
  }

  async #handleFailure(
    request: LineRequest,
    attempt: Attempt,
    error: ServiceError,
    bills: readonly LineBill[],
  ): Promise<void> {
    const { retries, lineCalls, onInternalError, checkpoints } = this.#deps;
    const hasReservedCredits = this.#running > 1 || checkpoints.hasReservedCredits;
    const waitMs = retries.recordFailure(request.number, error, hasReservedCredits);
    // Missing credits also mean that too many lines hold reservations.
    if (waitMs !== undefined || isTransient(error)) this.#limiter.rejected(attempt);
    if (waitMs === undefined) {
      if (error.kind === 'internal') onInternalError(error);
      const failure = { code: error.code ?? error.type, message: error.message };
      this.#recordResult(request, { kind: 'error', text: errorLine(request.customId, failure), bills });
      return;
    }
    if (error.kind === 'insufficient_quota' && !checkpoints.isSaving) this.#save();
    // Only the last attempt is billed.
    await lineCalls.discard(bills);
    const timer = setTimeout(() => {
      this.#backingOff.delete(request);
      this.#due.push(request);
      this.#wake();
    }, waitMs);
    this.#backingOff.set(request, timer);
  }

  #recordResult(request: LineRequest, result: LineResult): void {
    const { retries, checkpoints } = this.#deps;
    this.#openBytes -= request.lengthBytes;
    retries.clearLine(request.number);
    checkpoints.finishLine(request.number, result);
    if (checkpoints.isDue) this.#save();
  }

  #tick(): void {
    const { batch, clock, times, hasWaitingBatches } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (unixSeconds(clock) >= batch.times.expires) this.#stopNow('stopped');
    else if (nowMs - this.#startedMs >= times.timeSliceMs && hasWaitingBatches()) this.#stop('yielded');
    if (nowMs - this.#savedMs >= this.#checkpointMs()) this.#save();
    else this.#poll();
  }

  #checkpointMs(): number {
    const { batch, clock, times } = this.#deps;
    const ranMs = (unixSeconds(clock) - (batch.times.inProgress ?? batch.times.created)) * 1000;
    return Math.min(MAX_CHECKPOINT_MS, Math.max(times.pollIntervalMs, ranMs * CHECKPOINT_SHARE));
  }

  #save(): void {
    this.#savedMs = this.#deps.clock.monotonicMs();
    this.#handleStatus(this.#deps.checkpoints.save());
  }

  #poll(): void {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const polling = this.#deps.checkpoints.poll().finally(() => {
      this.#isPolling = false;
    });
    this.#handleStatus(polling);
  }

  /** Handles the status of the batch that a poll or save returns. */
  #handleStatus(pending: Promise<BatchRecord | undefined>): void {
    pending.then(
      (batch) => {
        if (batch === undefined) this.#stopNow('lost');
        else if (batch.status !== 'in_progress') this.#stopNow('stopped');
        else if (this.#deps.checkpoints.isDue) this.#save();
        this.#wake();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stopNow('yielded');
  }

  /** Starts no further line. Running lines may finish. */
  #stop(end: Exclude<RunOutcome, 'completed'>): void {
    // 'lost' has precedence: a runner that lost the batch cannot save.
    if (this.#end === undefined || end === 'lost') this.#end = end;
    this.#stopping.abort();
    this.#wake();
  }

  #stopNow(end: Exclude<RunOutcome, 'completed'>): void {
    this.#stop(end);
    this.#aborting.abort();
  }

  #waitForChange(): Promise<void> {
    this.#changed ??= Promise.withResolvers();
    return this.#changed.promise;
  }

  #wake(): void {
    this.#changed?.resolve();
    this.#changed = undefined;
  }
}
