/** Videos of organizations: jobs are made here and done by runners; records are in SQL, bytes are blobs. */

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
  inputBlob,
  type GeneratedVideo,
  segmentBlob,
  thumbnailBlob,
  FINAL_VIDEO_STATUSES,
  type VideoRecord,
  type VideoQuota,
  type VideoStore,
  videoBlobs,
} from '../../src/contract/stores/video-store.ts';
import { unixSeconds } from '../../src/kit/clock.ts';
import { type OpenRequest, OpenRequests } from '../../src/kit/limits/open-requests.ts';
import type { GuardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { insufficientQuota } from '../../src/usage/call-ledger.ts';
import { clipFault, segmentSize } from './clips/clip-rules.ts';
import type { ClipTurns } from './clips/clip-turns.ts';
import { windowOf } from './clips/model-windows.ts';
import type { ClipSource, ExtensionAsk } from './extension-schema.ts';
import type { StagedClip, WorkFolder } from './job/work-folder.ts';
import { videoTokens } from './tokens.ts';

export const ENDPOINT = 'POST /v1/videos/extensions';

/** Errors of the store after which nothing was stored. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set([
  'invalid_request',
  'not_found',
  'rate_limited',
  'insufficient_quota',
  'conflict',
]);

export interface VideoParts {
  readonly videos: VideoStore;
  readonly video: ModelTable<VideoEngine>;
  readonly clips: Pick<ClipTurns, 'measure'>;
  readonly blobs: BlobStore;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly jobCalls: JobCalls;
  readonly downloads: Pick<GuardedFetch, 'fetch'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Requests of one organization that may bring clips at once. */
  readonly requestsPerOrganization: number;
  /** What one organization may have in all. */
  readonly room: VideoQuota;
}

/** A job that is to be stored. */
interface NewVideo {
  readonly video: VideoRecord;
  readonly reserved: MicroCredits;
  /** Of a request that may be sent twice. */
  readonly key: string | undefined;
}

export type Variant = 'video' | 'thumbnail';

export class Videos {
  readonly #parts: VideoParts;
  readonly #requests: OpenRequests;

  constructor(parts: VideoParts) {
    this.#parts = parts;
    this.#requests = new OpenRequests('video', parts.requestsPerOrganization);
  }

  /** Models that continue clips. */
  get models(): ModelTable<VideoEngine> {
    return this.#parts.video;
  }

  /**
   * Takes a place for a request that brings a clip; the caller ends it.
   * @throws ServiceError `rate_limited` when the organization or the key has too many open.
   */
  begin(caller: Caller, signal: AbortSignal): OpenRequest {
    return this.#requests.startRequest(caller, signal);
  }

  /** @throws ServiceError when the organization may have no more videos, whatever the clip. */
  requireRoom({ organization }: Caller): Promise<void> {
    const { videos, room } = this.#parts;
    return videos.requireCapacity(organization, room);
  }

  /**
   * Stages and measures the clip, then makes the job (spec 4.6, rule 3).
   * @param key says that the request is the same as an earlier one: what that made is given then.
   * @param folder where the clip is kept meanwhile.
   * @throws ServiceError `invalid_request` (param `video`) for a clip that the model does not continue; `not_found` for a
   *   video that is not there; `conflict` when the key came with another request; `insufficient_quota`, `rate_limited`,
   *   `overloaded`; the signal's reason after an abort. No job was made then, and nothing is left.
   */
  async extend(
    ask: ExtensionAsk,
    caller: Caller,
    key: string | undefined,
    folder: WorkFolder,
    signal: AbortSignal,
  ): Promise<VideoRecord> {
    const { clips, jobCalls, clock } = this.#parts;
    const { model, prompt, seconds } = ask;
    const engine = requireModel(this.models, model);
    const staged = await this.#stage(ask.source, caller, folder, signal);
    const clip = await clips.measure(staged.path, caller.organization, signal);
    const size = sizeOf(clip, model);
    const most = videoTokens(clip, { ...size, seconds });
    const { id: call, reserved } = jobCalls.prepareCall({ endpoint: ENDPOINT, model, caller, maxUsage: most });
    const { organization, requestId } = caller;
    const video: VideoRecord = {
      ...{ id: newId('video'), organization, requestId, call, model, prompt, seconds, ...size, clip },
      status: 'queued',
      createdAt: unixSeconds(clock),
      audio: engine.audio,
      note: engine.note,
      source: ask.source.kind === 'job' ? (ask.source.id as Id<'video'>) : undefined,
    };
    const stored = await this.#store({ video, reserved, key }, staged, signal);
    if (stored.id === video.id) await this.#queue(video.id);
    return stored;
  }

  /** @throws ServiceError `not_found`. */
  async get({ organization }: Caller, id: string): Promise<VideoRecord> {
    const video = await this.#parts.videos.get(organization, id);
    if (video === undefined) throw unknownVideo(id, 'id');
    return video;
  }

  list({ organization }: Caller, query: Omit<Parameters<VideoStore['list']>[0], 'organization'>) {
    return this.#parts.videos.list({ organization, ...query });
  }

  /** @throws ServiceError `not_found`; `conflict` while the job is open or another that is open continues it. */
  async delete({ organization }: Caller, id: string): Promise<void> {
    const { videos, blobs, log } = this.#parts;
    if (!(await videos.delete(organization, id))) throw unknownVideo(id, 'id');
    try {
      await blobs.deleteAll(videoBlobs(id as Id<'video'>), new AbortController().signal);
    } catch (error) {
      log.error('the bytes of a deleted video are left to the sweep', error, { video: id });
    }
  }

  /** What a completed job made. @throws ServiceError `invalid_request` for one that has not completed. */
  made({ status, made }: VideoRecord): GeneratedVideo {
    if (made !== undefined) return made;
    if (FINAL_VIDEO_STATUSES.has(status)) {
      throw invalidRequest('The video has failed and has no content.', 'id', 'generation_failed');
    }
    const message = 'Video is not ready yet, use GET /v1/videos/{id} to check status.';
    throw invalidRequest(message, 'id', 'video_not_ready');
  }

  /** @throws ServiceError `not_found` when it was deleted meanwhile, `overloaded`, `internal` when its bytes are lost. */
  async read(video: VideoRecord, variant: Variant, signal: AbortSignal, range?: ByteRange) {
    const { blobs, videos } = this.#parts;
    const { id, organization, runner = '' } = video;
    const name = variant === 'video' ? segmentBlob(id, runner) : thumbnailBlob(id, runner);
    const bytes = await blobs.read(name, signal, range);
    if (bytes !== undefined) return bytes;
    if ((await videos.get(organization, id)) === undefined) throw unknownVideo(id, 'id');
    throw new ServiceError('internal', 'The content of this video is lost.', { code: 'server_error' });
  }

  /** Lets requests finish, until the signal fires. */
  drain(until: AbortSignal): Promise<void> {
    return this.#requests.drain(until);
  }

  /** Ends every request. */
  stop(): void {
    this.#requests.stop();
  }

  /** Brings the clip to this machine's disk, wherever it is. */
  async #stage(
    source: ClipSource,
    caller: Caller,
    folder: WorkFolder,
    signal: AbortSignal,
  ): Promise<StagedClip> {
    if (source.kind === 'upload') return source.clip;
    const bytes =
      source.kind === 'url'
        ? this.#parts.downloads.fetch(source.url, 'video', signal)
        : await this.#segmentOf(source.id, caller, signal);
    return await folder.write('clip', bytes, signal);
  }

  /** The segment of a job that has completed. */
  async #segmentOf(id: string, { organization }: Caller, signal: AbortSignal) {
    const video = await this.#parts.videos.get(organization, id);
    if (video === undefined) throw unknownVideo(id, 'video');
    if (video.status === 'completed') return this.read(video, 'video', signal);
    const message = `'video' must be a completed video; this one is ${video.status}.`;
    throw invalidRequest(message, 'video', video.status === 'failed' ? 'invalid_value' : 'video_not_ready');
  }

  /** Stores the clip, then the job, which others may take from then on; or gives the one that the key has made. */
  async #store({ video, reserved, key }: NewVideo, { path }: StagedClip, signal: AbortSignal) {
    const { videos, blobs, room } = this.#parts;
    const { sha256 } = await blobs.write(inputBlob(video.id), Bun.file(path).stream(), signal);
    const idempotency = key === undefined ? undefined : { key, fingerprint: fingerprintOf(video, sha256) };
    // Whether a step that failed was stored is not always known: then the clip stays, and the sweep decides.
    try {
      const stored = await videos.create(video, reserved, room, idempotency);
      if ('available' in stored) throw insufficientQuota(reserved, stored.available);
      if (stored.video.id !== video.id) await this.#drop(video.id);
      return stored.video;
    } catch (error) {
      if (error instanceof ServiceError && REFUSALS.has(error.kind)) await this.#drop(video.id);
      throw error;
    }
  }

  /** Removes what was stored of a job that was not made. */
  async #drop(id: Id<'video'>): Promise<void> {
    try {
      await this.#parts.blobs.deleteAll(videoBlobs(id), new AbortController().signal);
    } catch (error) {
      this.#parts.log.error('a clip that nobody continues is left to the sweep', error);
    }
  }

  /**
   * The job is stored, and whoever looks for forgotten ones finds it: a queue that cannot be reached is no reason for a
   * failure, after which the client would make another.
   */
  async #queue(id: Id<'video'>): Promise<void> {
    try {
      await this.#parts.jobs.enqueue('video', id);
    } catch (error) {
      this.#parts.log.error('a new video could not be queued and waits for the next look', error, {
        video: id,
      });
    }
  }
}

/** @throws ServiceError for a clip that the model does not continue. */
function sizeOf(clip: ClipFacts, model: string) {
  const window = windowOf(model);
  const fault = clipFault(clip, model, window);
  if (fault === undefined) return segmentSize(clip, window);
  throw invalidRequest(`'video' ${fault}.`, 'video', 'invalid_value');
}

/** The same for two requests that ask the same of the same clip. */
function fingerprintOf({ model, prompt, seconds }: VideoRecord, clipSha256: string): string {
  const text = JSON.stringify([model, prompt, seconds, clipSha256]);
  return createHash('sha256').update(text).digest('hex');
}

function unknownVideo(id: string, param: string): ServiceError {
  return new ServiceError('not_found', `Video with id '${id.slice(0, 100)}' not found.`, { param });
}
