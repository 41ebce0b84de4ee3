/**
 * Segments from another server that has `/v1/videos`: vLLM-Omni, SGLang (partner-and-upstreams B.2, B.8). It is sent
 * the clip's end, and of its answer what repeats the clip is cut off.
 */

import { open, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { UpstreamVideoSettings } from '../../../contract/core/settings.ts';
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
import { readBodyText } from '../client/response-body.ts';
import { upstreamError } from '../client/upstream-error.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { explainVideoRejection, jobIdOf, readVideoJob } from './job-status.ts';

/** Longest segment that is fetched: 30 s at 130 Mbit/s. */
const SEGMENT_BYTES = 512 * 1024 * 1024;
const FIRST_POLL_MS = 1000;
const MAX_POLL_MS = 15_000;
const POLL_GROWTH = 1.5;
/** Answers in a row that may fail. */
const MAX_FAILED_REQUESTS = 8;
const TIME_LIMIT_MS = 3_600_000;
/** Whoever ends a job on the server does not wait longer for it. */
const FORGET_MS = 10_000;
/** Cuts are made within a frame that is meant to be the first, so that no rounding takes the one before it. */
const WITHIN_FRAME = 0.25;
/** The frames of models of this kind are a multiple of it, and one more. */
const FRAMES_STEP = 4;

export interface UpstreamVideoOptions {
  readonly settings: UpstreamVideoSettings;
  readonly log: Logger;
  /** Cuts the clip's end, and what comes back. */
  readonly cutter: ClipCutter;
  /** Measures what comes back. */
  readonly clips: ClipReader;
  readonly meter?: UpstreamMeter;
  /** Wait before the first look at a job; later ones are longer. */
  readonly pollMs?: number;
  /** How long a job may take, from the request on. */
  readonly timeLimitMs?: number;
  /** How long the server may take until the first byte of an answer, and between two chunks. */
  readonly responseTimeoutMs?: number;
  /** Pause between two looks at a server that failed. */
  readonly probeMs?: number;
}

/** Makes the engine; nothing is sent before the first request. */
export function upstreamVideoEngine(options: UpstreamVideoOptions): VideoEngine {
  return new UpstreamVideoEngine(options);
}

/** Beside the segment while it is made: what is sent, and what comes back. */
interface WorkFiles {
  readonly tail: string;
  readonly picture: string;
  readonly made: string;
}

class UpstreamVideoEngine implements VideoEngine {
  readonly audio: boolean;
  readonly note = undefined;
  readonly #options: UpstreamVideoOptions;
  readonly #server: UpstreamServer;
  readonly #timeouts: { readonly firstByteMs: number; readonly idleMs: number };
  readonly #closed = new AbortController();

  constructor(options: UpstreamVideoOptions) {
    this.audio = options.settings.audio;
    this.#options = options;
    this.#server = new UpstreamServer({ ...options, explain: explainVideoRejection });
    const responseTimeoutMs = options.responseTimeoutMs ?? 60_000;
    this.#timeouts = { firstByteMs: responseTimeoutMs, idleMs: responseTimeoutMs };
  }

  async extend(request: ExtensionRequest, work: ExtensionWork, signal: AbortSignal): Promise<VideoSegment> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tookTooLong()), this.#options.timeLimitMs ?? TIME_LIMIT_MS);
    const ended = AbortSignal.any([signal, this.#closed.signal, late.signal]);
    const job = { id: request.savedState, remembered: request.savedState !== undefined };
    const files = { tail: `${work.to}.tail`, picture: `${work.to}.picture`, made: `${work.to}.made` };
    try {
      ended.throwIfAborted();
      if (job.id === undefined || !(await this.#finished(job.id, ended))) {
        job.remembered = false;
        job.id = await this.#submit(request, files, ended);
        await work.saveState(job.id);
        job.remembered = true;
        if (!(await this.#finished(job.id, ended))) throw upstreamError('it has lost the job');
      }
      const { id } = job;
      const isWhole = await this.#patiently(() => this.#fetch(id, files.made, ended), ended);
      if (!isWhole) throw upstreamError('its answer is too long');
      return await this.#trim(files.made, request, work.to, ended);
    } catch (error) {
      if (job.id !== undefined && !job.remembered) await this.deleteRemoteJob(job.id);
      ended.throwIfAborted();
      throw toDiskError(error);
    } finally {
      clearTimeout(timer);
      await Promise.all(Object.values(files).map((path) => rm(path, { force: true })));
    }
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  async deleteRemoteJob(remembered: string): Promise<void> {
    const signal = AbortSignal.timeout(FORGET_MS);
    const path = `/videos/${encodeURIComponent(remembered)}`;
    try {
      const deleted = await this.#answer(({ ask }) => ask('DELETE', path), signal);
      // What has no output yet cannot be deleted everywhere, but cancelled.
      if (deleted.status === 409) await this.#answer(({ post }) => post(`${path}/cancel`, '{}'), signal);
    } catch {
      this.#options.log.warn('a job of an upstream may go on');
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    await this.#server.close();
  }

  /** Sends the clip's end. @returns the server's id of the job. */
  async #submit(request: ExtensionRequest, files: WorkFiles, signal: AbortSignal): Promise<string> {
    const { settings, cutter, clips } = this.#options;
    const { clip, facts, width, height } = request;
    const form = this.#form(request);
    const fromS = WITHIN_FRAME / facts.fps - Math.max(settings.tailSeconds, 1 / facts.fps);
    await cutter.cut(clip, files.tail, { fromS, width, height }, signal);
    if (settings.tailSeconds > 0) {
      form.append('input_reference', Bun.file(files.tail, { type: 'video/mp4' }), 'clip.mp4');
    } else {
      await clips.thumbnail(files.tail, files.picture, signal);
      form.append('input_reference', Bun.file(files.picture, { type: 'image/webp' }), 'frame.webp');
    }
    const { body } = await this.#answer(({ post }) => post('/videos', form), signal);
    return jobIdOf(body);
  }

  #form({ prompt, facts, seconds, width, height }: ExtensionRequest): FormData {
    const { model, contextFrames, audio, fields } = this.#options.settings;
    const fps = Math.round(facts.fps);
    const frames = Math.ceil((seconds * fps + contextFrames - 1) / FRAMES_STEP) * FRAMES_STEP + 1;
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
   * Waits until a job has ended well.
   * @returns false when the server does not know it.
   * @throws ServiceError why it failed.
   */
  async #finished(id: string, signal: AbortSignal): Promise<boolean> {
    for (let look = 0; ; look += 1) {
      const job = await this.#patiently(() => this.#look(id, signal), signal);
      if (job.kind === 'completed') return true;
      if (job.kind === 'lost') return false;
      if (job.kind === 'failed') throw job.error;
      await this.#pause(look, signal);
    }
  }

  /** Asks again where the server failed to answer: it works on meanwhile. */
  async #patiently<Answer>(ask: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await ask();
      } catch (error) {
        signal.throwIfAborted();
        const mayPass = error instanceof ServiceError && !isHindrance(error);
        if (!mayPass || failures >= MAX_FAILED_REQUESTS) throw error;
      }
      await this.#pause(failures, signal);
    }
  }

  /** Longer after each turn. @throws the signal's reason. */
  async #pause(turn: number, signal: AbortSignal): Promise<void> {
    const waitMs = Math.min(MAX_POLL_MS, (this.#options.pollMs ?? FIRST_POLL_MS) * POLL_GROWTH ** turn);
    await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }

  async #look(id: string, signal: AbortSignal) {
    const { status, body } = await this.#answer(
      ({ ask }) => ask('GET', `/videos/${encodeURIComponent(id)}`),
      signal,
    );
    return readVideoJob(status, body);
  }

  /** Writes what was made into a file. @returns false when it is too long, which no other try would change. */
  async #fetch(id: string, path: string, signal: AbortSignal): Promise<boolean> {
    const file = await open(path, 'w');
    try {
      const chunks = this.#server.call(this.#timeouts, signal, async function* ({ ask, readChunks }) {
        const response = await ask('GET', `/videos/${encodeURIComponent(id)}/content`);
        if (!response.ok) throw upstreamError(`it answered with HTTP status ${response.status}`);
        yield* readChunks(response);
      });
      let lengthBytes = 0;
      for await (const chunk of chunks) {
        lengthBytes += chunk.length;
        if (lengthBytes > SEGMENT_BYTES) return false;
        // All of it, which one `write` need not be.
        await file.writeFile(chunk);
      }
      return true;
    } finally {
      await file.close();
    }
  }

  /** Cuts off what repeats the clip, and what is more than was asked for. */
  async #trim(
    made: string,
    { seconds, width, height }: ExtensionRequest,
    to: string,
    signal: AbortSignal,
  ): Promise<VideoSegment> {
    const { cutter, clips, settings } = this.#options;
    try {
      const { fps } = await clips.measure(made, 'video', signal);
      const fromS = (settings.contextFrames + WITHIN_FRAME) / fps;
      const cut = await cutter.cut(made, to, { fromS, toS: fromS + seconds, width, height }, signal);
      return { width: cut.width, height: cut.height, seconds: cut.seconds, audio: cut.audio };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServiceError && error.kind !== 'invalid_request') throw error;
      throw upstreamError('what it made is no video that can be used', error);
    }
  }

  /** One call and its whole answer. */
  async #answer(
    asked: (call: UpstreamCall) => Promise<Response>,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const answers = this.#server.call(this.#timeouts, signal, async function* (call) {
      const response = await asked(call);
      yield { status: response.status, body: await readBodyText(call.readChunks(response)) };
    });
    const [answer] = await Array.fromAsync(answers);
    if (answer === undefined) throw upstreamError('its answer broke off');
    return answer;
  }
}

/** It may go well later, and says nothing of the job. */
function isHindrance(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === 'overloaded' || error.kind === 'rate_limited');
}

function tookTooLong(): ServiceError {
  return new ServiceError('timeout', 'The server behind this model took too long to make the segment.', {
    code: 'upstream_error',
  });
}
