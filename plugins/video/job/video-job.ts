/** Runs a video job from its clip to its segment. If a process crashes, another process resumes its jobs. */

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
  type GeneratedVideo,
  inputBlob,
  segmentBlob,
  thumbnailBlob,
  type VideoError,
  type VideoOutcome,
  type VideoRecord,
  type VideoStore,
} from '../../../src/contract/stores/video-store.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import type { ClipQueue } from '../clips/clip-queue.ts';
import type { VideoMetrics } from '../metrics.ts';
import { ENDPOINT } from '../service.ts';
import { videoTokens } from '../tokens.ts';
import { deleteUnneededBlobs } from './blob-cleanup.ts';
import type { ProgressEstimator } from './progress-estimator.ts';
import { toRunError } from './run-error.ts';
import { next } from './state-machine.ts';
import { WorkFolder } from './work-folder.ts';

export interface VideoJobDeps {
  readonly videos: VideoStore;
  readonly video: ModelTable<VideoEngine>;
  readonly clips: Pick<ClipQueue, 'thumbnail'>;
  readonly blobs: BlobStore;
  readonly jobCalls: JobCalls;
  readonly progress: ProgressEstimator;
  readonly metrics: VideoMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** An existing folder for clips and segments while they are processed. */
  readonly folder: string;
  /** Maximum number of videos that are generated concurrently in this process. */
  readonly maxConcurrentJobs: number;
}

/** Age after which a job fails with `timeout`. */
const TIMEOUT_S = 86_400;
const MIN_DELAY_MS = 2000;
const MAX_DELAY_MS = 60_000;

const DONE: JobOutcome = { kind: 'done' };
const REQUEUE: JobOutcome = { kind: 'again', delayMs: 0 };

export interface VideoJobHandler extends JobHandler {
  /** Aborts pending uploads of segments before the process exits. Other processes repeat the work. Idempotent. */
  abandon(): void;
}

export function videoJob(deps: VideoJobDeps): VideoJobHandler {
  return new VideoJob(deps);
}

/** A video claimed by this process, for the duration of one job. */
interface RunContext {
  readonly video: VideoRecord;
  readonly runner: string;
  readonly folder: WorkFolder;
  readonly signal: AbortSignal;
  /** State of the engine for resuming a remote job. */
  savedState: string | undefined;
}

/** The part of a run that finishing the job needs. */
type FinishedRun = Pick<RunContext, 'video' | 'runner' | 'savedState'>;

/** Generated files on the local disk. */
interface GeneratedFiles {
  readonly segment: VideoSegment;
  readonly video: string;
  readonly thumbnail: string;
}

class VideoJob implements VideoJobHandler {
  readonly kind = 'video';
  readonly concurrency: number;
  readonly #deps: VideoJobDeps;
  readonly #abandoned = new AbortController();

  constructor(deps: VideoJobDeps) {
    this.#deps = deps;
    this.concurrency = deps.maxConcurrentJobs;
  }

  abandon(): void {
    this.#abandoned.abort(shuttingDown());
  }

  async runJob(id: string, signal: AbortSignal): Promise<JobOutcome> {
    const { videos, clock } = this.#deps;
    const runner = crypto.randomUUID();
    const at = unixSeconds(clock);
    const video = await videos.claim(id as Id<'video_'>, runner, at);
    if (video === undefined) return await this.#cleanUp(id as Id<'video_'>, signal);
    const { effect } = next(video.status, { kind: 'claimed', late: at - video.createdAt >= TIMEOUT_S });
    if (effect?.kind === 'time_out') return await this.#timeOut(video, runner);
    const folder = await WorkFolder.open(this.#deps.folder);
    try {
      return await this.#runExtension({ video, runner, folder, signal, savedState: video.savedState });
    } finally {
      await folder.release();
    }
  }

  async #runExtension(run: RunContext): Promise<JobOutcome> {
    const { clock, log, progress, metrics } = this.#deps;
    const { video, signal } = run;
    const startedMs = clock.monotonicMs();
    let files: GeneratedFiles;
    try {
      files = await this.#generate(run);
    } catch (error) {
      // An interruption by shutdown or by another runner is not an error.
      if (signal.aborted || error instanceof ClaimLostError) return REQUEUE;
      const failure = toRunError(error);
      if (failure.kind === 'retryable') return { kind: 'again', delayMs: this.#delayMs(video) };
      if (failure.isInternal) log.error('failed to generate a video', error, { video: video.id });
      return await this.#fail(run, failure.error);
    }
    const elapsedMs = clock.monotonicMs() - startedMs;
    progress.recordDuration(video, elapsedMs);
    metrics.generation.observe({ model: video.model }, elapsedMs / 1000);
    return await this.#complete(run, files);
  }

  /** @throws the errors of the engine and of the stores. */
  async #generate(run: RunContext): Promise<GeneratedFiles> {
    const { video, runner, folder, signal, savedState } = run;
    const { blobs, clips, videos, video: models } = this.#deps;
    const { id, clip, prompt, seconds, width, height, audio } = video;
    const engine = models.get(video.model);
    if (engine === undefined) throw permanentError(`The model '${video.model}' is no longer available.`);
    const input = await blobs.read(inputBlob(id), signal);
    if (input === undefined) throw permanentError('The clip of this video is lost.');
    const staged = await folder.write('clip', input, signal);
    const segmentPath = folder.file('segment.mp4');
    const segment = await engine.extend(
      { video: id, clip: staged.path, facts: clip, prompt, seconds, width, height, audio, savedState },
      {
        to: segmentPath,
        saveState: async (state) => {
          if (!(await videos.saveEngineState(id, runner, state))) throw new ClaimLostError();
          run.savedState = state;
        },
      },
      signal,
    );
    const thumbnail = folder.file('thumbnail.webp');
    await clips.thumbnail(segmentPath, thumbnail, video.organization, signal);
    return { segment, video: segmentPath, thumbnail };
  }

  /** Stores the segment even while the process drains. The claim decides whether the result is used. */
  async #complete(run: RunContext, files: GeneratedFiles): Promise<JobOutcome> {
    const { video, runner } = run;
    const { id, clip } = video;
    const stored: GeneratedVideo = {
      segment: files.segment,
      video: await this.#write(segmentBlob(id, runner), files.video),
      thumbnail: await this.#write(thumbnailBlob(id, runner), files.thumbnail),
    };
    const at = unixSeconds(this.#deps.clock);
    const isFinished = await this.#end(
      run,
      { status: 'completed', result: stored, at },
      videoTokens(clip, files.segment),
    );
    if (!isFinished) {
      const { blobs } = this.#deps;
      await Promise.all(
        [segmentBlob(id, runner), thumbnailBlob(id, runner)].map((name) => blobs.delete(name)),
      );
    }
    return await this.#cleanUp(id, this.#abandoned.signal);
  }

  #write(blob: string, path: string) {
    return this.#deps.blobs.write(blob, Bun.file(path).stream(), this.#abandoned.signal);
  }

  async #fail(run: FinishedRun, error: VideoError): Promise<JobOutcome> {
    const at = unixSeconds(this.#deps.clock);
    const noTokens = { inputTokens: 0, outputTokens: 0 };
    await this.#end(run, { status: 'failed', error, at }, noTokens);
    return await this.#cleanUp(run.video.id, this.#abandoned.signal);
  }

  async #timeOut(video: VideoRecord, runner: string): Promise<JobOutcome> {
    this.#deps.log.warn('a video timed out after a day', { video: video.id });
    return await this.#fail(
      { video, runner, savedState: video.savedState },
      {
        code: 'timeout',
        message: 'The video was not generated within a day. Nothing is charged.',
      },
    );
  }

  /** Returns false if another runner has claimed the job. */
  async #end(
    { video, runner, savedState }: FinishedRun,
    end: VideoOutcome,
    consumed: { readonly inputTokens: number; readonly outputTokens: number },
  ): Promise<boolean> {
    const { videos, jobCalls, metrics } = this.#deps;
    const { call: id, organization, requestId, model } = video;
    const { status } = end;
    const bill = jobCalls.createBill(
      { id, endpoint: ENDPOINT, organization, requestId, model },
      { status, ...consumed },
    );
    if (!(await videos.finish(video.id, runner, end, bill))) return false;
    jobCalls.recordStored(bill.record);
    metrics.finished.add({ status });
    // After the segment is stored, because it would otherwise be fetched again; not if another runner resumes the job.
    if (savedState !== undefined) await this.#deps.video.get(model)?.deleteRemoteJob(savedState);
    return true;
  }

  /**
   * Deletes the blobs that a finished job does not need, including those of a crashed runner. A deleted job needs none.
   * A job that another runner has claimed is left to that runner.
   */
  async #cleanUp(id: Id<'video_'>, signal: AbortSignal): Promise<JobOutcome> {
    const { videos, blobs } = this.#deps;
    const [state = { id, status: 'failed' as const, runner: undefined }] = await videos.listStates([id]);
    if (next(state.status, { kind: 'claimed', late: false }).effect?.kind !== 'clean_up') return REQUEUE;
    await deleteUnneededBlobs(blobs, state, signal);
    return DONE;
  }

  /** Retry delay in ms; grows with the time since the start. */
  #delayMs({ startedAt = 0 }: VideoRecord): number {
    const waitedMs = this.#deps.clock.now() - startedAt * 1000;
    return Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, waitedMs / 4));
  }
}

/** Another runner has claimed the job. */
class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';
}

/** An error that a retry cannot resolve. */
function permanentError(message: string): ServiceError {
  return new ServiceError('invalid_request', message, { code: 'generation_failed' });
}
