/** Saves what a runner does: results into parts, then all else in one step of the store, guarded by the runner's name. */

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
import type { LinePlace } from '../input/line-splitter.ts';
import { partBlob } from './blob-names.ts';
import type { BatchMetrics } from './metrics.ts';
import { type LineResult, UnsavedResults } from './pending-results.ts';
import { type LineSpan, LineWindow } from './progress-window.ts';

/** Results that are worth a checkpoint of their own. */
const DUE_LINES = 500;
const DUE_BYTES = 4 * 1024 * 1024;
/** So many may wait while a checkpoint is being written. */
const MAX_LINES = 6 * DUE_LINES;
const MAX_BYTES = 2 * DUE_BYTES;
/** Rows of usage of one checkpoint, which SQLite writes while nobody else is served. */
const MAX_BILLS = DUE_LINES;
/** A store that has not taken a checkpoint by then hangs. */
const SAVE_LIMIT_MS = 120_000;

export interface CheckpointParts {
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly lineCalls: LineCalls;
  readonly metrics: Pick<BatchMetrics, 'lines'>;
  readonly log: Logger;
}

export class Checkpoints {
  readonly #parts: CheckpointParts;
  readonly #batch: BatchRecord;
  readonly #runner: string;
  readonly #leaving: AbortSignal;
  #window: LineWindow;
  #unsaved = new UnsavedResults();
  #saving: Promise<BatchRecord | undefined> | undefined;
  /** What a save threw: its results are gone, so nothing may be saved that says more is behind the batch. */
  #failure: { readonly error: unknown } | undefined;
  #saved = 0;

  /** @param leaving fires when nothing is to be saved any more. */
  constructor(
    parts: CheckpointParts,
    { batch, progress }: ClaimedBatch,
    runner: string,
    leaving: AbortSignal,
  ) {
    this.#parts = parts;
    this.#leaving = leaving;
    this.#batch = batch;
    this.#runner = runner;
    this.#window = new LineWindow(progress);
  }

  /** Where to read on. */
  get next(): LinePlace {
    return this.#window.next;
  }

  /** Whether the next line may begin: neither too far ahead of others, nor with too many results that wait. */
  hasRoomFor(line: LineSpan): boolean {
    const { lines, lengthBytes, bills } = this.#unsaved;
    const hasRoom = lines < MAX_LINES && lengthBytes < MAX_BYTES && bills.length < MAX_BILLS;
    return hasRoom && this.#window.hasRoomFor(line);
  }

  /** Passes the next line; false when it has a result from before. */
  begin(line: LineSpan): boolean {
    return this.#window.begin(line);
  }

  end(number: number, result: LineResult): void {
    this.#window.end(number);
    this.#unsaved.add(result);
  }

  get isSaving(): boolean {
    return this.#saving !== undefined;
  }

  /** Whether there is enough for a checkpoint, none is being written, and none has failed. */
  get isDue(): boolean {
    const { lines, lengthBytes, bills } = this.#unsaved;
    const isEnough = lines >= DUE_LINES || lengthBytes >= DUE_BYTES || bills.length >= MAX_BILLS;
    return isEnough && !this.isSaving && this.#failure === undefined;
  }

  /** The batch as it is now; undefined when another runner has it. */
  look(): Promise<BatchRecord | undefined> {
    return this.#parts.batches.look(this.#batch.id, this.#runner);
  }

  /** Whether results that are not saved yet hold credits, of which a checkpoint gives the rest back. */
  get holdsCredits(): boolean {
    return this.isSaving || this.#unsaved.bills.some(({ held }) => held);
  }

  /**
   * Saves every result so far; without any, looks. Checkpoints are written one after the other.
   * @returns the batch as it is now; undefined when another runner has it, and then nothing was saved.
   * @throws what the stores throw, and from then on always: what was to be saved is lost, so the run must end.
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

  /** Lines that have begun and did not end are to begin again. */
  rewind(): void {
    this.#window = new LineWindow(this.#window.progress());
  }

  /** Lets go what is not saved. To be called at the end of a run, however it ends. Never rejects. */
  async close(): Promise<void> {
    await this.#saving?.catch(() => undefined);
    const { bills } = this.#unsaved;
    this.#unsaved = new UnsavedResults();
    await this.#parts.lineCalls.discard(bills);
  }

  async #save(): Promise<BatchRecord | undefined> {
    const { batches, lineCalls } = this.#parts;
    const { id } = this.#batch;
    const results = this.#unsaved;
    if (results.lines === 0) return await this.look();
    // What ends from here on is the next checkpoint's.
    const progress = this.#window.progress();
    this.#unsaved = new UnsavedResults();
    let saved: SavedCheckpoint | undefined;
    try {
      const { bills, tokens } = results;
      const parts = await this.#write(results);
      const [completed, failed] = [results.countOf('output'), results.countOf('error')];
      const checkpoint = { progress, parts, completed, failed, tokens, bills };
      saved = await batches.checkpoint(id, this.#runner, checkpoint);
      if (saved === undefined) for (const { blob } of parts) await this.#parts.blobs.delete(blob);
    } finally {
      // Those of a checkpoint whose fate is unknown too: a call that has its row is not open any more.
      if (saved === undefined) await lineCalls.discard(results.bills);
    }
    if (saved === undefined) return undefined;
    lineCalls.stored(results.bills);
    this.#count(results);
    if (saved.uncovered > 0) this.#tellUncovered(saved);
    return saved.batch;
  }

  #tellUncovered({ batch, uncovered }: SavedCheckpoint): void {
    const { id, organization } = batch;
    const fields = { batch: id, organization, missing: creditText(uncovered) };
    this.#parts.log.warn('lines of a batch cost more than their credits', fields);
  }

  async #write(results: UnsavedResults): Promise<BatchPart[]> {
    this.#saved += 1;
    const place = this.#saved;
    const signal = AbortSignal.any([this.#leaving, AbortSignal.timeout(SAVE_LIMIT_MS)]);
    const kinds = (['output', 'error'] as const).filter((kind) => results.countOf(kind) > 0);
    return await Promise.all(
      kinds.map(async (kind) => {
        const blob = partBlob(this.#batch.id, this.#runner, place, kind);
        const { lengthBytes } = await this.#parts.blobs.write(blob, results.bytesOf(kind), signal);
        return { kind, blob, lengthBytes };
      }),
    );
  }

  #count(results: UnsavedResults): void {
    const { endpoint } = this.#batch;
    const { lines } = this.#parts.metrics;
    for (const [result, kind] of [
      ['completed', 'output'],
      ['failed', 'error'],
    ] as const) {
      const count = results.countOf(kind);
      if (count > 0) lines.add({ endpoint, result }, count);
    }
  }
}
