/** Runs a batch from its input to its result files. If a process crashes, another process resumes its batches. */

import type { LineCalls } from '../../../src/contract/accounts/calls.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { shuttingDown } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { JobHandler, JobOutcome } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { OperationTable } from '../../../src/contract/engines/operation.ts';
import type {
  BatchError,
  BatchRecord,
  BatchStore,
  STATUS_BEFORE_END,
} from '../../../src/contract/stores/batch-store.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import type { FileStore } from '../../../src/contract/stores/file-store.ts';
import { EventLoopYielder } from '../../../src/kit/async/event-loop-yielder.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { InputLostError, openInput, readInputLines } from '../input/line-reader.ts';
import { ValidationPool } from '../input/validation/pool.ts';
import { partBlobPrefix } from '../results/blob-names.ts';
import { CheckpointWriter } from '../results/checkpoints.ts';
import type { BatchMetrics } from '../results/metrics.ts';
import { deleteResultFiles, storeResultFiles } from '../results/result-files.ts';
import { FairShares } from './fair-share.ts';
import { LineRunner, type LineRunnerTimes } from './line-runner.ts';
import { RetryCache } from './retry-cache.ts';
import { RETRY_TIMES, type RetryTimes } from './retry-policy.ts';
import { SKIP_ERRORS, skipRemaining } from './skip-remaining.ts';
import { type Effect, next } from './state-machine.ts';
import { runWhileStatusUnchanged } from './status-poller.ts';
import { INPUT_LOST, RESULTS_LOST, VALIDATION_FAILURES } from './terminal-errors.ts';

export interface BatchJobDeps {
  readonly batches: BatchStore;
  readonly files: FileStore;
  readonly blobs: BlobStore;
  readonly operations: OperationTable;
  readonly lineCalls: LineCalls;
  readonly metrics: BatchMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Maximum number of lines that run concurrently in this process, over all batches. */
  readonly maxConcurrentLines: number;
  /** Maximum number of batches that run concurrently in this process. */
  readonly maxConcurrentBatches: number;
  /** Maximum length of a line, in bytes: the maximum length of a request body. */
  readonly maxLineBytes: number;
  readonly times?: JobTimes;
  /** Returns a number in [0, 1), for the jitter of retry delays. */
  readonly random?: () => number;
}

export interface JobTimes extends LineRunnerTimes {
  readonly retries: RetryTimes;
}

const TIMES: JobTimes = { pollIntervalMs: 1000, timeSliceMs: 30_000, drainMs: 2000, retries: RETRY_TIMES };

const DONE: JobOutcome = { kind: 'done' };
/** For a batch that yields to others or that another runner has claimed. */
const REQUEUE: JobOutcome = { kind: 'again', delayMs: 0 };

export interface BatchJobHandler extends JobHandler {
  /** Aborts pending saves before the process exits. Other processes repeat the work. Idempotent. */
  abandon(): void;
}

export function batchJob(deps: BatchJobDeps): BatchJobHandler {
  return new BatchJob(deps);
}

type EndWithFiles = keyof typeof STATUS_BEFORE_END;

/** A batch claimed by this process, for the duration of one job. */
interface Claim {
  readonly runner: string;
  readonly checkpoints: CheckpointWriter;
  readonly signal: AbortSignal;
}

class BatchJob implements BatchJobHandler {
  readonly kind = 'batch';
  readonly concurrency: number;
  readonly #deps: BatchJobDeps;
  readonly #times: JobTimes;
  readonly #validation: ValidationPool;
  readonly #shares: FairShares;
  readonly #retries: RetryCache;
  readonly #abandoned = new AbortController();
  #running = 0;

  constructor(deps: BatchJobDeps) {
    const {
      clock,
      maxLineBytes,
      maxConcurrentBatches,
      maxConcurrentLines,
      random = Math.random,
      times = TIMES,
    } = deps;
    this.#deps = deps;
    this.#times = times;
    this.concurrency = maxConcurrentBatches;
    this.#validation = new ValidationPool({ maxLineBytes, waiting: maxConcurrentBatches });
    this.#shares = new FairShares(maxConcurrentLines);
    this.#retries = new RetryCache({ clock, random, times: times.retries });
  }

  abandon(): void {
    this.#abandoned.abort(shuttingDown());
  }

  async runJob(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const { batches, blobs } = this.#deps;
    const runner = crypto.randomUUID();
    const claimed = await batches.claim(id as Id<'batch_'>, runner);
    if (claimed === undefined) {
      // The process that finished the batch may have crashed before it deleted the parts.
      await blobs.deleteAll(partBlobPrefix(id as Id<'batch_'>), signal);
      return DONE;
    }
    const { batch, isFirst, progress } = claimed;
    this.#recordClaim(batch, isFirst, progress.line);
    const checkpoints = new CheckpointWriter(this.#deps, claimed, runner, this.#abandoned.signal);
    this.#running += 1;
    try {
      return await this.#runSteps(batch, { runner, checkpoints, signal });
    } catch (error) {
      // An interruption by shutdown is not an error.
      if (signal.aborted) return REQUEUE;
      throw error;
    } finally {
      this.#running -= 1;
      await checkpoints.close();
    }
  }

  /** Runs one state after the other, until the batch is finished or has to wait. */
  async #runSteps(claimed: BatchRecord, claim: Claim): Promise<JobOutcome> {
    const { batches, clock } = this.#deps;
    let batch: BatchRecord | undefined = claimed;
    while (batch !== undefined) {
      const late = unixSeconds(clock) >= batch.times.expires;
      const [effect] = next(batch.status, { kind: 'claimed', late }).effects;
      if (effect === undefined) return DONE;
      try {
        if ((await this.#perform(effect, batch, claim)) === 'waits') return REQUEUE;
      } catch (error) {
        if (!(error instanceof InputLostError)) throw error;
        await this.#continueWithoutInput(batch, error, claim);
      }
      batch = await batches.refresh(batch.id, claim.runner);
    }
    return REQUEUE;
  }

  /** Retrying cannot recover the input, so the batch ends with the results it has. */
  async #continueWithoutInput(batch: BatchRecord, lost: InputLostError, claim: Claim): Promise<void> {
    const now = await claim.checkpoints.poll();
    // Another runner may have finished the batch, after which the file may be deleted; a cancel ends differently.
    if (now?.status !== batch.status) return;
    const { id, organization } = batch;
    this.#deps.log.error('batch failed permanently', lost, { batch: id, organization });
    const [effect] = next(batch.status, { kind: 'input_lost' }).effects;
    if (effect?.kind === 'store_files') await this.#end(batch, effect.as, claim, [INPUT_LOST]);
    else if (effect !== undefined) await this.#perform(effect, batch, claim);
  }

  async #perform(effect: Effect, batch: BatchRecord, claim: Claim): Promise<'waits' | 'continues'> {
    switch (effect.kind) {
      case 'validate':
        await this.#validate(batch, claim);
        return 'continues';
      case 'fail':
        await this.#fail(batch, [VALIDATION_FAILURES[effect.code]], claim);
        return 'continues';
      case 'run_lines':
        return await this.#runLines(batch, claim);
      case 'skip_remaining':
        await this.#skipRemaining(batch, effect.as, claim);
        return 'continues';
      case 'store_files':
        await this.#end(batch, effect.as, claim);
        return 'continues';
      default:
        throw new Error(`a runner cannot perform the effect '${effect.kind}'`);
    }
  }

  async #validate(batch: BatchRecord, claim: Claim): Promise<void> {
    const { batches, clock } = this.#deps;
    const { runner, checkpoints, signal } = claim;
    const { id, endpoint, organization } = batch;
    const result = await runWhileStatusUnchanged(
      batch,
      { poll: () => checkpoints.poll(), intervalMs: this.#times.pollIntervalMs },
      async (unchanged) => {
        const open = () => openInput(this.#deps, batch, unchanged);
        return await this.#validation.validateInput({ open, endpoint, organization }, unchanged);
      },
      signal,
    );
    if (result?.kind === 'valid')
      await batches.startProcessing(id, runner, { ...result, at: unixSeconds(clock) });
    else if (result?.kind === 'invalid') await this.#fail(batch, result.errors, claim);
  }

  async #fail(batch: BatchRecord, errors: readonly BatchError[], { runner }: Claim): Promise<void> {
    const { batches, clock } = this.#deps;
    if (await batches.fail(batch.id, runner, errors, unixSeconds(clock))) this.#recordEnd(batch, 'failed');
  }

  async #runLines(
    batch: BatchRecord,
    { runner, checkpoints, signal }: Claim,
  ): Promise<'waits' | 'continues'> {
    const { batches, operations, lineCalls, clock, log, maxConcurrentLines, maxConcurrentBatches } =
      this.#deps;
    const retries = this.#retries.takePolicy(batch.id);
    const share = this.#shares.join(batch.organization);
    let internalErrors = 0;
    try {
      const lines = new LineRunner({
        batch,
        lineCalls,
        checkpoints,
        retries,
        share,
        clock,
        operation: operations.get(batch.endpoint),
        maxLines: maxConcurrentLines,
        read: (from, stopping) => readInputLines(this.#deps, batch, stopping, from),
        hasWaitingBatches: () => this.#running >= maxConcurrentBatches,
        onInternalError: (error) => {
          internalErrors += 1;
          // Logged once per run, because many lines may fail for the same reason.
          if (internalErrors === 1)
            log.error('a batch line failed with an internal error', error, { batch: batch.id });
        },
        times: this.#times,
      });
      const outcome = await lines.run(signal);
      if (outcome !== 'completed') checkpoints.rewind();
      else if (!(await batches.finalize(batch.id, runner, unixSeconds(clock)))) {
        const now = await batches.refresh(batch.id, runner);
        if (now?.status === 'in_progress') throw new Error('the line counts of a batch are inconsistent');
      }
      return outcome === 'completed' || outcome === 'stopped' ? 'continues' : 'waits';
    } finally {
      share.leave();
      this.#retries.store(batch.id, retries);
    }
  }

  /** A batch that was cancelled during validation has no lines. */
  async #skipRemaining(batch: BatchRecord, as: 'cancelled' | 'expired', claim: Claim): Promise<void> {
    const { clock } = this.#deps;
    const { checkpoints, signal } = claim;
    if (batch.times.inProgress !== undefined) {
      const lines = readInputLines(this.#deps, batch, signal, checkpoints.nextPosition);
      const isOurs = await skipRemaining(lines, checkpoints, SKIP_ERRORS[as], new EventLoopYielder(clock));
      if (!isOurs) return;
    }
    await this.#end(batch, as, claim);
  }

  async #end(
    batch: BatchRecord,
    status: EndWithFiles,
    { runner, signal }: Claim,
    errors: readonly BatchError[] = [],
  ): Promise<void> {
    const { batches, blobs, clock, log } = this.#deps;
    const { id, organization } = batch;
    const { files, lostParts } = await storeResultFiles(this.#deps, batch, signal);
    const all = lostParts === 0 ? errors : [...errors, RESULTS_LOST];
    if (await batches.finish(id, runner, { status, files, errors: all, at: unixSeconds(clock) })) {
      if (lostParts > 0) {
        const lost = new Error('result parts are missing');
        log.error('a batch lost results', lost, { batch: id, organization, parts: lostParts });
      }
      this.#recordEnd(batch, status);
      await blobs.deleteAll(partBlobPrefix(batch.id), signal);
    } else await deleteResultFiles(blobs, files);
  }

  #recordClaim({ id, organization, status, times }: BatchRecord, isFirst: boolean, line: number): void {
    const { metrics, log, clock } = this.#deps;
    if (isFirst) metrics.wait.observe({}, unixSeconds(clock) - times.created);
    log.info('batch claimed', { batch: id, organization, status, line });
  }

  #recordEnd({ id, organization, times }: BatchRecord, status: EndWithFiles | 'failed'): void {
    const { metrics, log, clock } = this.#deps;
    metrics.finished.add({ status });
    log.info('batch finished', {
      batch: id,
      organization,
      status,
      seconds: unixSeconds(clock) - times.created,
    });
  }
}
