/**
 * One media process from the server's point of view: message queue, supervision of memory and progress,
 * shutdown.
 */

import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { residentBytes } from '../../kit/process/resident-memory.ts';
import { sendToChild } from '../../kit/process/send-to-child.ts';
import type { ClipJob } from './clip-protocol.ts';
import type { AudioJob, FromMediaProcess, ToMediaProcess } from './protocol.ts';

const ENTRY = join(import.meta.dirname, '../worker.ts');
/** A process that allocates as fast as possible adds about 150 MB between two checks. */
const MEMORY_POLL_INTERVAL_MS = 50;
/** A start takes a few tenths of a second; a slow start on a loaded machine is not caused by the file. */
const START_TIMEOUT_MS = 10_000;
/**
 * CPU time limit in seconds; it also ends a process without a parent. Decoding the longest allowed audio
 * takes minutes.
 */
const PROCESSOR_LIMIT_S = 1800;

export interface MediaProcessOptions {
  /** The complete environment of the process; contains no keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** A process with more resident memory is killed. Supported on Linux only. */
  readonly memoryLimitBytes: number;
  /** A started job that sends nothing for this time while a message is awaited is killed, in ms. */
  readonly stallTimeoutMs: number;
  /** A process that does not start its job within this time while a message is awaited is killed, in ms. */
  readonly startTimeoutMs?: number;
  /** CPU time limit in whole seconds; default 1,800. */
  readonly processorLimitS?: number;
  /** Path of the entry file, for tests. */
  readonly entry?: string;
}

/** Number of messages of an audio job besides samples: `opened`, then `done` or `refused`. */
const MESSAGES_PER_AUDIO_JOB = 2;
/** A clip job has one result. */
const MESSAGES_PER_CLIP_JOB = 1;

/** Why a process sends no further messages. */
export type LossReason =
  /** It never started the job; the file is not the cause. */
  | 'not-started'
  /** It exited or was killed by a signal. */
  | 'crashed'
  | 'stalled'
  | 'memory'
  /** It exceeded its CPU time limit. */
  | 'cpu-limit'
  /** It sent more than its credit, for example because the file corrupted its memory. */
  | 'credit-exceeded'
  /** {@link MediaProcess.kill} was called. */
  | 'killed';

export class MediaProcessLost extends Error {
  override readonly name = 'MediaProcessLost';
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`media process lost: ${reason}`);
    this.reason = reason;
  }
}

export class MediaProcess {
  readonly #options: MediaProcessOptions;
  readonly #child: Subprocess;
  /** Unread messages; their number is limited by the credit. */
  readonly #mail: FromMediaProcess[] = [];
  /** What the process may still send: nothing before there is a job. */
  readonly #credit = { blocks: 0, blockSamples: 0, messages: 0 };
  #waiting: PromiseWithResolvers<void> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #begun = false;
  #lost: LossReason | undefined;
  #memoryWatch: ReturnType<typeof setInterval> | undefined;

  /** Starts the process. A job that is sent before the libraries are loaded is queued in the IPC channel. */
  constructor(options: MediaProcessOptions) {
    this.#options = options;
    this.#child = Bun.spawn({
      cmd: ['/bin/sh', '-c', shellLimits(options), process.execPath, options.entry ?? ENTRY],
      env: options.environment,
      // FFmpeg logs messages about files to standard error, which may quote their content.
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (message: FromMediaProcess) => this.#receive(message),
      onExit: () => this.#lose(this.#lossAtExit()),
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Whether the process has ended or is ending. */
  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /**
   * Sends the process its only job.
   * @param credit number of blocks that it may send before {@link grant}.
   */
  run(job: AudioJob, credit: number): void {
    this.#watchMemory();
    Object.assign(this.#credit, {
      blocks: credit,
      blockSamples: job.blockSamples,
      messages: MESSAGES_PER_AUDIO_JOB,
    });
    this.#send({ kind: 'run', job, credit });
  }

  /** Sends the process its only job; {@link next} returns the result. */
  runClipJob(job: ClipJob): void {
    this.#watchMemory();
    this.#credit.messages = MESSAGES_PER_CLIP_JOB;
    this.#send({ kind: 'clip', job });
  }

  /** Allows the process to send more blocks. */
  grant(credit: number): void {
    this.#credit.blocks += credit;
    this.#send({ kind: 'more', credit });
  }

  /**
   * Returns the next message of the job, in order. Must not be called concurrently.
   * @throws MediaProcessLost if the process is lost before it sends one.
   */
  async next(): Promise<FromMediaProcess> {
    this.#setDeadline();
    try {
      for (;;) {
        const message = this.#mail.shift();
        if (message !== undefined) return message;
        if (this.#lost !== undefined) throw new MediaProcessLost(this.#lost);
        this.#waiting = Promise.withResolvers();
        await this.#waiting.promise;
      }
    } finally {
      clearTimeout(this.#deadline);
      this.#deadline = undefined;
    }
  }

  #setDeadline(): void {
    const { stallTimeoutMs, startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    clearTimeout(this.#deadline);
    this.#deadline = this.#begun
      ? setTimeout(() => this.#end('stalled'), stallTimeoutMs)
      : setTimeout(() => this.#end('not-started'), startTimeoutMs);
  }

  /** Ends the process; resolves when it has exited. Idempotent. */
  async kill(): Promise<void> {
    this.#end('killed');
    await this.#child.exited;
  }

  #send(message: ToMediaProcess): void {
    if (this.#lost === undefined) sendToChild(this.#child, message);
  }

  #receive(message: FromMediaProcess): void {
    if (message.kind === 'started') this.#start();
    else if (this.#consumeCredit(message)) this.#mail.push(message);
    else this.#end('credit-exceeded');
    this.#waiting?.resolve();
  }

  /** From here on, failures and delays are caused by the file. */
  #start(): void {
    if (this.#begun) return;
    this.#begun = true;
    if (this.#deadline !== undefined) this.#setDeadline();
  }

  /** Whether the credit of the process allows this message. */
  #consumeCredit(message: FromMediaProcess): boolean {
    const credit = this.#credit;
    if (message.kind !== 'samples') return credit.messages-- > 0;
    return credit.blocks-- > 0 && message.samples.length <= credit.blockSamples;
  }

  #end(reason: LossReason): void {
    this.#lose(reason);
    this.#child.kill('SIGKILL');
  }

  #lose(reason: LossReason): void {
    clearInterval(this.#memoryWatch);
    this.#lost ??= reason;
    this.#waiting?.resolve();
  }

  #lossAtExit(): LossReason {
    if (!this.#begun) return 'not-started';
    return this.#child.signalCode === 'SIGXCPU' ? 'cpu-limit' : 'crashed';
  }

  #watchMemory(): void {
    this.#memoryWatch = setInterval(() => this.#checkMemory(), MEMORY_POLL_INTERVAL_MS);
  }

  #checkMemory(): void {
    if (residentBytes(this.pid) > this.#options.memoryLimitBytes) this.#end('memory');
  }
}

/**
 * Resource limits, set by the shell before it executes the process. SIGXCPU at the soft limit identifies the
 * reason; a process that ignores it is killed at the hard limit. Core dumps are disabled, because they
 * contain file content.
 */
function shellLimits({ processorLimitS = PROCESSOR_LIMIT_S }: MediaProcessOptions): string {
  return `ulimit -c 0; ulimit -S -t ${processorLimitS}; ulimit -H -t ${processorLimitS + 1}; exec "$0" "$@"`;
}
