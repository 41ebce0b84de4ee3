/** Works on the lines of a batch: many at once, failing ones again and again, until all are done or it has to stop. */

import type { LineBill, LineCalls } from '../../../src/contract/accounts/calls.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import type { ServiceError } from '../../../src/contract/core/error.ts';
import type { Operation } from '../../../src/contract/engines/operation.ts';
import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import { untilAborted } from '../../../src/kit/async/until-aborted.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { type LineRequest, lineRequest } from '../input/line-request.ts';
import type { InputLine, LinePlace } from '../input/line-splitter.ts';
import type { Checkpoints } from '../results/checkpoints.ts';
import type { LineResult } from '../results/pending-results.ts';
import { errorLine, outputLine } from '../results/result-line.ts';
import { attemptLine } from './attempt.ts';
import { type Attempt, LinePace } from './concurrency.ts';
import type { LineShare } from './fair-share.ts';
import { isTransient, type LineRetries } from './retry-policy.ts';
import { EventLoopTurns } from './yield.ts';

/** A batch that has run for long has fewer checkpoints, so that its parts stay few: a hundredth of its time. */
const CHECKPOINT_SHARE = 0.01;
const MAX_CHECKPOINT_MS = 10_000;

/**
 * `all`: every line has its result. `stopped`: the batch is cancelled, or its time is over. `gave way`: it can go on
 * elsewhere or later. `lost`: another runner has it.
 */
export type LinesEnd = 'all' | 'stopped' | 'gave way' | 'lost';

export interface LineTimes {
  /** How often the store is asked whether the batch was cancelled. */
  readonly beatMs: number;
  /** After so long a batch gives way when others wait. */
  readonly sliceMs: number;
  /** What lines that run may still take when the process drains. */
  readonly drainMs: number;
}

export interface LineRunnerParts {
  readonly batch: BatchRecord;
  readonly operation: Operation;
  readonly lineCalls: LineCalls;
  readonly checkpoints: Checkpoints;
  readonly retries: LineRetries;
  readonly share: LineShare;
  /** Most lines that may run at once. */
  readonly atOnce: number;
  /** Reads the input from a place on. */
  readonly read: (from: LinePlace, signal: AbortSignal) => AsyncIterable<readonly InputLine[]>;
  /** Whether other batches may wait for this one. */
  readonly othersWait: () => boolean;
  /** Told what failed inside, for the log; it repeats itself. */
  readonly failedInside: (error: ServiceError) => void;
  readonly clock: Clock;
  readonly times: LineTimes;
}

export class LineRunner {
  readonly #parts: LineRunnerParts;
  readonly #pace: LinePace;
  readonly #turns: EventLoopTurns;
  /** Fires when no further line begins. */
  readonly #stopping = new AbortController();
  /** Fires when lines that run are given up. */
  readonly #givingUp = new AbortController();
  #end: Exclude<LinesEnd, 'all'> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #running = 0;
  /** Lines that wait to be tried again. */
  readonly #asleep = new Map<LineRequest, ReturnType<typeof setTimeout>>();
  /** Those whose time has come. */
  readonly #due: LineRequest[] = [];
  #openBytes = 0;
  #changed: PromiseWithResolvers<void> | undefined;
  #savedMs: number;
  #isLooking = false;
  readonly #sinceMs: number;

  constructor(parts: LineRunnerParts) {
    this.#parts = parts;
    this.#pace = new LinePace(parts.atOnce);
    this.#turns = new EventLoopTurns(parts.clock);
    this.#sinceMs = parts.clock.monotonicMs();
    this.#savedMs = this.#sinceMs;
  }

  /**
   * To be called once. What ended is saved when this resolves.
   * @param signal fires when the process drains, or another one has the batch.
   * @throws what the stores throw; then what has no checkpoint is run again.
   */
  async run(signal: AbortSignal): Promise<LinesEnd> {
    let giveUp: ReturnType<typeof setTimeout> | undefined;
    const drain = () => {
      this.#stop('gave way');
      giveUp = setTimeout(() => this.#givingUp.abort(signal.reason), this.#parts.times.drainMs);
    };
    signal.addEventListener('abort', drain, { once: true });
    const beat = setInterval(() => this.#beat(), this.#parts.times.beatMs);
    if (signal.aborted) drain();
    try {
      await this.#beginAll();
      await this.#settle();
    } catch (error) {
      this.#fail(error);
      await this.#settle();
    } finally {
      signal.removeEventListener('abort', drain);
      clearInterval(beat);
      clearTimeout(giveUp);
    }
    return await this.#saveLast();
  }

  async #saveLast(): Promise<LinesEnd> {
    if (this.#end === 'lost') return 'lost';
    const saving = this.#parts.checkpoints.save();
    if (this.#failure !== undefined) {
      await saving.catch(() => undefined);
      throw this.#failure.error;
    }
    return (await saving) === undefined ? 'lost' : (this.#end ?? 'all');
  }

  async #beginAll(): Promise<void> {
    const { checkpoints, read } = this.#parts;
    const stopping = this.#stopping.signal;
    try {
      for await (const lines of untilAborted(read(checkpoints.next, stopping), stopping)) {
        for (const line of lines) {
          if (!this.#mayBegin(line) && !(await this.#room(line))) return;
          if (checkpoints.begin(line)) this.#begin(lineRequest(line));
          if (this.#turns.isDue(line.endBytes - line.startBytes)) await this.#turns.take();
        }
      }
    } catch (error) {
      // What reading throws because it was told to stop is no fault.
      if (!stopping.aborted) throw error;
    }
  }

  /** Waits until a line may begin; false when none may any more. */
  async #room(line: InputLine): Promise<boolean> {
    for (;;) {
      if (this.#stopping.signal.aborted) return false;
      this.#tryAgain();
      if (this.#mayBegin(line)) return true;
      await this.#change();
    }
  }

  #mayBegin(line: InputLine): boolean {
    if (this.#stopping.signal.aborted || this.#due.length > 0 || !this.#mayRun()) return false;
    const { share, checkpoints } = this.#parts;
    const open = this.#running + this.#asleep.size;
    const bytes = this.#openBytes + (line.endBytes - line.startBytes);
    if (open >= share.limit || (open > 0 && bytes > share.limitBytes)) return false;
    return checkpoints.hasRoomFor(line);
  }

  #mayRun(): boolean {
    const { share } = this.#parts;
    // One of its own always may: with the end of that it is asked again.
    if (this.#running > 0 && share.isFull) return false;
    return this.#running < Math.min(this.#pace.limit, share.limit);
  }

  #tryAgain(): void {
    while (this.#mayRun()) {
      const request = this.#due.shift();
      if (request === undefined) return;
      void this.#attempt(request);
    }
  }

  /** Waits until every line that has begun has ended, or is left to a later run. */
  async #settle(): Promise<void> {
    for (;;) {
      if (this.#stopping.signal.aborted) this.#dropWaiting();
      else this.#tryAgain();
      if (this.#running + this.#asleep.size + this.#due.length === 0) return;
      await this.#change();
    }
  }

  #dropWaiting(): void {
    for (const timer of this.#asleep.values()) clearTimeout(timer);
    this.#asleep.clear();
    this.#due.length = 0;
  }

  #begin(request: LineRequest): void {
    this.#openBytes += request.lengthBytes;
    void this.#attempt(request);
  }

  /** Never rejects. */
  async #attempt(request: LineRequest): Promise<void> {
    this.#running += 1;
    const ended = this.#parts.share.begin();
    const attempt = this.#pace.begin();
    try {
      const end = await attemptLine(this.#parts, request.body, this.#givingUp.signal);
      if (end.kind === 'answered') {
        this.#pace.succeeded(attempt);
        const text = outputLine(request.customId, end.requestId, end.body);
        this.#take(request, { kind: 'output', text, bills: end.bills });
      } else if (end.kind === 'failed') {
        await this.#takeFailure(request, attempt, end.error, end.bills);
      } else await this.#parts.lineCalls.discard(end.bills);
    } catch (error) {
      this.#fail(error);
    }
    this.#running -= 1;
    ended();
    this.#wake();
  }

  async #takeFailure(
    request: LineRequest,
    attempt: Attempt,
    error: ServiceError,
    bills: readonly LineBill[],
  ): Promise<void> {
    const { retries, lineCalls, failedInside, checkpoints } = this.#parts;
    const holdsCredits = this.#running > 1 || checkpoints.holdsCredits;
    const waitMs = retries.failed(request.number, error, holdsCredits);
    // Credits are short when too many lines hold some, too.
    if (waitMs !== undefined || isTransient(error)) this.#pace.refused(attempt);
    if (waitMs === undefined) {
      if (error.kind === 'internal') failedInside(error);
      const failure = { code: error.code ?? error.type, message: error.message };
      this.#take(request, { kind: 'error', text: errorLine(request.customId, failure), bills });
      return;
    }
    if (error.kind === 'insufficient_quota' && !checkpoints.isSaving) this.#save();
    // Only the last attempt counts.
    await lineCalls.discard(bills);
    const timer = setTimeout(() => {
      this.#asleep.delete(request);
      this.#due.push(request);
      this.#wake();
    }, waitMs);
    this.#asleep.set(request, timer);
  }

  #take(request: LineRequest, result: LineResult): void {
    const { retries, checkpoints } = this.#parts;
    this.#openBytes -= request.lengthBytes;
    retries.forget(request.number);
    checkpoints.end(request.number, result);
    if (checkpoints.isDue) this.#save();
  }

  #beat(): void {
    const { batch, clock, times, othersWait } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (unixSeconds(clock) >= batch.times.expires) this.#stopNow('stopped');
    else if (nowMs - this.#sinceMs >= times.sliceMs && othersWait()) this.#stop('gave way');
    if (nowMs - this.#savedMs >= this.#checkpointMs()) this.#save();
    else this.#look();
  }

  #checkpointMs(): number {
    const { batch, clock, times } = this.#parts;
    const ranMs = (unixSeconds(clock) - (batch.times.inProgress ?? batch.times.created)) * 1000;
    return Math.min(MAX_CHECKPOINT_MS, Math.max(times.beatMs, ranMs * CHECKPOINT_SHARE));
  }

  #save(): void {
    this.#savedMs = this.#parts.clock.monotonicMs();
    this.#hear(this.#parts.checkpoints.save());
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const looking = this.#parts.checkpoints.look().finally(() => {
      this.#isLooking = false;
    });
    this.#hear(looking);
  }

  /** Heeds what the store says of the batch. */
  #hear(word: Promise<BatchRecord | undefined>): void {
    word.then(
      (batch) => {
        if (batch === undefined) this.#stopNow('lost');
        else if (batch.status !== 'in_progress') this.#stopNow('stopped');
        else if (this.#parts.checkpoints.isDue) this.#save();
        this.#wake();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stopNow('gave way');
  }

  /** Begins no further line; those that run may end. */
  #stop(end: Exclude<LinesEnd, 'all'>): void {
    // Who lost the batch cannot save, whatever else is the matter.
    if (this.#end === undefined || end === 'lost') this.#end = end;
    this.#stopping.abort();
    this.#wake();
  }

  #stopNow(end: Exclude<LinesEnd, 'all'>): void {
    this.#stop(end);
    this.#givingUp.abort();
  }

  #change(): Promise<void> {
    this.#changed ??= Promise.withResolvers();
    return this.#changed.promise;
  }

  #wake(): void {
    this.#changed?.resolve();
    this.#changed = undefined;
  }
}
