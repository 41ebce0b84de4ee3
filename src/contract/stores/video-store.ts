/**
 * Video jobs per organization (spec 2.4, 3.2; openai-wire 7). Clips and segments are stored in the {@link
 * BlobStore}.
 */

import type { MicroCredits } from '../accounts/accounts-store.ts';
import type { JobBill } from '../accounts/calls.ts';
import type { Id } from '../core/id.ts';
import type { ClipFacts, VideoSegment } from '../engines/video.ts';
import type { BlobFacts } from './blob-store.ts';
import type { IdempotencyKey } from './file-store.ts';

/** Spec 3.2. */
export const VIDEO_STATUSES = ['queued', 'in_progress', 'completed', 'failed'] as const;
export type VideoStatus = (typeof VIDEO_STATUSES)[number];

/** Final statuses. */
export const FINAL_VIDEO_STATUSES: ReadonlySet<VideoStatus> = new Set(['completed', 'failed']);
/** Statuses of jobs that have not finished. */
export const OPEN_VIDEO_STATUSES: readonly VideoStatus[] = VIDEO_STATUSES.filter(
  (status) => !FINAL_VIDEO_STATUSES.has(status),
);

/** Reason of a failed job, as returned to the client (openai-wire 7). */
export interface VideoError {
  readonly code: 'generation_failed' | 'content_policy_violation' | 'upstream_error' | 'timeout';
  readonly message: string;
}

/** Generated segment and its blobs. */
export interface GeneratedVideo {
  readonly segment: VideoSegment;
  readonly video: BlobFacts;
  readonly thumbnail: BlobFacts;
}

export interface VideoRecord {
  readonly id: Id<'video_'>;
  readonly organization: string;
  /** Id of its billed call, and of the later usage row. */
  readonly call: Id<'usage_'>;
  readonly requestId: Id<'req_'>;
  readonly model: string;
  readonly prompt: string;
  readonly status: VideoStatus;
  /** Current or last runner. Only this runner may write. */
  readonly runner?: string | undefined;
  /** Unix seconds, like all times of this record. */
  readonly createdAt: number;
  /** Time of the first claim. */
  readonly startedAt?: number | undefined;
  readonly completedAt?: number | undefined;
  /** Requested length. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly audio: boolean;
  /** Input clip. Its blob {@link inputBlob} exists until the job has finished. */
  readonly clip: ClipFacts;
  /** Job whose segment is the input clip; undefined for an upload. */
  readonly source?: Id<'video_'> | undefined;
  /** Only for completed jobs. */
  readonly result?: GeneratedVideo | undefined;
  /** Only for failed jobs. */
  readonly error?: VideoError | undefined;
  /** Note of the engine on how it generates segments (`VideoEngine.note`). */
  readonly note?: string | undefined;
  /** State that the engine saved to resume the job (`ExtensionWork.saveState`). */
  readonly savedState?: string | undefined;
}

/** Returns the prefix of the names of all blobs of a job. */
export function videoBlobs(id: Id<'video_'>): string {
  return `videos/${id}/`;
}

/** Returns the blob name of the input clip. */
export function inputBlob(id: Id<'video_'>): string {
  return `${videoBlobs(id)}input`;
}

/**
 * Returns the blob name of the segment of a runner. Each runner has its own name, so that a runner that lost
 * its claim overwrites nothing.
 */
export function segmentBlob(id: Id<'video_'>, runner: string): string {
  return `${videoBlobs(id)}${runner}.mp4`;
}

/** Returns the blob name of the first frame of the segment of a runner. */
export function thumbnailBlob(id: Id<'video_'>, runner: string): string {
  return `${videoBlobs(id)}${runner}.webp`;
}

/** Fields that determine which blobs a job needs. */
export type VideoState = Pick<VideoRecord, 'id' | 'status' | 'runner'>;

/** Limits of one organization. */
export interface VideoQuota {
  /** Maximum number of unfinished jobs. */
  readonly maxOpen: number;
  /** Maximum total size of input clips of unfinished jobs and of segments, in bytes. */
  readonly maxBytes: number;
}

export interface VideoPage {
  readonly videos: readonly VideoRecord[];
  readonly hasMore: boolean;
}

/** Outcome of a job. */
export type VideoOutcome =
  | { readonly status: 'completed'; readonly result: GeneratedVideo; readonly at: number }
  | { readonly status: 'failed'; readonly error: VideoError; readonly at: number };

/**
 * Resources of other organizations are treated as missing. Each method is one transaction. State transitions
 * follow docs/states/video.md; a transition that the state does not allow changes nothing.
 */
export interface VideoStore {
  /**
   * Stores a `queued` job and reserves credits for it in the same transaction.
   * @param reserved maximum cost.
   * @param quota limits of the organization.
   * @returns the job of an earlier request with the same idempotency key, otherwise `video`; or the available
   *   credits if they do not cover the reservation and nothing was changed.
   * @throws ServiceError `conflict` (code `idempotency_conflict`) if the key was used with another
   *   fingerprint; `rate_limited` if the organization has too many unfinished jobs; `invalid_request` (code
   *   `storage_limit_exceeded`) if the clip exceeds the storage quota; `not_found` (param `video`) if the job
   *   of the input clip does not exist.
   */
  create(
    video: VideoRecord,
    reserved: MicroCredits,
    quota: VideoQuota,
    idempotency?: IdempotencyKey,
  ): Promise<{ readonly video: VideoRecord } | { readonly available: MicroCredits }>;
  /**
   * Checks the quota.
   * @throws ServiceError as `create` for a clip of one byte.
   */
  requireCapacity(organization: string, quota: VideoQuota): Promise<void>;
  get(organization: string, id: string): Promise<VideoRecord | undefined>;
  /**
   * Lists jobs.
   * @param query.after id of the last job of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) if the organization has no such job.
   */
  list(query: {
    organization: string;
    limit: number;
    order: 'asc' | 'desc';
    after?: string | undefined;
  }): Promise<VideoPage>;
  /**
   * Deletes a finished job, but not its blobs.
   * @returns false if it does not exist.
   * @throws ServiceError `conflict` (code `video_in_use`) if the job, or a job that continues it, has not
   *   finished.
   */
  delete(organization: string, id: string): Promise<boolean>;
  /**
   * Assigns a job to a runner and changes `queued` to `in_progress`. Writes of earlier runners are rejected
   * from then on.
   * @param runner unique name of this claim, of `a-z 0-9 -`.
   * @returns undefined if the job does not exist or has finished.
   */
  claim(id: Id<'video_'>, runner: string, at: number): Promise<VideoRecord | undefined>;
  /**
   * Stores the state that the engine needs to resume.
   * @returns false if another runner has the job.
   */
  saveEngineState(id: Id<'video_'>, runner: string, state: string): Promise<boolean>;
  /**
   * Finishes an `in_progress` job and settles its cost with the usage row in the same transaction.
   * @param bill of the job's call. Cost beyond the reservation is taken from the available credits as far as
   *   they suffice.
   * @returns false if another runner has the job and nothing was changed.
   */
  finish(id: Id<'video_'>, runner: string, end: VideoOutcome, bill: JobBill): Promise<boolean>;
  /**
   * Lists unfinished jobs of all organizations, oldest first, so that jobs missing in the queue are enqueued
   * again.
   */
  listOpen(limit: number, after?: Id<'video_'>): Promise<readonly Id<'video_'>[]>;
  /** Returns the states of the jobs that exist. */
  listStates(ids: readonly Id<'video_'>[]): Promise<readonly VideoState[]>;
}
