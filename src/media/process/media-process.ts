/** One media process as the serving process holds it: mailbox, watch over memory and progress, end. */

import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { residentBytes } from '../../kit/process/resident-memory.ts';
import { sendToChild } from '../../kit/process/send-to-child.ts';
import type { ClipJob } from './clip-protocol.ts';
import type { AudioJob, FromMediaProcess, ToMediaProcess } from './protocol.ts';

const ENTRY = join(import.meta.dirname, '../worker.ts');
/** A process that fills memory as fast as it can adds about 150 MB between two looks. */
const MEMORY_LOOK_MS = 50;
/** A start takes a few tenths of a second; what it takes on a busy machine is not the file's fault. */
const START_LIMIT_MS = 10_000;
/** Ends a process that computes on, also when nobody is left to watch it. The longest allowed audio takes minutes. */
const PROCESSOR_LIMIT_S = 1800;

export interface MediaProcessOptions {
  /** Everything that the process finds in its environment: no keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** A process whose resident memory passes this is killed. Only Linux shows it. */
  readonly memoryLimitBytes: number;
  /** A process that has begun its job, is waited for and says nothing for so long is killed. */
  readonly stallLimitMs: number;
  /** A process that is waited for and does not begin for so long is killed. */
  readonly startLimitMs?: number;
  /** A process that has used that much processor time, in whole seconds, is ended; 1,800 when left out. */
  readonly processorLimitS?: number;
  /** Path of the entry file, for tests. */
  readonly entry?: string;
}

/** What a job is answered besides samples: `opened`, then `done` or `refused`. */
const NEWS_OF_A_JOB = 2;
/** A job about a clip has one answer. */
const ANSWERS_OF_A_CLIP = 1;

/** Why a process gave no further message. */
export type LossReason =
  /** It never began the job: this is not the file's fault. */
  | 'not-started'
  /** It ended by itself or by somebody's signal. */
  | 'died'
  | 'stalled'
  | 'memory'
  /** It used more processor time than it may. */
  | 'processor'
  /** It sent more than it may, as one does whose memory its file has overwritten. */
  | 'unruly'
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
  /** Messages that nobody has taken; what may still be sent bounds them. */
  readonly #mail: FromMediaProcess[] = [];
  /** What may still be sent: nothing before there is a job. */
  readonly #credit = { blocks: 0, blockSamples: 0, news: 0 };
  #waiting: PromiseWithResolvers<void> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #begun = false;
  #lost: LossReason | undefined;
  #memoryWatch: ReturnType<typeof setInterval> | undefined;

  /** Starts the process; a job that is given before it has loaded its libraries waits in its channel. */
  constructor(options: MediaProcessOptions) {
    this.#options = options;
    this.#child = Bun.spawn({
      cmd: ['/bin/sh', '-c', shellLimits(options), process.execPath, options.entry ?? ENTRY],
      env: options.environment,
      // FFmpeg writes about files to standard error, and may quote them.
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (message: FromMediaProcess) => this.#receive(message),
      onExit: () => this.#lose(this.#lossAtExit()),
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Whether it is gone or about to go. */
  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /**
   * Gives the process its one job.
   * @param credit blocks that it may send before {@link grant}.
   */
  run(job: AudioJob, credit: number): void {
    this.#watchMemory();
    Object.assign(this.#credit, { blocks: credit, blockSamples: job.blockSamples, news: NEWS_OF_A_JOB });
    this.#send({ kind: 'run', job, credit });
  }

  /** Gives the process its one job, of which {@link next} tells the answer. */
  ask(job: ClipJob): void {
    this.#watchMemory();
    this.#credit.news = ANSWERS_OF_A_CLIP;
    this.#send({ kind: 'clip', job });
  }

  /** Lets it send that many more blocks. */
  grant(credit: number): void {
    this.#credit.blocks += credit;
    this.#send({ kind: 'more', credit });
  }

  /**
   * The next message of the job, in order. One call at a time.
   * @throws MediaProcessLost when the process is lost before it sends one.
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
    const { stallLimitMs, startLimitMs = START_LIMIT_MS } = this.#options;
    clearTimeout(this.#deadline);
    this.#deadline = this.#begun
      ? setTimeout(() => this.#end('stalled'), stallLimitMs)
      : setTimeout(() => this.#end('not-started'), startLimitMs);
  }

  /** Ends the process and resolves when it is gone. Idempotent. */
  async kill(): Promise<void> {
    this.#end('killed');
    await this.#child.exited;
  }

  #send(message: ToMediaProcess): void {
    if (this.#lost === undefined) sendToChild(this.#child, message);
  }

  #receive(message: FromMediaProcess): void {
    if (message.kind === 'begun') this.#begin();
    else if (this.#spend(message)) this.#mail.push(message);
    else this.#end('unruly');
    this.#waiting?.resolve();
  }

  /** From now on what happens is the file's doing, and so is the time that it takes. */
  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    if (this.#deadline !== undefined) this.#setDeadline();
  }

  /** Whether a message is within what the process may send. */
  #spend(message: FromMediaProcess): boolean {
    const credit = this.#credit;
    if (message.kind !== 'samples') return credit.news-- > 0;
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
    return this.#child.signalCode === 'SIGXCPU' ? 'processor' : 'died';
  }

  #watchMemory(): void {
    this.#memoryWatch = setInterval(() => this.#lookAtMemory(), MEMORY_LOOK_MS);
  }

  #lookAtMemory(): void {
    if (residentBytes(this.pid) > this.#options.memoryLimitBytes) this.#end('memory');
  }
}

/**
 * What the shell that becomes the process limits before. The signal at the soft limit tells why the process ended;
 * whoever ignores it is killed at the hard one. Nothing of a file goes into a core file.
 */
function shellLimits({ processorLimitS = PROCESSOR_LIMIT_S }: MediaProcessOptions): string {
  return `ulimit -c 0; ulimit -S -t ${processorLimitS}; ulimit -H -t ${processorLimitS + 1}; exec "$0" "$@"`;
}
