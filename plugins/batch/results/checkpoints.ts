/** Saves the progress of a runner: result parts first, then everything else in one transaction, guarded by the runner id. */

import type { LineCalls } from '../../../src/contract/accounts/calls.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type {
  BatchPart,
  BatchRecord,
  BatchStore,
  ClaimedBatch,
  SavedCheckpoint,
} from '../../../src/contract/stores/batch-store.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import { creditText } from '../../../src/usage/credit-amounts.ts';
import type { LinePosition } from '../input/line-splitter.ts';
import { partBlob } from './blob-names.ts';
import type { BatchMetrics } from './metrics.ts';
import { type LineResult, PendingResults } from './pending-results.ts';
import { type LineSpan, ProgressWindow } from './progress-window.ts';

/** Number and size of results that trigger a checkpoint. */
const DUE_LINES = 500;
const DUE_BYTES = 4 * 1024 * 1024;
/** Maximum number and size of results that wait while a checkpoint is being written. */
const MAX_LINES = 6 * DUE_LINES;
const MAX_BYTES = 2 * DUE_BYTES;
/** Maximum number of usage rows per checkpoint, because SQLite blocks the event loop while it writes them. */
const MAX_BILLS = DUE_LINES;
/** Timeout for writing the parts of a checkpoint. */
const SAVE_TIMEOUT_MS = 120_000;

export interface CheckpointDeps {
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly lineCalls: LineCalls;
  readonly metrics: Pick<BatchMetrics, 'lines'>;
  readonly log: Logger;
}

export class CheckpointWriter {
  readonly #deps: CheckpointDeps;
  readonly #batch: BatchRecord;
  readonly #runner: string;
  readonly #abandoned: AbortSignal;
  #window: ProgressWindow;
  #pending = new PendingResults();
  #saving: Promise<BatchRecord | undefined> | undefined;
  /** Error of a failed save. Its results are lost, so no later progress may be saved. */
  #failure: { readonly error: unknown } | undefined;
  #savedCount = 0;

  /** @param abandoned fires when nothing must be saved any more. */
  constructor(
    deps: CheckpointDeps,
    { batch, progress }: ClaimedBatch,
    runner: string,
    abandoned: AbortSignal,
  ) {
    this.#deps = deps;
    this.#abandoned = abandoned;
    this.#batch = batch;
    this.#runner = runner;
    this.#window = new ProgressWindow(progress);
  }

  /** Position from which to continue reading. */
  get nextPosition(): LinePosition {
    return this.#window.nextPosition;
  }

  /** Whether the next line may start: not too far ahead of unfinished lines, and not too many unsaved results. */
  canStart(line: LineSpan): boolean {
    const { lines, lengthBytes, bills } = this.#pending;
    const hasCapacity = lines < MAX_LINES && lengthBytes < MAX_BYTES && bills.length < MAX_BILLS;
    return hasCapacity && this.#window.canStart(line);
  }

  /** Starts the next line. Returns false if it already has a result. */
  startLine(line: LineSpan): boolean {
    return this.#window.startLine(line);
  }

  finishLine(number: number, result: LineResult): void {
    this.#window.finishLine(number);
    this.#pending.add(result);
  }

  get isSaving(): boolean {
    return this.#saving !== undefined;
  }

  /** Whether enough results for a checkpoint are pending, none is being written, and none has failed. */
  get isDue(): boolean {
    const { lines, lengthBytes, bills } = this.#pending;
    const isEnough = lines >= DUE_LINES || lengthBytes >= DUE_BYTES || bills.length >= MAX_BILLS;
    return isEnough && !this.isSaving && this.#failure === undefined;
  }

  /** The current batch; undefined if another runner has claimed it. */
  poll(): Promise<BatchRecord | undefined> {
    return this.#deps.batches.refresh(this.#batch.id, this.#runner);
  }

  /** Whether unsaved results have reserved credits. A checkpoint releases the unused part of a reservation. */
  get hasReservedCredits(): boolean {
    return this.isSaving || this.#pending.bills.some(({ hasReservation }) => hasReservation);
  }

  /**
   * Saves all results so far; without results, only polls the batch. Checkpoints are written one after the other.
   * @returns the current batch; undefined if another runner has claimed it, in which case nothing was saved.
   * @throws the errors of the stores. Every later call throws the same error: the results are lost, so the run must end.
   */
  async save(): Promise<BatchRecord | undefined> {
    while (this.#saving !== undefined) await this.#saving;
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#saving = this.#save()
      .catch((error: unknown) => {
        this.#failure = { error };
        throw error;
      })
      .finally(() => {
        this.#saving = undefined;
      });
    return await this.#saving;
  }

  /** Lets started lines without a result start again. */
  rewind(): void {
    this.#window = new ProgressWindow(this.#window.progress());
  }

  /** Discards unsaved results. Must be called at the end of every run. Never rejects. */
  async close(): Promise<void> {
    await this.#saving?.catch(() => undefined);
    const { bills } = this.#pending;
    this.#pending = new PendingResults();
    await this.#deps.lineCalls.discard(bills);
  }

  async #save(): Promise<BatchRecord | undefined> {
    const { batches, lineCalls } = this.#deps;
    const { id } = this.#batch;
    const results = this.#pending;
    if (results.lines === 0) return await this.poll();
    // Results that arrive from here on belong to the next checkpoint.
    const progress = this.#window.progress();
    this.#pending = new PendingResults();
    let saved: SavedCheckpoint | undefined;
    try {
      const { bills, tokens } = results;
      const parts = await this.#write(results);
      const [completed, failed] = [results.countOf('output'), results.countOf('error')];
      const checkpoint = { progress, parts, completed, failed, tokens, bills };
      saved = await batches.checkpoint(id, this.#runner, checkpoint);
      if (saved === undefined) for (const { blob } of parts) await this.#deps.blobs.delete(blob);
    } finally {
      // Also if the outcome of the checkpoint is unknown: calls whose rows were stored are already closed.
      if (saved === undefined) await lineCalls.discard(results.bills);
    }
    if (saved === undefined) return undefined;
    lineCalls.recordStored(results.bills);
    this.#count(results);
    if (saved.uncovered > 0) this.#logUncovered(saved);
    return saved.batch;
  }

  #logUncovered({ batch, uncovered }: SavedCheckpoint): void {
    const { id, organization } = batch;
    const fields = { batch: id, organization, missing: creditText(uncovered) };
    this.#deps.log.warn('lines of a batch cost more than their reserved credits', fields);
  }

  async #write(results: PendingResults): Promise<BatchPart[]> {
    this.#savedCount += 1;
    const sequence = this.#savedCount;
    const signal = AbortSignal.any([this.#abandoned, AbortSignal.timeout(SAVE_TIMEOUT_MS)]);
    const kinds = (['output', 'error'] as const).filter((kind) => results.countOf(kind) > 0);
    return await Promise.all(
      kinds.map(async (kind) => {
        const blob = partBlob(this.#batch.id, this.#runner, sequence, kind);
        const { lengthBytes } = await this.#deps.blobs.write(blob, results.bytesOf(kind), signal);
        return { kind, blob, lengthBytes };
      }),
    );
  }

  #count(results: PendingResults): void {
    const { endpoint } = this.#batch;
    const { lines } = this.#deps.metrics;
    for (const [result, kind] of [
      ['completed', 'output'],
      ['failed', 'error'],
    ] as const) {
      const count = results.countOf(kind);
      if (count > 0) lines.add({ endpoint, result }, count);
    }
  }
}
