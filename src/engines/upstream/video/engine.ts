/**
 * Video generation by an upstream server with `/v1/videos`: vLLM-Omni, SGLang (partner-and-upstreams B.2, B.8). The
 * engine sends the end of the clip and removes the frames of the response that repeat the clip.
 */

import { open, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type {
  ClipReader,
  ExtensionRequest,
  ExtensionWork,
  VideoEngine,
  VideoSegment,
} from '../../../contract/engines/video.ts';
import { toDiskError } from '../../../kit/storage/disk-errors.ts';
import type { ClipCutter } from '../../../media/clips/clip-cutter.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { readBodyText } from '../client/response-body.ts';
import { type CallTimeouts, type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { upstreamError } from '../client/upstream-error.ts';
import type { UpstreamVideoSettings } from '../settings.ts';
import { explainVideoRejection, jobIdOf, readVideoJob } from './job-status.ts';

/** Maximum size of a generated segment: 30 s at 130 Mbit/s. */
const MAX_SEGMENT_BYTES = 512 * 1024 * 1024;
const PROGRESS_BYTES = 64 * 1024;
const FIRST_POLL_MS = 1000;
const MAX_POLL_MS = 15_000;
const POLL_GROWTH = 1.5;
/** Consecutive requests for a job that may fail. */
const MAX_FAILED_REQUESTS = 8;
const DEFAULT_TIMEOUT_MS = 3_600_000;
/** Maximum wait for the deletion of a job on the server. */
const DELETION_TIMEOUT_MS = 10_000;
/** Offset of a cut into its first frame, as a fraction of a frame, so that rounding does not include the previous frame. */
const CUT_OFFSET_FRAMES = 0.25;
/** Video models generate `n * FRAME_COUNT_STEP + 1` frames. */
const FRAME_COUNT_STEP = 4;

export interface UpstreamVideoOptions {
  readonly settings: UpstreamVideoSettings;
  readonly log: Logger;
  /** Cuts the end of the clip and the generated segment. */
  readonly cutter: ClipCutter;
  /** Measures the generated segment. */
  readonly clips: ClipReader;
  readonly meter?: UpstreamMeter;
  /** Delay before the first status request of a job, default 1000 ms; later delays are longer. */
  readonly pollMs?: number;
  /** Maximum duration of a job, default one hour. */
  readonly timeoutMs?: number;
  /** Maximum time until the end of a response, and for each {@link PROGRESS_BYTES} of a video. Default 60,000 ms. */
  readonly responseTimeoutMs?: number;
  /** Interval of the health checks of an unavailable server. */
  readonly probeMs?: number;
}

/** Creates the engine. Nothing is sent before the first request. */
export function upstreamVideoEngine(options: UpstreamVideoOptions): VideoEngine {
  return new UpstreamVideoEngine(options);
}

/** Temporary files next to the segment: the end of the clip, its last frame, and the generated video. */
interface WorkFiles {
  readonly tail: string;
  readonly frame: string;
  readonly generated: string;
}

class UpstreamVideoEngine implements VideoEngine {
  readonly audio: boolean;
  readonly note = undefined;
  readonly #options: UpstreamVideoOptions;
  readonly #server: UpstreamServer;
  readonly #timeouts: CallTimeouts;
  readonly #closed = new AbortController();

  constructor(options: UpstreamVideoOptions) {
    this.audio = options.settings.audio;
    this.#options = options;
    this.#server = new UpstreamServer({ ...options, explain: explainVideoRejection });
    const responseTimeoutMs = options.responseTimeoutMs ?? 60_000;
    this.#timeouts = { firstPartMs: responseTimeoutMs };
  }

  async extend(request: ExtensionRequest, work: ExtensionWork, signal: AbortSignal): Promise<VideoSegment> {
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(timeoutError()),
      this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    );
    const cancelled = AbortSignal.any([signal, this.#closed.signal, timeout.signal]);
    const job = { id: request.savedState, isSaved: request.savedState !== undefined };
    const files = { tail: `${work.to}.tail`, frame: `${work.to}.frame`, generated: `${work.to}.generated` };
    try {
      cancelled.throwIfAborted();
      if (job.id === undefined || !(await this.#waitForJob(job.id, cancelled))) {
        job.isSaved = false;
        job.id = await this.#submit(request, files, cancelled);
        await work.saveState(job.id);
        job.isSaved = true;
        if (!(await this.#waitForJob(job.id, cancelled))) throw upstreamError('it lost the job');
      }
      const { id } = job;
      const isComplete = await this.#withRetry(
        () => this.#downloadSegment(id, files.generated, cancelled),
        cancelled,
      );
      if (!isComplete) throw upstreamError('the generated video is too large');
      return await this.#trim(files.generated, request, work.to, cancelled);
    } catch (error) {
      if (job.id !== undefined && !job.isSaved) await this.deleteRemoteJob(job.id);
      cancelled.throwIfAborted();
      throw toDiskError(error);
    } finally {
      clearTimeout(timer);
      await Promise.all(Object.values(files).map((path) => rm(path, { force: true })));
    }
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  async deleteRemoteJob(id: string): Promise<void> {
    const signal = AbortSignal.timeout(DELETION_TIMEOUT_MS);
    const path = `/videos/${encodeURIComponent(id)}`;
    try {
      const deleted = await this.#send(({ request }) => request('DELETE', path), signal);
      // Some servers do not delete a running job, but they can cancel it.
      if (deleted.status === 409) await this.#send(({ post }) => post(`${path}/cancel`, '{}'), signal);
    } catch {
      this.#options.log.warn('upstream job may still be running');
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    await this.#server.close();
  }

  /** Sends the end of the clip. @returns the id of the job on the server. */
  async #submit(request: ExtensionRequest, files: WorkFiles, signal: AbortSignal): Promise<string> {
    const { settings, cutter, clips } = this.#options;
    const { clip, facts, width, height } = request;
    const form = this.#form(request);
    const fromS = CUT_OFFSET_FRAMES / facts.fps - Math.max(settings.tailSeconds, 1 / facts.fps);
    await cutter.cut(clip, files.tail, { fromS, width, height }, signal);
    if (settings.tailSeconds > 0) {
      form.append('input_reference', Bun.file(files.tail, { type: 'video/mp4' }), 'clip.mp4');
    } else {
      await clips.thumbnail(files.tail, files.frame, signal);
      form.append('input_reference', Bun.file(files.frame, { type: 'image/webp' }), 'frame.webp');
    }
    const { body } = await this.#send(({ post }) => post('/videos', form), signal);
    return jobIdOf(body);
  }

  #form({ prompt, facts, seconds, width, height }: ExtensionRequest): FormData {
    const { model, contextFrames, audio, fields } = this.#options.settings;
    const fps = Math.round(facts.fps);
    const frames = Math.ceil((seconds * fps + contextFrames - 1) / FRAME_COUNT_STEP) * FRAME_COUNT_STEP + 1;
    const form = new FormData();
    form.append('model', model);
    form.append('prompt', prompt);
    form.append('size', `${width}x${height}`);
    form.append('fps', String(fps));
    form.append('num_frames', String(frames));
    if (audio) form.append('generate_sound', 'true');
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return form;
  }

  /**
   * Waits until a job is completed.
   * @returns false when the server does not know the job.
   * @throws ServiceError when the job failed.
   */
  async #waitForJob(id: string, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 0; ; attempt += 1) {
      const job = await this.#withRetry(() => this.#readJob(id, signal), signal);
      if (job.kind === 'completed') return true;
      if (job.kind === 'lost') return false;
      if (job.kind === 'failed') throw job.error;
      await this.#backOff(attempt, signal);
    }
  }

  /** Repeats a failed request, because the job continues on the server. */
  async #withRetry<Result>(send: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await send();
      } catch (error) {
        signal.throwIfAborted();
        const isRetryable = error instanceof ServiceError && !isTransientLimit(error);
        if (!isRetryable || failures >= MAX_FAILED_REQUESTS) throw error;
      }
      await this.#backOff(failures, signal);
    }
  }

  /** Waits with exponential backoff. @throws the reason of the signal. */
  async #backOff(attempt: number, signal: AbortSignal): Promise<void> {
    const delayMs = Math.min(MAX_POLL_MS, (this.#options.pollMs ?? FIRST_POLL_MS) * POLL_GROWTH ** attempt);
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }

  async #readJob(id: string, signal: AbortSignal) {
    const { status, body } = await this.#send(
      ({ request }) => request('GET', `/videos/${encodeURIComponent(id)}`),
      signal,
    );
    return readVideoJob(status, body);
  }

  /** Downloads the generated video to a file. @returns false when it exceeds {@link MAX_SEGMENT_BYTES}; a retry is useless. */
  async #downloadSegment(id: string, path: string, signal: AbortSignal): Promise<boolean> {
    const file = await open(path, 'w');
    try {
      const chunks = this.#server.call(this.#timeouts, signal, async function* (call) {
        const response = await call.request('GET', `/videos/${encodeURIComponent(id)}/content`);
        if (!response.ok) throw upstreamError(`it returned HTTP status ${response.status}`);
        let unreportedBytes = 0;
        for await (const chunk of call.readChunks(response)) {
          unreportedBytes += chunk.length;
          if (unreportedBytes >= PROGRESS_BYTES) {
            call.progressed();
            unreportedBytes = 0;
          }
          yield chunk;
        }
      });
      let lengthBytes = 0;
      for await (const chunk of chunks) {
        lengthBytes += chunk.length;
        if (lengthBytes > MAX_SEGMENT_BYTES) return false;
        // `write` may write only a part of the chunk.
        await file.writeFile(chunk);
      }
      return true;
    } finally {
      await file.close();
    }
  }

  /** Removes the frames that repeat the clip, and those beyond the requested duration. */
  async #trim(
    generated: string,
    { seconds, width, height }: ExtensionRequest,
    to: string,
    signal: AbortSignal,
  ): Promise<VideoSegment> {
    const { cutter, clips, settings } = this.#options;
    try {
      const { fps } = await clips.measure(generated, 'video', signal);
      const fromS = (settings.contextFrames + CUT_OFFSET_FRAMES) / fps;
      const cut = await cutter.cut(generated, to, { fromS, toS: fromS + seconds, width, height }, signal);
      return { width: cut.width, height: cut.height, seconds: cut.seconds, audio: cut.audio };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError && error.kind !== 'invalid_request') throw error;
      throw upstreamError('the generated video is not usable', error);
    }
  }

  /** Sends one request and reads the complete response. */
  async #send(
    send: (call: UpstreamCall) => Promise<Response>,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const responses = this.#server.call(this.#timeouts, signal, async function* (call) {
      const response = await send(call);
      yield { status: response.status, body: await readBodyText(call.readChunks(response)) };
    });
    const [response] = await Array.fromAsync(responses);
    if (response === undefined) throw upstreamError('the response ended prematurely');
    return response;
  }
}

/** Errors that do not concern the job. The caller repeats the whole request later. */
function isTransientLimit(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === 'overloaded' || error.kind === 'rate_limited');
}

function timeoutError(): ServiceError {
  return new ServiceError(
    'timeout',
    'The upstream server of this model exceeded the time limit for the segment.',
    {
      code: 'upstream_error',
    },
  );
}
