/** Batches per organization, and their progress (spec 2.2, 3.1; openai-wire 3). */

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

/** Final statuses. */
export const FINAL_BATCH_STATUSES: ReadonlySet<BatchStatus> = new Set([
  'completed',
  'failed',
  'expired',
  'cancelled',
]);
/** Statuses of batches that have not finished. */
export const OPEN_BATCH_STATUSES: readonly BatchStatus[] = BATCH_STATUSES.filter(
  (status) => !FINAL_BATCH_STATUSES.has(status),
);
/** Status before each final status that has result files. */
export const STATUS_BEFORE_END = {
  completed: 'finalizing',
  cancelled: 'cancelling',
  expired: 'in_progress',
} as const;

/** Validation error of an input file (openai-wire 3.2). */
export interface BatchError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Line number, starting at 1. */
  readonly line: number | null;
}

export interface BatchCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
}

/** Token usage of the successful lines. */
export interface BatchTokens {
  readonly input: number;
  readonly output: number;
}

/** Time at which the batch entered each status, in Unix seconds. */
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
  readonly id: Id<'batch_'>;
  readonly organization: string;
  /** API key that created the batch. Usage rows of its lines are billed to this key. */
  readonly keyId: string;
  readonly endpoint: OperationUrl;
  readonly inputFile: Id<'file-'>;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Lifetime of the result files in seconds; undefined means unlimited. */
  readonly outputExpiresAfterS?: number | undefined;
  readonly status: BatchStatus;
  readonly times: BatchTimes;
  readonly counts: BatchCounts;
  readonly tokens: BatchTokens;
  /** Model, if all lines use the same one. */
  readonly model?: string | undefined;
  /** Validation errors of the input, at most 100. */
  readonly errors: readonly BatchError[];
  readonly outputFile?: Id<'file-'> | undefined;
  readonly errorFile?: Id<'file-'> | undefined;
}

/** Progress of a batch: all lines before `line`, and the later lines in `ahead`, have a stored result. */
export interface BatchProgress {
  /** Byte offset in the input file of the first line without a result. */
  readonly offsetBytes: number;
  /** Number of that line, starting at 1. */
  readonly line: number;
  /** Numbers of later lines with a result, ascending; at most {@link MAX_LINES_AHEAD}. */
  readonly ahead: readonly number[];
}

export const MAX_LINES_AHEAD = 1024;

/** A blob with the results of some lines. */
export interface BatchPart {
  readonly kind: 'output' | 'error';
  /** Blob name. */
  readonly blob: string;
  readonly lengthBytes: number;
}

/** A batch claimed by a runner. */
export interface ClaimedBatch {
  readonly batch: BatchRecord;
  /** Whether this is the first claim of the batch. */
  readonly isFirst: boolean;
  readonly progress: BatchProgress;
}

/** Result of a checkpoint. */
export interface SavedCheckpoint {
  /** Batch after the checkpoint. */
  readonly batch: BatchRecord;
  /** Cost of the lines beyond the available credits, which is not charged. */
  readonly uncovered: MicroCredits;
}

/** Work since the last checkpoint. */
export interface Checkpoint {
  readonly progress: BatchProgress;
  readonly parts: readonly BatchPart[];
  /** Number of lines to add to the counts. */
  readonly completed: number;
  readonly failed: number;
  readonly tokens: BatchTokens;
  /** Usage rows and costs of these lines. */
  readonly bills: readonly LineBill[];
}

export interface BatchPage {
  readonly batches: readonly BatchRecord[];
  readonly hasMore: boolean;
}

/** Result files of a finished batch; absent if empty. */
export interface BatchFiles {
  readonly output?: FileRecord | undefined;
  readonly error?: FileRecord | undefined;
}

/**
 * Resources of other organizations are treated as missing. Each method is one transaction. State transitions
 * follow docs/states/batch.md; a transition that the state does not allow changes nothing.
 */
export interface BatchStore {
  /**
   * Stores a `validating` batch.
   * @param maxOpen maximum number of unfinished batches of an organization.
   * @returns the batch of an earlier request with the same idempotency key, otherwise `batch`.
   * @throws ServiceError `invalid_request` (param `input_file_id`) if the organization has no such file of
   *   purpose `batch`; `conflict` (code `idempotency_conflict`) if the key was used with another fingerprint;
   *   `rate_limited` if the organization has `maxOpen` unfinished batches.
   */
  create(batch: BatchRecord, maxOpen: number, idempotency?: IdempotencyKey): Promise<BatchRecord>;
  get(organization: string, id: string): Promise<BatchRecord | undefined>;
  /**
   * Lists batches, newest first.
   * @throws ServiceError `invalid_request` (param `after`) if the organization has no such batch.
   */
  list(query: { organization: string; limit: number; after?: string | undefined }): Promise<BatchPage>;
  /**
   * Changes `validating` and `in_progress` to `cancelling`; other statuses stay.
   * @returns the batch, and whether it is being cancelled; undefined if it does not exist.
   */
  cancel(
    organization: string,
    id: string,
    at: number,
  ): Promise<{ readonly batch: BatchRecord; readonly accepted: boolean } | undefined>;

  /**
   * Assigns a batch to a runner. Writes of earlier runners are rejected from then on.
   * @param runner unique name of this claim.
   * @returns undefined if the batch does not exist or has finished.
   */
  claim(id: Id<'batch_'>, runner: string): Promise<ClaimedBatch | undefined>;
  /**
   * Returns the current batch for its runner.
   * @returns undefined if another runner has it.
   */
  refresh(id: Id<'batch_'>, runner: string): Promise<BatchRecord | undefined>;
  /**
   * Changes `validating` to `in_progress`.
   * @returns false if another runner has the batch or it was cancelled.
   */
  startProcessing(
    id: Id<'batch_'>,
    runner: string,
    facts: { readonly total: number; readonly model: string | undefined; readonly at: number },
  ): Promise<boolean>;
  /**
   * Changes `validating` to `failed`.
   * @returns false if another runner has the batch or it was cancelled.
   */
  fail(id: Id<'batch_'>, runner: string, errors: readonly BatchError[], at: number): Promise<boolean>;
  /**
   * Saves results, progress, counts, usage rows and charges in one transaction. Allowed while the batch is
   * `in_progress` (also while it expires) or `cancelling`.
   * @returns undefined if another runner has the batch and nothing was saved.
   */
  checkpoint(id: Id<'batch_'>, runner: string, checkpoint: Checkpoint): Promise<SavedCheckpoint | undefined>;
  /**
   * Changes `in_progress` to `finalizing`, after every line has a result.
   * @returns false if another runner has the batch or it was cancelled.
   */
  finalize(id: Id<'batch_'>, runner: string, at: number): Promise<boolean>;
  /** Lists the result parts of all checkpoints, in order. */
  listParts(id: Id<'batch_'>): Promise<readonly BatchPart[]>;
  /**
   * Finishes a batch and stores its result files in the same transaction: `finalizing` to `completed`,
   * `cancelling` to `cancelled`, `in_progress` to `expired`. Removes its parts.
   * @returns false if another runner has the batch.
   */
  finish(
    id: Id<'batch_'>,
    runner: string,
    end: {
      readonly status: 'completed' | 'cancelled' | 'expired';
      readonly files: BatchFiles;
      /** Errors of lost results; absent if nothing was lost. */
      readonly errors?: readonly BatchError[] | undefined;
      readonly at: number;
    },
  ): Promise<boolean>;
  /**
   * Lists unfinished batches of all organizations, oldest first, so that jobs missing in the queue are
   * enqueued again.
   */
  listOpen(limit: number, after?: Id<'batch_'>): Promise<readonly Id<'batch_'>[]>;
}
