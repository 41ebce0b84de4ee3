/**
 * Continues clips without any weights: what moves goes on, comes to rest, and what was seen comes again
 * (docs/decisions/video-continuation.md). Each segment is made in a process of its own that leaves the cores to all
 * others.
 */

import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type {
  ExtensionRequest,
  ExtensionWork,
  VideoEngine,
  VideoSegment,
} from '../../../contract/engines/video.ts';
import { residentBytes } from '../../../kit/process/resident-memory.ts';
import { sendToChild } from '../../../kit/process/send-to-child.ts';
import { fromProcessError } from '../../workers/process-protocol.ts';
import type { ContinuationJob, FromContinuation } from '../shared/protocol.ts';

const ENTRY = join(import.meta.dirname, '../worker/main.ts');
/** No core files, which would hold pictures, and an end of computing for what hangs: it counts no time without a core. */
const SHELL_LIMITS = 'ulimit -c 0; ulimit -t 1800; exec "$0" "$@"';
/** Where others take the cores all the time, even a short segment may need long. */
const TIME_LIMIT_MS = 3_600_000;
const MEMORY_LIMIT_BYTES = 1024 ** 3;
const MEMORY_LOOK_MS = 250;

export interface ContinuationOptions {
  /** Everything that the processes find in their environment: no keys. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Default: an hour. */
  readonly timeLimitMs?: number;
  /** Default: 1 GiB. Only Linux shows how much there is. */
  readonly memoryLimitBytes?: number;
  /** Path of the entry file, for tests. */
  readonly entry?: string;
}

/** Makes the engine; nothing runs before the first request. */
export function continuationEngine(options: ContinuationOptions): VideoEngine {
  return new ContinuationEngine(options);
}

class ContinuationEngine implements VideoEngine {
  readonly audio = true;
  readonly note =
    'This model carries the motion and the sound of the clip on; it does not read the prompt and shows nothing new.';
  readonly #options: ContinuationOptions;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ContinuationOptions) {
    this.#options = options;
  }

  async extend(request: ExtensionRequest, work: ExtensionWork, signal: AbortSignal): Promise<VideoSegment> {
    const { clip, facts, width, height, seconds, audio } = request;
    const { fps, frames, durationS } = facts;
    const soundBeyondS = Math.max(0, (facts.audio?.durationS ?? 0) - durationS);
    const ended = AbortSignal.any([signal, this.#closed.signal]);
    ended.throwIfAborted();
    const made = this.#make(
      { clip, to: work.to, width, height, fps, frames, soundBeyondS, seconds, audio },
      ended,
    );
    this.#running.add(made);
    try {
      return { width, height, seconds: await made, audio };
    } finally {
      this.#running.delete(made);
    }
  }

  ready(): ReadyReport {
    return { ready: true, detail: 'a process for each segment' };
  }

  async deleteRemoteJob(): Promise<void> {
    // Nothing is left behind elsewhere.
  }

  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    await Promise.allSettled(this.#running);
  }

  /** Once more where the process died: what killed it need not be this clip. */
  async #make(job: ContinuationJob, signal: AbortSignal): Promise<number> {
    try {
      return await this.#run(job, signal);
    } catch (error) {
      if (!(error instanceof ProcessDied) || signal.aborted) throw error;
      this.#options.log.warn('a continuation process died; its segment is begun again');
    }
    return await this.#run(job, signal);
  }

  /** Resolves with the length of the segment when its process is gone. */
  async #run(job: ContinuationJob, signal: AbortSignal): Promise<number> {
    const { environment, entry = ENTRY, timeLimitMs = TIME_LIMIT_MS } = this.#options;
    const told = Promise.withResolvers<FromContinuation>();
    const child = Bun.spawn({
      cmd: ['/bin/sh', '-c', SHELL_LIMITS, process.execPath, entry],
      env: environment,
      // FFmpeg writes about files to standard error, and may quote them.
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (message: FromContinuation) => told.resolve(message),
      onExit: () => told.reject(new ProcessDied()),
    });
    const left = () => told.reject(signal.reason);
    signal.addEventListener('abort', left, { once: true });
    const timer = setTimeout(() => told.reject(tookTooLong()), timeLimitMs);
    const memory = setInterval(() => {
      if (this.#tooLarge(child)) told.reject(new ServiceError('internal', DIED, { code: 'worker_crashed' }));
    }, MEMORY_LOOK_MS);
    try {
      sendToChild(child, job);
      const end = await told.promise;
      if (end.kind === 'done') return end.seconds;
      this.#options.log.error('a clip could not be continued', fromProcessError(end.fault));
      throw new ServiceError('internal', 'The clip could not be continued.', { code: 'generation_failed' });
    } finally {
      clearTimeout(timer);
      clearInterval(memory);
      signal.removeEventListener('abort', left);
      child.kill('SIGKILL');
      await child.exited;
    }
  }

  #tooLarge(child: Subprocess): boolean {
    const { memoryLimitBytes = MEMORY_LIMIT_BYTES, log } = this.#options;
    const bytes = residentBytes(child.pid);
    if (bytes <= memoryLimitBytes) return false;
    log.warn('a continuation process is too large and is killed', { bytes });
    return true;
  }
}

const DIED = 'The process that made the segment ended before it was done.';

/** By itself, or by who is no owner of it. */
class ProcessDied extends ServiceError {
  constructor() {
    super('internal', DIED, { code: 'worker_crashed' });
  }
}

function tookTooLong(): ServiceError {
  return new ServiceError('timeout', 'The segment took too long to make.', { code: 'generation_failed' });
}
