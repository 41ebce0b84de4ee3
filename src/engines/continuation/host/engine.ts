/**
 * Continues clips without a neural network: extrapolates the motion and replays frames of the clip
 * (docs/decisions/video-continuation.md). Each segment is generated in a separate low-priority process.
 */

import { join } from 'node:path';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type {
  ExtensionRequest,
  ExtensionWork,
  VideoEngine,
  VideoSegment,
} from '../../../contract/engines/video.ts';
import { fromProcessError } from '../../../inference/workers/process-protocol.ts';
import { type EndReason, limitedCommand, OneShotProcess } from '../../../kit/process/one-shot-process.ts';
import { residentBytes } from '../../../kit/process/resident-memory.ts';
import { sendToChild } from '../../../kit/process/send-to-child.ts';
import type { ContinuationJob, ContinuationResult } from '../shared/protocol.ts';

const ENTRY = join(import.meta.dirname, '../worker/main.ts');
/** The CPU time in seconds, so that a process cannot hang forever. */
const RESOURCE_LIMITS = ['-t 1800'];
/** Long, because the low-priority process may wait for CPU time. */
const DEFAULT_TIMEOUT_MS = 3_600_000;
const MEMORY_LIMIT_BYTES = 1024 ** 3;

export interface ContinuationOptions {
  /** The complete environment of the processes. It must not contain secrets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Maximum duration of a segment. Default: one hour. */
  readonly timeoutMs?: number;
  /** Maximum resident memory of a process, enforced on Linux only. Default: 1 GiB. */
  readonly memoryLimitBytes?: number;
  /** Entry file of the process; overridden in tests. */
  readonly entry?: string;
}

/** Creates the engine. No process is started before the first request. */
export function continuationEngine(options: ContinuationOptions): VideoEngine {
  return new ContinuationEngine(options);
}

class ContinuationEngine implements VideoEngine {
  readonly audio = true;
  readonly note =
    'This model extrapolates the motion and audio of the clip. It ignores the prompt and does not generate new content.';
  readonly #options: ContinuationOptions;
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ContinuationOptions) {
    this.#options = options;
  }

  async extend(request: ExtensionRequest, work: ExtensionWork, signal: AbortSignal): Promise<VideoSegment> {
    const { clip, facts, width, height, seconds, audio } = request;
    const { fps, frames, durationS } = facts;
    const audioExcessS = Math.max(0, (facts.audio?.durationS ?? 0) - durationS);
    const cancelled = AbortSignal.any([signal, this.#closed.signal]);
    cancelled.throwIfAborted();
    const segment = this.#generate(
      { clip, to: work.to, width, height, fps, frames, audioExcessS, seconds, audio },
      cancelled,
    );
    this.#running.add(segment);
    try {
      return { width, height, seconds: await segment, audio };
    } finally {
      this.#running.delete(segment);
    }
  }

  ready(): ReadyReport {
    return { ready: true, detail: 'one process per segment' };
  }

  async deleteRemoteJob(): Promise<void> {
    // This engine has no remote jobs.
  }

  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    await Promise.allSettled(this.#running);
  }

  /** Retries once after a crash, which need not be caused by the clip. */
  async #generate(job: ContinuationJob, signal: AbortSignal): Promise<number> {
    try {
      return await this.#runProcess(job, signal);
    } catch (error) {
      if (!(error instanceof WorkerCrashError) || signal.aborted) throw error;
      this.#options.log.warn('continuation process crashed, retrying the segment');
    }
    return await this.#runProcess(job, signal);
  }

  /** Runs a process for the job. Resolves with the duration of the segment in seconds, after the process has exited. */
  async #runProcess(job: ContinuationJob, signal: AbortSignal): Promise<number> {
    const {
      environment,
      entry = ENTRY,
      timeoutMs = DEFAULT_TIMEOUT_MS,
      memoryLimitBytes = MEMORY_LIMIT_BYTES,
    } = this.#options;
    const result = Promise.withResolvers<ContinuationResult>();
    const child = Bun.spawn({
      cmd: limitedCommand(RESOURCE_LIMITS, entry),
      env: environment,
      // FFmpeg writes messages to standard error that may quote contents of the file.
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (message: ContinuationResult) => result.resolve(message),
    });
    const process = new OneShotProcess<'timeout'>(child, (reason) => {
      if (reason === 'memory') this.#logMemory(child.pid);
      result.reject(endError(reason));
    });
    process.setDeadline(timeoutMs, 'timeout');
    process.limitMemory(memoryLimitBytes);
    const onAbort = () => result.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      sendToChild(child, job);
      const message = await result.promise;
      if (message.kind === 'done') return message.seconds;
      this.#options.log.error('clip continuation failed', fromProcessError(message.error));
      throw new ServiceError('internal', 'The clip could not be continued.', { code: 'generation_failed' });
    } finally {
      signal.removeEventListener('abort', onAbort);
      await process.kill();
    }
  }

  #logMemory(pid: number): void {
    const bytes = residentBytes(pid);
    this.#options.log.warn('continuation process exceeds its memory limit, killing it', { bytes });
  }
}

const CRASH_MESSAGE = 'The process that generates the segment crashed.';

/** The process exited before it returned a result, and was not killed by this engine. */
class WorkerCrashError extends ServiceError {
  constructor() {
    super('internal', CRASH_MESSAGE, { code: 'worker_crashed' });
  }
}

function endError(reason: EndReason<'timeout'>): ServiceError {
  switch (reason) {
    case 'timeout':
      return new ServiceError('timeout', 'The segment exceeded its time limit.', {
        code: 'generation_failed',
      });
    case 'crashed':
      return new WorkerCrashError();
    case 'memory':
    case 'killed':
      return new ServiceError('internal', CRASH_MESSAGE, { code: 'worker_crashed' });
  }
}
