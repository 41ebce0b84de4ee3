/** Batches, per organization, and how far each came (spec 2.2, 3.1; openai-wire 3). */

import type { MicroCredits } from '../accounts/accounts-store.ts';
import type { LineBill } from '../accounts/calls.ts';
import type { Id } from '../core/id.ts';
import type { OperationUrl } from '../engines/operation.ts';
import type { FileRecord, IdempotencyKey } from './file-store.ts';

/** Spec 3.1. */
export const BATCH_STATUSES = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Those after which nothing happens any more. */
export const FINAL_BATCH_STATUSES: ReadonlySet<BatchStatus> = new Set(['completed', 'failed', 'expired', 'cancelled']);
/** All others. */
export const OPEN_BATCH_STATUSES: readonly BatchStatus[] = BATCH_STATUSES.filter((status) => !FINAL_BATCH_STATUSES.has(status));
/** From where a batch comes to each end that has result files. */
export const STATUS_BEFORE_END = {
  completed: 'finalizing',
  cancelled: 'cancelling',
  expired: 'in_progress',
} as const;

/** One fault of an input file (openai-wire 3.2). */
export interface BatchError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** From 1. */
  readonly line: number | null;
}

export interface BatchCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/** Sums over the lines that succeeded. */
export interface BatchTokens {
  readonly input: number;
  readonly output: number;
}

/** When a batch came into a state, in Unix seconds. */
export interface BatchTimes {
  readonly created: number;
  readonly expires: number;
  readonly inProgress?: number | undefined;
  readonly finalizing?: number | undefined;
  readonly cancelling?: number | undefined;
  readonly completed?: number | undefined;
  readonly failed?: number | undefined;
  readonly expired?: number | undefined;
  readonly cancelled?: number | undefined;
}

export interface BatchRecord {
  readonly id: Id<'batch'>;
  readonly organization: string;
  /** Of the caller who made it: rows of its lines are that key's. */
  readonly keyId: string;
  readonly endpoint: OperationUrl;
  readonly inputFile: Id<'file'>;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Seconds after which its result files expire; undefined is never. */
  readonly outputExpiresAfterS?: number | undefined;
  readonly status: BatchStatus;
  readonly times: BatchTimes;
  readonly counts: BatchCounts;
  readonly tokens: BatchTokens;
  /** When all lines name the same. */
  readonly model?: string | undefined;
  /** At most 100, of a batch whose input was refused. */
  readonly faults: readonly BatchError[];
  readonly outputFile?: Id<'file'> | undefined;
  readonly errorFile?: Id<'file'> | undefined;
}

/**
 * What is behind a batch: every line before `line` has its result in a part, and of those from there on, the ones
 * in `ahead`.
 */
export interface BatchProgress {
  /** Where the first line without a result begins, in bytes of the input file. */
  readonly offsetBytes: number;
  /** Its number, from 1. */
  readonly line: number;
  /** Numbers of later lines that have a result, growing; at most {@link MAX_LINES_AHEAD}. */
  readonly ahead: readonly number[];
}

export const MAX_LINES_AHEAD = 1024;

/** Results in a blob, some lines each. */
export interface BatchPart {
  readonly kind: 'output' | 'error';
  /** Name of its blob. */
  readonly blob: string;
  readonly lengthBytes: number;
}

/** A batch in the hands of one runner. */
export interface ClaimedBatch {
  readonly batch: BatchRecord;
  /** Whether nobody had it before. */
  readonly isFirst: boolean;
  readonly progress: BatchProgress;
}

/** What a checkpoint has come to. */
export interface SavedCheckpoint {
  /** As it is after it. */
  readonly batch: BatchRecord;
  /** What its lines cost beyond the credits that there were for them, which nobody is charged. */
  readonly uncovered: MicroCredits;
}

/** What has been done since the last checkpoint. */
export interface Checkpoint {
  readonly progress: BatchProgress;
  readonly parts: readonly BatchPart[];
  /** Added to the counts. */
  readonly completed: number;
  readonly failed: number;
  readonly tokens: BatchTokens;
  /** Usage rows of these lines, and what they cost. */
  readonly bills: readonly LineBill[];
}

export interface BatchPage {
  readonly batches: readonly BatchRecord[];
  readonly hasMore: boolean;
}

/** Result files of a batch that ends; absent when it would be empty. */
export interface BatchFiles {
  readonly output?: FileRecord | undefined;
  readonly error?: FileRecord | undefined;
}

/**
 * What belongs to another organization is answered as if it did not exist. Every method is one transaction. Moves
 * are those of docs/states/batch.md: one that the state does not allow changes nothing.
 */
export interface BatchStore {
  /**
   * Stores a batch that is `validating`.
   * @param maxOpen batches of one organization that may not have ended.
   * @returns the batch that an earlier request with the same key made, else `batch` itself.
   * @throws ServiceError `invalid_request` (param `input_file_id`) when the organization has no such file of purpose
   *   `batch`; `conflict` (code `idempotency_conflict`) when the key came with another fingerprint; `rate_limited`
   *   when the organization has `maxOpen` batches open.
   */
  create(batch: BatchRecord, maxOpen: number, idempotency?: IdempotencyKey): Promise<BatchRecord>;
  get(organization: string, id: string): Promise<BatchRecord | undefined>;
  /**
   * Newest first.
   * @throws ServiceError `invalid_request` (param `after`) when no such batch belongs to the organization.
   */
  list(query: { organization: string; limit: number; after?: string | undefined }): Promise<BatchPage>;
  /**
   * `validating` and `in_progress` become `cancelling`; any other state stays.
   * @returns the batch after it and whether it is being cancelled; undefined when there is none.
   */
  cancel(
    organization: string,
    id: string,
    at: number,
  ): Promise<{ readonly batch: BatchRecord; readonly accepted: boolean } | undefined>;

  /**
   * Gives a batch to a runner: from here on what other runners write is refused.
   * @param runner a name that no other claim has.
   * @returns undefined when there is no such batch or it has ended.
   */
  claim(id: Id<'batch'>, runner: string): Promise<ClaimedBatch | undefined>;
  /**
   * The batch as it is now, for its runner.
   * @returns undefined when another runner has it.
   */
  refresh(id: Id<'batch'>, runner: string): Promise<BatchRecord | undefined>;
  /** `validating` to `in_progress`. False when another runner has it or it was cancelled meanwhile. */
  startProcessing(
    id: Id<'batch'>,
    runner: string,
    facts: { readonly total: number; readonly model: string | undefined; readonly at: number },
  ): Promise<boolean>;
  /** `validating` to `failed`. False when another runner has it or it was cancelled meanwhile. */
  fail(id: Id<'batch'>, runner: string, faults: readonly BatchError[], at: number): Promise<boolean>;
  /**
   * Saves results, progress, counts, usage rows and charges at once: all of it or nothing. Only while the batch is
   * `in_progress`, `cancelling` or on its way to expiry.
   * @returns undefined when another runner has it, and then nothing was saved.
   */
  checkpoint(id: Id<'batch'>, runner: string, checkpoint: Checkpoint): Promise<SavedCheckpoint | undefined>;
  /** `in_progress` to `finalizing`, when every line has a result. False when another runner has it or it was cancelled. */
  finalize(id: Id<'batch'>, runner: string, at: number): Promise<boolean>;
  /** Parts of every checkpoint, in their order. */
  listParts(id: Id<'batch'>): Promise<readonly BatchPart[]>;
  /**
   * Ends a batch with its result files, which are noted in the same step: `finalizing` to `completed`, `cancelling`
   * to `cancelled`, `in_progress` to `expired`. Its parts are forgotten.
   * @returns false when another runner has it.
   */
  finish(
    id: Id<'batch'>,
    runner: string,
    end: {
      readonly status: 'completed' | 'cancelled' | 'expired';
      readonly files: BatchFiles;
      /** What was lost; absent is nothing. */
      readonly faults?: readonly BatchError[] | undefined;
      readonly at: number;
    },
  ): Promise<boolean>;
  /** Ids of batches of every organization that have not ended, oldest first, for queues that have lost them. */
  listOpen(limit: number, after?: Id<'batch'>): Promise<readonly Id<'batch'>[]>;
}
