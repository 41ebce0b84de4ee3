/** What is done for a video, from its clip to its segment: by any process, and by another where one died. */

import type { JobCalls } from '../../../src/contract/accounts/calls.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { ServiceError, shuttingDown } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { JobHandler, JobOutcome } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { VideoEngine, VideoSegment } from '../../../src/contract/engines/video.ts';
import type { ModelTable } from '../../../src/contract/model-table.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import {
  inputBlob,
  type GeneratedVideo,
  segmentBlob,
  thumbnailBlob,
  type VideoOutcome,
  type VideoError,
  type VideoRecord,
  type VideoStore,
} from '../../../src/contract/stores/video-store.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import type { ClipTurns } from '../clips/clip-turns.ts';
import type { VideoMetrics } from '../metrics.ts';
import { ENDPOINT } from '../service.ts';
import { videoTokens } from '../tokens.ts';
import type { Pace } from './pace.ts';
import { runFailure } from './run-error.ts';
import { next } from './state-machine.ts';
import { tidyBlobs } from './tidying.ts';
import { WorkFolder } from './work-folder.ts';

export interface VideoJobParts {
  readonly videos: VideoStore;
  readonly video: ModelTable<VideoEngine>;
  readonly clips: Pick<ClipTurns, 'thumbnail'>;
  readonly blobs: BlobStore;
  readonly jobCalls: JobCalls;
  readonly pace: Pace;
  readonly metrics: VideoMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** An existing folder for clips and segments while they are worked on. */
  readonly folder: string;
  /** Videos that are made at once in this process. */
  readonly jobsAtOnce: number;
}

/** A job that is so old is given up, whatever it waits for. */
const LATE_S = 86_400;
const SHORTEST_DELAY_MS = 2000;
const MAX_DELAY_MS = 60_000;

const DONE: JobOutcome = { kind: 'done' };
const AGAIN: JobOutcome = { kind: 'again', delayMs: 0 };

export interface VideoJobHandler extends JobHandler {
  /** Gives up what runs still store, for a process that ends at once: others do it again. Idempotent. */
  leave(): void;
}

export function videoJob(parts: VideoJobParts): VideoJobHandler {
  return new VideoJob(parts);
}

/** A video in the hands of this process, for as long as one call of the queue lasts. */
interface Held {
  readonly video: VideoRecord;
  readonly runner: string;
  readonly folder: WorkFolder;
  readonly signal: AbortSignal;
  /** What the engine has elsewhere. */
  remembered: string | undefined;
}

/** What is needed of it to end the job. */
type Ending = Pick<Held, 'video' | 'runner' | 'remembered'>;

/** A segment on this machine's disk. */
interface Made {
  readonly segment: VideoSegment;
  readonly video: string;
  readonly thumbnail: string;
}

class VideoJob implements VideoJobHandler {
  readonly kind = 'video';
  readonly concurrency: number;
  readonly #parts: VideoJobParts;
  readonly #leaving = new AbortController();

  constructor(parts: VideoJobParts) {
    this.#parts = parts;
    this.concurrency = parts.jobsAtOnce;
  }

  leave(): void {
    this.#leaving.abort(shuttingDown());
  }

  async runJob(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const { videos, clock } = this.#parts;
    const runner = crypto.randomUUID();
    const at = unixSeconds(clock);
    const video = await videos.claim(id as Id<'video'>, runner, at);
    if (video === undefined) return await this.#tidy(id as Id<'video'>, signal);
    const { effect } = next(video.status, { kind: 'taken', late: at - video.createdAt >= LATE_S });
    if (effect?.kind === 'give_up') return await this.#giveUp(video, runner);
    const folder = await WorkFolder.open(this.#parts.folder);
    try {
      return await this.#work({ video, runner, folder, signal, remembered: video.remembered });
    } finally {
      await folder.release();
    }
  }

  async #work(held: Held): Promise<JobOutcome> {
    const { clock, log, pace, metrics } = this.#parts;
    const { video, signal } = held;
    const startedMs = clock.monotonicMs();
    let made: Made;
    try {
      made = await this.#make(held);
    } catch (error) {
      // What a stop has broken off is no failure, nor is that another runner has the job.
      if (signal.aborted || error instanceof TakenAway) return AGAIN;
      const failure = runFailure(error);
      if (failure.kind === 'hindered') return { kind: 'again', delayMs: this.#delayMs(video) };
      if (failure.isOurs) log.error('a video could not be made', error, { video: video.id });
      return await this.#fail(held, failure.error);
    }
    const elapsedMs = clock.monotonicMs() - startedMs;
    pace.made(video, elapsedMs);
    metrics.making.observe({ model: video.model }, elapsedMs / 1000);
    return await this.#complete(held, made);
  }

  /** @throws what the engine throws; of the blob store what may pass, as `overloaded`. */
  async #make(held: Held): Promise<Made> {
    const { video, runner, folder, signal, remembered } = held;
    const { blobs, clips, videos, video: models } = this.#parts;
    const { id, clip, prompt, seconds, width, height, audio } = video;
    const engine = models.get(video.model);
    if (engine === undefined) throw lost(`The model '${video.model}' is not there any more.`);
    const input = await blobs.read(inputBlob(id), signal);
    if (input === undefined) throw lost('The clip of this video was lost.');
    const staged = await folder.write('clip', input, signal);
    const to = folder.file('segment.mp4');
    const segment = await engine.extend(
      { video: id, clip: staged.path, facts: clip, prompt, seconds, width, height, audio, savedState: remembered },
      {
        to,
        saveState: async (state) => {
          if (!(await videos.saveEngineState(id, runner, state))) throw new TakenAway();
          held.remembered = state;
        },
      },
      signal,
    );
    const thumbnail = folder.file('thumbnail.webp');
    await clips.thumbnail(to, thumbnail, video.organization, signal);
    return { segment, video: to, thumbnail };
  }

  /** What is made is stored even while the process stops; the lease and the store's guard say whether it counts. */
  async #complete(held: Held, made: Made): Promise<JobOutcome> {
    const { video, runner } = held;
    const { id, clip } = video;
    const stored: GeneratedVideo = {
      segment: made.segment,
      video: await this.#write(segmentBlob(id, runner), made.video),
      thumbnail: await this.#write(thumbnailBlob(id, runner), made.thumbnail),
    };
    const at = unixSeconds(this.#parts.clock);
    const ended = await this.#end(
      held,
      { status: 'completed', made: stored, at },
      videoTokens(clip, made.segment),
    );
    if (!ended) {
      const { blobs } = this.#parts;
      await Promise.all(
        [segmentBlob(id, runner), thumbnailBlob(id, runner)].map((name) => blobs.delete(name)),
      );
    }
    return await this.#tidy(id, this.#leaving.signal);
  }

  #write(blob: string, path: string) {
    return this.#parts.blobs.write(blob, Bun.file(path).stream(), this.#leaving.signal);
  }

  async #fail(held: Ending, error: VideoError): Promise<JobOutcome> {
    const at = unixSeconds(this.#parts.clock);
    const nothing = { inputTokens: 0, outputTokens: 0 };
    await this.#end(held, { status: 'failed', error, at }, nothing);
    return await this.#tidy(held.video.id, this.#leaving.signal);
  }

  async #giveUp(video: VideoRecord, runner: string): Promise<JobOutcome> {
    this.#parts.log.warn('a video was given up after a day', { video: video.id });
    return await this.#fail(
      { video, runner, remembered: video.remembered },
      {
        code: 'timeout',
        message: 'The video was not made within a day, and costs nothing.',
      },
    );
  }

  /** @returns false when another runner has it. */
  async #end(
    { video, runner, remembered }: Ending,
    end: VideoOutcome,
    consumed: { readonly inputTokens: number; readonly outputTokens: number },
  ): Promise<boolean> {
    const { videos, jobCalls, metrics } = this.#parts;
    const { call: id, organization, requestId, model } = video;
    const { status } = end;
    const bill = jobCalls.createBill(
      { id, endpoint: ENDPOINT, organization, requestId, model },
      { status, ...consumed },
    );
    if (!(await videos.finish(video.id, runner, end, bill))) return false;
    jobCalls.recordStored(bill.record);
    metrics.ended.add({ status });
    // Not before: a segment that could not be stored is fetched again. What another runner goes on from is that one's.
    if (remembered !== undefined) await this.#parts.video.get(model)?.deleteRemoteJob(remembered);
    return true;
  }

  /**
   * Removes what a job that has ended needs no more, its own or that of a runner that died before it could. One that was
   * deleted meanwhile needs nothing; one that another runner has is that one's.
   */
  async #tidy(id: Id<'video'>, signal: AbortSignal): Promise<JobOutcome> {
    const { videos, blobs } = this.#parts;
    const [state = { id, status: 'failed' as const, runner: undefined }] = await videos.listStates([id]);
    if (next(state.status, { kind: 'taken', late: false }).effect?.kind !== 'tidy') return AGAIN;
    await tidyBlobs(blobs, state, signal);
    return DONE;
  }

  /** Longer, the longer it waits already. */
  #delayMs({ startedAt = 0 }: VideoRecord): number {
    const waitedMs = this.#parts.clock.now() - startedAt * 1000;
    return Math.min(MAX_DELAY_MS, Math.max(SHORTEST_DELAY_MS, waitedMs / 4));
  }
}

/** Another runner has the job. */
class TakenAway extends Error {
  override readonly name = 'TakenAway';
}

/** What no later run would find either. */
function lost(message: string): ServiceError {
  return new ServiceError('invalid_request', message, { code: 'generation_failed' });
}
