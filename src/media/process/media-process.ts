/** One media process from the server's point of view: message queue, limits of memory and progress, shutdown. */

import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { type EndReason, limitedCommand, OneShotProcess } from '../../kit/process/one-shot-process.ts';
import { sendToChild } from '../../kit/process/send-to-child.ts';
import type { ClipJob } from './clip-protocol.ts';
import type { AudioJob, FromMediaProcess, ToMediaProcess } from './protocol.ts';

const ENTRY = join(import.meta.dirname, '../worker.ts');
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

type MediaEndReason =
  /** It never started the job; the file is not the cause. */
  | 'not-started'
  | 'stalled'
  /** It sent more than its credit, for example because the file corrupted its memory. */
  | 'credit-exceeded';

/** Why a process sends no further messages. `cpu-limit`: it exceeded its CPU time limit. */
export type LossReason = EndReason<MediaEndReason> | 'cpu-limit';

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
  readonly #process: OneShotProcess<MediaEndReason>;
  /** Unread messages; their number is limited by the credit. */
  readonly #mail: FromMediaProcess[] = [];
  /** What the process may still send: nothing before there is a job. */
  readonly #credit = { blocks: 0, blockSamples: 0, messages: 0 };
  #waiting: PromiseWithResolvers<void> | undefined;
  #begun = false;

  /**
   * Starts the process. A job that is sent before the libraries are loaded is queued in the IPC channel.
   * @throws MediaProcessLost `not-started` if the system cannot start a process, for example without free file descriptors.
   */
  constructor(options: MediaProcessOptions) {
    this.#options = options;
    this.#child = spawnProcess(options, (message) => this.#receive(message));
    this.#process = new OneShotProcess(this.#child, () => this.#waiting?.resolve());
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Whether the process has ended or is ending. */
  get hasEnded(): boolean {
    return this.#process.endReason !== undefined;
  }

  /**
   * Sends the process its only job.
   * @param credit number of blocks that it may send before {@link grant}.
   */
  run(job: AudioJob, credit: number): void {
    this.#process.limitMemory(this.#options.memoryLimitBytes);
    Object.assign(this.#credit, {
      blocks: credit,
      blockSamples: job.blockSamples,
      messages: MESSAGES_PER_AUDIO_JOB,
    });
    this.#send({ kind: 'run', job, credit });
  }

  /** Sends the process its only job; {@link next} returns the result. */
  runClipJob(job: ClipJob): void {
    this.#process.limitMemory(this.#options.memoryLimitBytes);
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
        const { endReason } = this.#process;
        if (endReason !== undefined) throw new MediaProcessLost(this.#lossReason(endReason));
        this.#waiting = Promise.withResolvers();
        await this.#waiting.promise;
      }
    } finally {
      this.#process.clearDeadline();
    }
  }

  #setDeadline(): void {
    const { stallTimeoutMs, startTimeoutMs = START_TIMEOUT_MS } = this.#options;
    if (this.#begun) this.#process.setDeadline(stallTimeoutMs, 'stalled');
    else this.#process.setDeadline(startTimeoutMs, 'not-started');
  }

  /** Ends the process; resolves when it has exited. Idempotent. */
  async kill(): Promise<void> {
    await this.#process.kill();
  }

  #send(message: ToMediaProcess): void {
    if (!this.hasEnded) sendToChild(this.#child, message);
  }

  #receive(message: FromMediaProcess): void {
    if (message.kind === 'started') this.#start();
    else if (this.#consumeCredit(message)) this.#mail.push(message);
    else this.#process.end('credit-exceeded');
    this.#waiting?.resolve();
  }

  /** From here on, failures and delays are caused by the file. */
  #start(): void {
    if (this.#begun) return;
    this.#begun = true;
    if (this.#process.hasDeadline) this.#setDeadline();
  }

  /** Whether the credit of the process allows this message. */
  #consumeCredit(message: FromMediaProcess): boolean {
    const credit = this.#credit;
    if (message.kind !== 'samples') return credit.messages-- > 0;
    return credit.blocks-- > 0 && message.samples.length <= credit.blockSamples;
  }

  #lossReason(reason: EndReason<MediaEndReason>): LossReason {
    if (reason !== 'crashed') return reason;
    if (!this.#begun) return 'not-started';
    return this.#child.signalCode === 'SIGXCPU' ? 'cpu-limit' : 'crashed';
  }
}

function spawnProcess(
  { environment, entry = ENTRY, processorLimitS = PROCESSOR_LIMIT_S }: MediaProcessOptions,
  receive: (message: FromMediaProcess) => void,
): Subprocess {
  // SIGXCPU at the soft limit identifies the reason; a process that ignores it is killed at the hard limit.
  const limits = [`-S -t ${processorLimitS}`, `-H -t ${processorLimitS + 1}`];
  try {
    return Bun.spawn({
      cmd: limitedCommand(limits, entry),
      env: environment,
      // FFmpeg logs messages about files to standard error, which may quote their content.
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: receive,
    });
  } catch {
    throw new MediaProcessLost('not-started');
  }
}
