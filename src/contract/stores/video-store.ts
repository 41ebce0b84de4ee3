/** Video jobs, per organization (spec 2.4, 3.2; openai-wire 7). Clips and segments lie in the {@link BlobStore}. */

import type { MicroCredits } from '../accounts/accounts-store.ts';
import type { JobBill } from '../accounts/calls.ts';
import type { Id } from '../core/id.ts';
import type { ClipFacts, VideoSegment } from '../engines/video.ts';
import type { BlobFacts } from './blob-store.ts';
import type { IdempotencyKey } from './file-store.ts';

/** Spec 3.2. */
export const VIDEO_STATUSES = ['queued', 'in_progress', 'completed', 'failed'] as const;
export type VideoStatus = (typeof VIDEO_STATUSES)[number];

/** Those after which nothing happens any more. */
export const FINAL_VIDEO_STATUSES: ReadonlySet<VideoStatus> = new Set(['completed', 'failed']);
/** All others. */
export const OPEN_VIDEO_STATUSES: readonly VideoStatus[] = VIDEO_STATUSES.filter((status) => !FINAL_VIDEO_STATUSES.has(status));

/** Why a job failed, for its owner (openai-wire 7). */
export interface VideoError {
  readonly code: 'generation_failed' | 'content_policy_violation' | 'upstream_error' | 'timeout';
  readonly message: string;
}

/** What a job made, with the blobs that it lies in. */
export interface GeneratedVideo {
  readonly segment: VideoSegment;
  readonly video: BlobFacts;
  readonly thumbnail: BlobFacts;
}

export interface VideoRecord {
  readonly id: Id<'video'>;
  readonly organization: string;
  /** Its call: the usage row that it becomes. */
  readonly call: Id<'usage'>;
  readonly requestId: Id<'request'>;
  readonly model: string;
  readonly prompt: string;
  readonly status: VideoStatus;
  /** Who has it, or had it last: only that one may write. */
  readonly runner?: string | undefined;
  /** Unix seconds, as all times here. */
  readonly createdAt: number;
  /** When it had its first runner. */
  readonly startedAt?: number | undefined;
  readonly completedAt?: number | undefined;
  /** Asked for. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly audio: boolean;
  /** What is continued. Its bytes are {@link inputBlob} until the job has ended. */
  readonly clip: ClipFacts;
  /** The job whose segment it is; undefined for an upload. */
  readonly source?: Id<'video'> | undefined;
  /** Of completed jobs only. */
  readonly made?: GeneratedVideo | undefined;
  /** Of failed jobs only. */
  readonly error?: VideoError | undefined;
  /** What its engine said of how it makes segments (`VideoEngine.note`). */
  readonly note?: string | undefined;
  /** What its engine wants to go on from (`ExtensionWork.remember`). */
  readonly remembered?: string | undefined;
}

/** Begins the names of all blobs of a job, and of no other's. */
export function videoBlobs(id: Id<'video'>): string {
  return `videos/${id}/`;
}

/** The clip that a job continues. */
export function inputBlob(id: Id<'video'>): string {
  return `${videoBlobs(id)}input`;
}

/** What a runner made. Each has names of its own, so that one that was taken for dead overwrites nothing. */
export function segmentBlob(id: Id<'video'>, runner: string): string {
  return `${videoBlobs(id)}${runner}.mp4`;
}

/** The first frame of what a runner made. */
export function thumbnailBlob(id: Id<'video'>, runner: string): string {
  return `${videoBlobs(id)}${runner}.webp`;
}

/** What tells which blobs a job needs. */
export type VideoState = Pick<VideoRecord, 'id' | 'status' | 'runner'>;

/** How much one organization may have. */
export interface VideoQuota {
  /** Jobs that have not ended. */
  readonly maxOpen: number;
  /** Bytes of clips of open jobs and of segments, together. */
  readonly maxBytes: number;
}

export interface VideoPage {
  readonly videos: readonly VideoRecord[];
  readonly hasMore: boolean;
}

/** How a job ends. */
export type VideoOutcome =
  | { readonly status: 'completed'; readonly made: GeneratedVideo; readonly at: number }
  | { readonly status: 'failed'; readonly error: VideoError; readonly at: number };

/**
 * What belongs to another organization is answered as if it did not exist. Every method is one transaction. Moves are
 * those of docs/states/video.md: one that the state does not allow changes nothing.
 */
export interface VideoStore {
  /**
   * Stores a job that is `queued`, and reserves credits for it in the same step.
   * @param reserved the most that it may cost.
   * @returns the job that an earlier request with the same key made, else `video` itself; what is available, when that is
   *   less than is to be reserved and nothing happened.
   * @throws ServiceError `conflict` (code `idempotency_conflict`) when the key came with another fingerprint;
   *   `rate_limited` when the organization has too many open; `invalid_request` (code `storage_limit_exceeded`) when there
   *   is no room for the clip; `not_found` (param `video`) when the job that it continues is not there any more.
   */
  create(
    video: VideoRecord,
    reserved: MicroCredits,
    room: VideoQuota,
    idempotency?: IdempotencyKey,
  ): Promise<{ readonly video: VideoRecord } | { readonly available: MicroCredits }>;
  /** @throws ServiceError as `create` would for a clip of one byte. */
  requireCapacity(organization: string, room: VideoQuota): Promise<void>;
  get(organization: string, id: string): Promise<VideoRecord | undefined>;
  /**
   * @param query.after id of the last job of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) when no such job belongs to the organization.
   */
  list(query: {
    organization: string;
    limit: number;
    order: 'asc' | 'desc';
    after?: string | undefined;
  }): Promise<VideoPage>;
  /**
   * Forgets a job that has ended, not its blobs. False when there is none.
   * @throws ServiceError `conflict` (code `video_in_use`) for one that has not ended, and for one that a job continues
   *   which has not ended.
   */
  delete(organization: string, id: string): Promise<boolean>;
  /**
   * Gives a job to a runner, `queued` becomes `in_progress`: from here on what other runners write is refused.
   * @param runner a name that no other claim has, of `a-z 0-9 -`.
   * @returns undefined when there is no such job or it has ended.
   */
  claim(id: Id<'video'>, runner: string, at: number): Promise<VideoRecord | undefined>;
  /** Keeps what the engine wants to go on from. False when another runner has the job. */
  saveEngineState(id: Id<'video'>, runner: string, state: string): Promise<boolean>;
  /**
   * Ends a job that is `in_progress` and settles what it costs, with its usage row, in the same step.
   * @param bill of its call. What it costs beyond what is reserved is taken from what is available, as far as that goes.
   * @returns false when another runner has it: nothing was changed.
   */
  finish(id: Id<'video'>, runner: string, end: VideoOutcome, bill: JobBill): Promise<boolean>;
  /** Ids of jobs of every organization that have not ended, oldest first, for queues that have lost them. */
  listOpen(limit: number, after?: Id<'video'>): Promise<readonly Id<'video'>[]>;
  /** Those of these ids that are jobs. */
  listStates(ids: readonly Id<'video'>[]): Promise<readonly VideoState[]>;
}
