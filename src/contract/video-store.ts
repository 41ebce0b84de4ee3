/** Video jobs, per organization (spec 2.4, 3.2; openai-wire 7). Clips and segments lie in the {@link BlobStore}. */

import type { Consumption } from './calls.ts';
import type { Id } from './id.ts';
import type { ClipFacts, VideoSegment } from './video.ts';

/** Spec 3.2. */
export const VIDEO_STATUSES = ['queued', 'in_progress', 'completed', 'failed'] as const;
export type VideoStatus = (typeof VIDEO_STATUSES)[number];

/** Why a job failed, for its owner. */
export interface VideoError {
  readonly code: string;
  readonly message: string;
}

export interface VideoRecord {
  readonly id: Id<'video'>;
  readonly organization: string;
  /** Of the caller who made it: its usage row is that key's. */
  readonly keyId: string;
  readonly requestId: Id<'request'>;
  readonly model: string;
  readonly prompt: string;
  readonly status: VideoStatus;
  /** Unix seconds, as all times here. */
  readonly createdAt: number;
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
  /** Made; of completed jobs only. */
  readonly segment?: VideoSegment | undefined;
  readonly lengthBytes?: number | undefined;
  readonly error?: VideoError | undefined;
  /** What its engine wants to go on from (`ExtensionWork.remember`). */
  readonly remembered?: string | undefined;
}

/** Blobs of a job: the clip that it continues, what it made, and that one's first frame. */
export function inputBlob(id: Id<'video'>): string {
  return `videos/${id}/input`;
}
export function segmentBlob(id: Id<'video'>): string {
  return `videos/${id}/segment`;
}
export function thumbnailBlob(id: Id<'video'>): string {
  return `videos/${id}/thumbnail`;
}

export interface VideoPage {
  readonly videos: readonly VideoRecord[];
  readonly hasMore: boolean;
}

/**
 * What belongs to another organization is answered as if it did not exist. Every method is one transaction. Moves are
 * those of docs/states/video.md: one that the state does not allow changes nothing.
 */
export interface VideoStore {
  /**
   * Stores a job that is `queued`, and reserves credits for the most that it may cost, in the same step.
   * @param mostOpen jobs of one organization that may not have ended.
   * @throws ServiceError `insufficient_quota`, `rate_limited`.
   */
  create(video: VideoRecord, most: Consumption, mostOpen: number): Promise<void>;
  get(organization: string, id: string): Promise<VideoRecord | undefined>;
  /** @throws ServiceError `invalid_request` (param `after`) when no such job belongs to the organization. */
  list(query: {
    organization: string;
    limit: number;
    order: 'asc' | 'desc';
    after?: string | undefined;
  }): Promise<VideoPage>;
  /**
   * Forgets a job that has ended, not its blobs. False when there is none.
   * @throws ServiceError `conflict` (code `video_in_use`) for one that has not ended.
   */
  delete(organization: string, id: string): Promise<boolean>;
  /**
   * Gives a job to a runner, `queued` becomes `in_progress`: from here on what other runners write is refused.
   * @param runner a name that no other claim has.
   * @returns undefined when there is no such job or it has ended.
   */
  claim(id: Id<'video'>, runner: string, at: number): Promise<VideoRecord | undefined>;
  /** Keeps what the engine wants to go on from. False when another runner has the job. */
  remember(id: Id<'video'>, runner: string, state: string): Promise<boolean>;
  /**
   * Ends a job and settles what it costs, with its usage row, in the same step; a failed one costs nothing.
   * @returns false when another runner has it: nothing was changed.
   */
  end(
    id: Id<'video'>,
    runner: string,
    end:
      | {
          readonly status: 'completed';
          readonly segment: VideoSegment;
          readonly lengthBytes: number;
          readonly consumed: Consumption;
          readonly at: number;
        }
      | { readonly status: 'failed'; readonly error: VideoError; readonly at: number },
  ): Promise<boolean>;
  /** Ids of jobs of every organization that have not ended, oldest first, for queues that have lost them. */
  open(limit: number, after?: Id<'video'>): Promise<readonly Id<'video'>[]>;
  /** Which of these ids are jobs. */
  known(ids: readonly Id<'video'>[]): Promise<ReadonlySet<Id<'video'>>>;
}
