/** Creates and manages video jobs. Runners process them; records are stored in SQL, bytes as blobs. */

import { createHash } from 'node:crypto';
import type { MicroCredits } from '../../src/contract/accounts/accounts-store.ts';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import type { JobCalls } from '../../src/contract/accounts/calls.ts';
import type { Clock } from '../../src/contract/core/clock.ts';
import { type ErrorKind, invalidRequest, ServiceError } from '../../src/contract/core/error.ts';
import { type Id, newId } from '../../src/contract/core/id.ts';
import type { JobQueue } from '../../src/contract/core/jobs.ts';
import type { Logger } from '../../src/contract/core/logger.ts';
import type { ClipFacts, VideoEngine } from '../../src/contract/engines/video.ts';
import { type ModelTable, requireModel } from '../../src/contract/model-table.ts';
import type { BlobStore, ByteRange } from '../../src/contract/stores/blob-store.ts';
import {
  FINAL_VIDEO_STATUSES,
  type GeneratedVideo,
  inputBlob,
  segmentBlob,
  thumbnailBlob,
  type VideoQuota,
  type VideoRecord,
  type VideoStore,
  videoBlobs,
} from '../../src/contract/stores/video-store.ts';
import { unixSeconds } from '../../src/kit/clock.ts';
import { OpenRequests } from '../../src/kit/limits/open-requests.ts';
import type { GuardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { insufficientQuota } from '../../src/usage/call-ledger.ts';
import type { ClipQueue } from './clips/clip-queue.ts';
import { clipError, segmentSize } from './clips/clip-rules.ts';
import { windowOf } from './clips/model-windows.ts';
import type { ClipSource, ExtensionParams } from './extension-schema.ts';
import type { StagedClip, WorkFolder } from './job/work-folder.ts';
import { videoTokens } from './tokens.ts';

export const ENDPOINT = 'POST /v1/videos/extensions';

/** Error kinds of the store that guarantee that nothing was stored. */
const ROLLED_BACK: ReadonlySet<ErrorKind> = new Set([
  'invalid_request',
  'not_found',
  'rate_limited',
  'insufficient_quota',
  'conflict',
]);

export interface VideoServiceDeps {
  readonly videos: VideoStore;
  readonly video: ModelTable<VideoEngine>;
  readonly clips: Pick<ClipQueue, 'measure'>;
  readonly blobs: BlobStore;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly jobCalls: JobCalls;
  readonly downloads: Pick<GuardedFetch, 'fetch'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Maximum number of concurrent requests per organization that upload clips. */
  readonly requestsPerOrganization: number;
  /** Maximum number of open jobs and stored bytes per organization. */
  readonly quota: VideoQuota;
}

/** A job to store. */
interface NewVideo {
  readonly video: VideoRecord;
  readonly reserved: MicroCredits;
  /** Idempotency key of the request. */
  readonly key: string | undefined;
}

export type Variant = 'video' | 'thumbnail';

export class VideoService {
  /** Requests in progress that upload a clip. */
  readonly open: OpenRequests;
  readonly #deps: VideoServiceDeps;

  constructor(deps: VideoServiceDeps) {
    this.#deps = deps;
    this.open = new OpenRequests('video', deps.requestsPerOrganization);
  }

  /** The configured video models. */
  get models(): ModelTable<VideoEngine> {
    return this.#deps.video;
  }

  /** @throws ServiceError if the organization has used up its quota. */
  requireQuota({ organization }: Caller): Promise<void> {
    const { videos, quota } = this.#deps;
    return videos.requireCapacity(organization, quota);
  }

  /**
   * Stages and measures the clip, then creates the job (spec 4.6, rule 3).
   * @param key Idempotency key: a repeated request returns the video of the first request.
   * @param folder folder for the clip during the request.
   * @throws ServiceError `invalid_request` (param `video`) for a clip that the model does not support; `not_found` for an
   *   unknown source video; `conflict` if the key was used for a different request; `insufficient_quota`, `rate_limited`,
   *   `overloaded`; the reason of the signal. In these cases no job is created and no data is stored.
   */
  async extend(
    params: ExtensionParams,
    caller: Caller,
    key: string | undefined,
    folder: WorkFolder,
    signal: AbortSignal,
  ): Promise<VideoRecord> {
    const { clips, jobCalls, clock } = this.#deps;
    const { model, prompt, seconds } = params;
    const engine = requireModel(this.models, model);
    const staged = await this.#stage(params.source, caller, folder, signal);
    const clip = await clips.measure(staged.path, caller.organization, signal);
    const size = sizeOf(clip, model);
    const maxUsage = videoTokens(clip, { ...size, seconds });
    const { id: call, reserved } = jobCalls.prepareCall({ endpoint: ENDPOINT, model, caller, maxUsage });
    const { organization, requestId } = caller;
    const video: VideoRecord = {
      id: newId('video_'),
      organization,
      requestId,
      call,
      model,
      prompt,
      seconds,
      ...size,
      clip,
      status: 'queued',
      createdAt: unixSeconds(clock),
      audio: engine.audio,
      note: engine.note,
      source: params.source.kind === 'job' ? (params.source.id as Id<'video_'>) : undefined,
    };
    const stored = await this.#store({ video, reserved, key }, staged, signal);
    if (stored.id === video.id) await this.#enqueue(video.id);
    return stored;
  }

  /** @throws ServiceError `not_found`. */
  async get({ organization }: Caller, id: string): Promise<VideoRecord> {
    const video = await this.#deps.videos.get(organization, id);
    if (video === undefined) throw unknownVideo(id, 'id');
    return video;
  }

  list({ organization }: Caller, query: Omit<Parameters<VideoStore['list']>[0], 'organization'>) {
    return this.#deps.videos.list({ organization, ...query });
  }

  /** @throws ServiceError `not_found`; `conflict` while the job or a job that extends it is unfinished. */
  async delete({ organization }: Caller, id: string): Promise<void> {
    const { videos, blobs, log } = this.#deps;
    if (!(await videos.delete(organization, id))) throw unknownVideo(id, 'id');
    try {
      await blobs.deleteAll(videoBlobs(id as Id<'video_'>), new AbortController().signal);
    } catch (error) {
      log.error('failed to delete the bytes of a deleted video; the sweep will retry', error, { video: id });
    }
  }

  /** The output of a completed job. @throws ServiceError `invalid_request` if the job has not completed. */
  contentOf({ status, result }: VideoRecord): GeneratedVideo {
    if (result !== undefined) return result;
    if (FINAL_VIDEO_STATUSES.has(status)) {
      throw invalidRequest('The video has failed and has no content.', 'id', 'generation_failed');
    }
    const message = 'Video is not ready yet, use GET /v1/videos/{id} to check status.';
    throw invalidRequest(message, 'id', 'video_not_ready');
  }

  /**
   * Opens the content of a video.
   * @throws ServiceError `not_found` if it was deleted in the meantime, `overloaded` if the blob store is unavailable,
   *   `internal` if the bytes are lost.
   */
  async read(video: VideoRecord, variant: Variant, signal: AbortSignal, range?: ByteRange) {
    const { blobs, videos } = this.#deps;
    const { id, organization, runner = '' } = video;
    const name = variant === 'video' ? segmentBlob(id, runner) : thumbnailBlob(id, runner);
    const bytes = await blobs.read(name, signal, range);
    if (bytes !== undefined) return bytes;
    if ((await videos.get(organization, id)) === undefined) throw unknownVideo(id, 'id');
    throw new ServiceError('internal', 'The content of this video is lost.', { code: 'server_error' });
  }

  /** Copies the clip to the local disk. */
  async #stage(
    source: ClipSource,
    caller: Caller,
    folder: WorkFolder,
    signal: AbortSignal,
  ): Promise<StagedClip> {
    if (source.kind === 'upload') return source.clip;
    const bytes =
      source.kind === 'url'
        ? this.#deps.downloads.fetch(source.url, 'video', signal)
        : await this.#segmentOf(source.id, caller, signal);
    return await folder.write('clip', bytes, signal);
  }

  /** The segment of a completed job. */
  async #segmentOf(id: string, { organization }: Caller, signal: AbortSignal) {
    const video = await this.#deps.videos.get(organization, id);
    if (video === undefined) throw unknownVideo(id, 'video');
    if (video.status === 'completed') return this.read(video, 'video', signal);
    const message = `'video' must be a completed video; this one is ${video.status}.`;
    throw invalidRequest(message, 'video', video.status === 'failed' ? 'invalid_value' : 'video_not_ready');
  }

  /** Stores the clip, then the job, which is claimable from then on. Returns the earlier job for a repeated key. */
  async #store({ video, reserved, key }: NewVideo, { path }: StagedClip, signal: AbortSignal) {
    const { videos, blobs, quota } = this.#deps;
    const { sha256 } = await blobs.write(inputBlob(video.id), Bun.file(path).stream(), signal);
    const idempotency = key === undefined ? undefined : { key, fingerprint: fingerprintOf(video, sha256) };
    // After an unexpected error the job may exist: the clip is kept, and the sweep deletes it if it has no job.
    try {
      const stored = await videos.create(video, reserved, quota, idempotency);
      if ('available' in stored) throw insufficientQuota(reserved, stored.available);
      if (stored.video.id !== video.id) await this.#discardBlobs(video.id);
      return stored.video;
    } catch (error) {
      if (error instanceof ServiceError && ROLLED_BACK.has(error.kind)) await this.#discardBlobs(video.id);
      throw error;
    }
  }

  /** Deletes the blobs of a job that was not created. Never rejects. */
  async #discardBlobs(id: Id<'video_'>): Promise<void> {
    try {
      await this.#deps.blobs.deleteAll(videoBlobs(id), new AbortController().signal);
    } catch (error) {
      this.#deps.log.error('failed to delete an unused clip; the sweep will retry', error);
    }
  }

  /**
   * Never rejects: the job is stored already, and the reconciler queues it again. An error would make the client create
   * a second job.
   */
  async #enqueue(id: Id<'video_'>): Promise<void> {
    try {
      await this.#deps.jobs.enqueue('video', id);
    } catch (error) {
      this.#deps.log.error('failed to queue a new video; the reconciler will retry', error, {
        video: id,
      });
    }
  }
}

/** @throws ServiceError if the model does not support the clip. */
function sizeOf(clip: ClipFacts, model: string) {
  const window = windowOf(model);
  const problem = clipError(clip, model, window);
  if (problem === undefined) return segmentSize(clip, window);
  throw invalidRequest(`'video' ${problem}.`, 'video', 'invalid_value');
}

/** Equal for requests with equal parameters and equal clips. */
function fingerprintOf({ model, prompt, seconds }: VideoRecord, clipSha256: string): string {
  const text = JSON.stringify([model, prompt, seconds, clipSha256]);
  return createHash('sha256').update(text).digest('hex');
}

function unknownVideo(id: string, param: string): ServiceError {
  return new ServiceError('not_found', `Video with id '${id.slice(0, 100)}' not found.`, { param });
}
