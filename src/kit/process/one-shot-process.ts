import type { Subprocess } from 'bun';
import { residentBytes } from './resident-memory.ts';

/** A process that allocates as fast as possible adds about 150 MB between two checks. */
const MEMORY_POLL_INTERVAL_MS = 50;

/**
 * Why a process ended: the reason of its deadline or of {@link OneShotProcess.end}, or
 * - `crashed`: it exited by itself or was killed by a signal of another process,
 * - `memory`: it exceeded its memory limit,
 * - `killed`: its owner does not need it any more.
 */
export type EndReason<OwnReason extends string> = OwnReason | 'crashed' | 'memory' | 'killed';

/**
 * Command line that runs a file of this runtime under resource limits. Core dumps are disabled, because they contain the
 * data of the process.
 * @param limits arguments of `ulimit` in sh(1), for example `-t 300` for the CPU time in seconds.
 * @param args arguments of the runtime: its options, the entry file and the arguments of that file.
 */
export function limitedCommand(limits: readonly string[], ...args: string[]): string[] {
  const commands = ['-c 0', ...limits].map((limit) => `ulimit ${limit}; `).join('');
  return ['/bin/sh', '-c', `${commands}exec "$0" "$@"`, process.execPath, ...args];
}

/** A child process for one task. It is not restarted, and killed when it exceeds a limit. Its owner calls {@link kill}. */
export class OneShotProcess<OwnReason extends string> {
  readonly #child: Subprocess;
  readonly #onEnd: (reason: EndReason<OwnReason>) => void;
  #endReason: EndReason<OwnReason> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #memoryTimer: ReturnType<typeof setInterval> | undefined;

  /** @param onEnd called once, when the process has exited or just before it is killed. */
  constructor(child: Subprocess, onEnd: (reason: EndReason<OwnReason>) => void) {
    this.#child = child;
    this.#onEnd = onEnd;
    // Not the `onExit` option of Bun.spawn, which may be called before `spawn` returns the child.
    child.exited.then(() => this.#setEnded('crashed'));
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Undefined while the process runs. */
  get endReason(): EndReason<OwnReason> | undefined {
    return this.#endReason;
  }

  /** Whether a deadline is set. */
  get hasDeadline(): boolean {
    return this.#deadline !== undefined;
  }

  /** Kills the process in `ms`. Replaces an earlier deadline. */
  setDeadline(ms: number, reason: OwnReason): void {
    this.clearDeadline();
    if (this.#endReason === undefined) this.#deadline = setTimeout(() => this.end(reason), ms);
  }

  clearDeadline(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  /** Kills the process when its resident memory exceeds `bytes`. Supported on Linux only. */
  limitMemory(bytes: number): void {
    clearInterval(this.#memoryTimer);
    if (this.#endReason !== undefined) return;
    this.#memoryTimer = setInterval(() => {
      if (residentBytes(this.pid) > bytes) this.end('memory');
    }, MEMORY_POLL_INTERVAL_MS);
  }

  /** Kills the process for a reason, which is ignored if it has already ended. */
  end(reason: EndReason<OwnReason>): void {
    this.#setEnded(reason);
    this.#child.kill('SIGKILL');
  }

  /** Kills the process and resolves when it has exited. Idempotent. */
  async kill(): Promise<void> {
    this.end('killed');
    await this.#child.exited;
  }

  #setEnded(reason: EndReason<OwnReason>): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    this.clearDeadline();
    clearInterval(this.#memoryTimer);
    this.#onEnd(reason);
  }
}
