/** What is done for a batch, from its input to its result files: by any process, and by another where one died. */

import type { LineCalls } from '../../../src/contract/accounts/calls.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { shuttingDown } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { JobHandler, JobOutcome } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { OperationTable } from '../../../src/contract/engines/operation.ts';
import type {
  BatchFault,
  BatchRecord,
  BatchStore,
  BEFORE_BATCH_END,
} from '../../../src/contract/stores/batch-store.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import type { FileStore } from '../../../src/contract/stores/file-store.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { InputLost, inputLines, openInput } from '../input/line-reader.ts';
import { InputChecks } from '../input/validation/pool.ts';
import { partsPrefix } from '../results/blob-names.ts';
import { Checkpoints } from '../results/checkpoints.ts';
import type { BatchMetrics } from '../results/metrics.ts';
import { dropResultFiles, storeResultFiles } from '../results/result-files.ts';
import { LineShares } from './fair-share.ts';
import { LineRunner, type LineTimes } from './line-runner.ts';
import { RememberedRetries } from './retry-cache.ts';
import { RETRY_TIMES, type RetryTimes } from './retry-policy.ts';
import { WRITTEN_OFF, writeOff } from './skip-remaining.ts';
import { type Effect, next } from './state-machine.ts';
import { whileUnchanged } from './status-poller.ts';
import { INPUT_LOST, REFUSALS, RESULTS_LOST } from './terminal-errors.ts';
import { EventLoopTurns } from './yield.ts';

export interface BatchJobParts {
  readonly batches: BatchStore;
  readonly files: FileStore;
  readonly blobs: BlobStore;
  readonly operations: OperationTable;
  readonly lineCalls: LineCalls;
  readonly metrics: BatchMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Lines of all batches that may run at once in this process. */
  readonly linesAtOnce: number;
  /** Batches that run at once in this process. */
  readonly batchesAtOnce: number;
  /** A line may be as long as the body of a request. */
  readonly maxLineBytes: number;
  readonly times?: JobTimes;
  /** In [0, 1), for the pauses between retries. */
  readonly random?: () => number;
}

export interface JobTimes extends LineTimes {
  readonly retries: RetryTimes;
}

const TIMES: JobTimes = { beatMs: 1000, sliceMs: 30_000, drainMs: 2000, retries: RETRY_TIMES };

const DONE: JobOutcome = { kind: 'done' };
/** For a batch that gives way, or that another runner has: then the queue knows better. */
const AGAIN: JobOutcome = { kind: 'again', delayMs: 0 };

export interface BatchJobHandler extends JobHandler {
  /** Gives up what runs still try to save, for a process that ends at once: others do it again. Idempotent. */
  leave(): void;
}

export function batchJob(parts: BatchJobParts): BatchJobHandler {
  return new BatchJob(parts);
}

type EndWithFiles = keyof typeof BEFORE_BATCH_END;

/** A batch in the hands of this process, for as long as one call of the queue lasts. */
interface Held {
  readonly runner: string;
  readonly checkpoints: Checkpoints;
  readonly signal: AbortSignal;
}

class BatchJob implements BatchJobHandler {
  readonly kind = 'batch';
  readonly concurrency: number;
  readonly #parts: BatchJobParts;
  readonly #times: JobTimes;
  readonly #checks: InputChecks;
  readonly #shares: LineShares;
  readonly #retries: RememberedRetries;
  readonly #leaving = new AbortController();
  #running = 0;

  constructor(parts: BatchJobParts) {
    const { clock, maxLineBytes, batchesAtOnce, linesAtOnce, random = Math.random, times = TIMES } = parts;
    this.#parts = parts;
    this.#times = times;
    this.concurrency = batchesAtOnce;
    this.#checks = new InputChecks({ maxLineBytes, waiting: batchesAtOnce });
    this.#shares = new LineShares(linesAtOnce);
    this.#retries = new RememberedRetries({ clock, random, times: times.retries });
  }

  leave(): void {
    this.#leaving.abort(shuttingDown());
  }

  async run(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const { batches, blobs } = this.#parts;
    const runner = crypto.randomUUID();
    const claimed = await batches.claim(id as Id<'batch'>, runner);
    if (claimed === undefined) {
      // Whoever ended it may have died before it had tidied up.
      await blobs.deleteAll(partsPrefix(id as Id<'batch'>), signal);
      return DONE;
    }
    const { batch, isFirst, progress } = claimed;
    this.#taken(batch, isFirst, progress.line);
    const checkpoints = new Checkpoints(this.#parts, claimed, runner, this.#leaving.signal);
    this.#running += 1;
    try {
      return await this.#work(batch, { runner, checkpoints, signal });
    } catch (error) {
      // What a stop has broken off is no failure.
      if (signal.aborted) return AGAIN;
      throw error;
    } finally {
      this.#running -= 1;
      await checkpoints.close();
    }
  }

  /** One state after the other, until the batch has ended or has to wait. */
  async #work(claimed: BatchRecord, held: Held): Promise<JobOutcome> {
    const { batches, clock } = this.#parts;
    let batch: BatchRecord | undefined = claimed;
    while (batch !== undefined) {
      const late = unixSeconds(clock) >= batch.times.expires;
      const [effect] = next(batch.status, { kind: 'taken', late }).effects;
      if (effect === undefined) return DONE;
      try {
        if ((await this.#perform(effect, batch, held)) === 'waits') return AGAIN;
      } catch (error) {
        if (!(error instanceof InputLost)) throw error;
        await this.#goOnWithoutInput(batch, error, held);
      }
      batch = await batches.look(batch.id, held.runner);
    }
    return AGAIN;
  }

  /** No later run would find it, so the batch ends with what it has. */
  async #goOnWithoutInput(batch: BatchRecord, lost: InputLost, held: Held): Promise<void> {
    const now = await held.checkpoints.look();
    // Another runner may have ended it, after which the file may go; or it was cancelled, which ends otherwise.
    if (now?.status !== batch.status) return;
    const { id, organization } = batch;
    this.#parts.log.error('a batch cannot go on', lost, { batch: id, organization });
    const [effect] = next(batch.status, { kind: 'input_lost' }).effects;
    if (effect?.kind === 'store_files') await this.#end(batch, effect.as, held, [INPUT_LOST]);
    else if (effect !== undefined) await this.#perform(effect, batch, held);
  }

  async #perform(effect: Effect, batch: BatchRecord, held: Held): Promise<'waits' | 'goes on'> {
    switch (effect.kind) {
      case 'validate':
        await this.#validate(batch, held);
        return 'goes on';
      case 'refuse':
        await this.#fail(batch, [REFUSALS[effect.code]], held);
        return 'goes on';
      case 'run_lines':
        return await this.#runLines(batch, held);
      case 'write_off':
        await this.#writeOff(batch, effect.as, held);
        return 'goes on';
      case 'store_files':
        await this.#end(batch, effect.as, held);
        return 'goes on';
      default:
        throw new Error(`nobody asks a runner to '${effect.kind}'`);
    }
  }

  async #validate(batch: BatchRecord, held: Held): Promise<void> {
    const { batches, clock } = this.#parts;
    const { runner, checkpoints, signal } = held;
    const { id, endpoint, organization } = batch;
    const verdict = await whileUnchanged(
      batch,
      { look: () => checkpoints.look(), everyMs: this.#times.beatMs },
      async (unchanged) => {
        const open = () => openInput(this.#parts, batch, unchanged);
        return await this.#checks.check({ open, endpoint, organization }, unchanged);
      },
      signal,
    );
    if (verdict?.kind === 'sound') await batches.begin(id, runner, { ...verdict, at: unixSeconds(clock) });
    else if (verdict?.kind === 'faulty') await this.#fail(batch, verdict.faults, held);
  }

  async #fail(batch: BatchRecord, faults: readonly BatchFault[], { runner }: Held): Promise<void> {
    const { batches, clock } = this.#parts;
    if (await batches.fail(batch.id, runner, faults, unixSeconds(clock))) this.#ended(batch, 'failed');
  }

  async #runLines(batch: BatchRecord, { runner, checkpoints, signal }: Held): Promise<'waits' | 'goes on'> {
    const { batches, operations, lineCalls, clock, log, linesAtOnce, batchesAtOnce } = this.#parts;
    const retries = this.#retries.take(batch.id);
    const share = this.#shares.join(batch.organization);
    let failuresInside = 0;
    try {
      const lines = new LineRunner({
        ...{ batch, lineCalls, checkpoints, retries, share, clock },
        operation: operations.get(batch.endpoint),
        atOnce: linesAtOnce,
        read: (from, stopping) => inputLines(this.#parts, batch, stopping, from),
        othersWait: () => this.#running >= batchesAtOnce,
        failedInside: (error) => {
          failuresInside += 1;
          // Many lines may fail for the same reason.
          if (failuresInside === 1) log.error('a line of a batch failed inside', error, { batch: batch.id });
        },
        times: this.#times,
      });
      const end = await lines.run(signal);
      if (end !== 'all') checkpoints.rewind();
      else if (!(await batches.finalize(batch.id, runner, unixSeconds(clock)))) {
        const now = await batches.look(batch.id, runner);
        if (now?.status === 'in_progress') throw new Error('the counts of a batch do not add up');
      }
      return end === 'all' || end === 'stopped' ? 'goes on' : 'waits';
    } finally {
      share.leave();
      this.#retries.keep(batch.id, retries);
    }
  }

  /** A batch that was cancelled before its input was checked has no lines. */
  async #writeOff(batch: BatchRecord, as: 'cancelled' | 'expired', held: Held): Promise<void> {
    const { clock } = this.#parts;
    const { checkpoints, signal } = held;
    if (batch.times.inProgress !== undefined) {
      const lines = inputLines(this.#parts, batch, signal, checkpoints.next);
      const isOurs = await writeOff(lines, checkpoints, WRITTEN_OFF[as], new EventLoopTurns(clock));
      if (!isOurs) return;
    }
    await this.#end(batch, as, held);
  }

  async #end(
    batch: BatchRecord,
    status: EndWithFiles,
    { runner, signal }: Held,
    faults: readonly BatchFault[] = [],
  ): Promise<void> {
    const { batches, blobs, clock, log } = this.#parts;
    const { id, organization } = batch;
    const { files, lostParts } = await storeResultFiles(this.#parts, batch, signal);
    const all = lostParts === 0 ? faults : [...faults, RESULTS_LOST];
    if (await batches.end(id, runner, { status, files, faults: all, at: unixSeconds(clock) })) {
      if (lostParts > 0) {
        const lost = new Error('parts of a batch are gone');
        log.error('a batch has lost results', lost, { batch: id, organization, parts: lostParts });
      }
      this.#ended(batch, status);
      await blobs.deleteAll(partsPrefix(batch.id), signal);
    } else await dropResultFiles(blobs, files);
  }

  #taken({ id, organization, status, times }: BatchRecord, isFirst: boolean, line: number): void {
    const { metrics, log, clock } = this.#parts;
    if (isFirst) metrics.wait.observe({}, unixSeconds(clock) - times.created);
    log.info('batch taken', { batch: id, organization, status, line });
  }

  #ended({ id, organization, times }: BatchRecord, status: EndWithFiles | 'failed'): void {
    const { metrics, log, clock } = this.#parts;
    metrics.ended.add({ status });
    log.info('batch ended', { batch: id, organization, status, seconds: unixSeconds(clock) - times.created });
  }
}
