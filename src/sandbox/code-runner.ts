/** Runs Python programs; each container has its own process (docs/decisions/code-interpreter.md). */

import { ServiceError, shuttingDown } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { CodeContainer, CodeRunner, ProgramResult } from '../contract/engines/code-runner.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { FairSemaphore } from '../kit/limits/fair-semaphore.ts';
import { SpareProcess } from '../kit/process/spare-process.ts';
import {
  type ProgramEnd,
  type PythonLimits,
  PythonProcess,
  type PythonProcessOptions,
  type TerminationReason,
} from './python-process.ts';
import { MAX_CODE_CHARACTERS, MAX_LOG_BYTES } from './sandbox-protocol.ts';
import { SnapshotBuilder } from './snapshot-builder.ts';

/** Idle time after which a container releases its interpreter. */
const IDLE_TIMEOUT_MS = 60_000;
/** Idle time after which the spare interpreter, which uses about 200 MB, is stopped. */
const SPARE_IDLE_MS = 10 * 60_000;
/** Maximum number of queued containers; at most half of them may have the same key. */
const MAX_WAITING = 64;

export interface CodeRunnerOptions extends PythonProcessOptions {
  /** Maximum number of interpreters in use, each by one container. In addition, a spare one is kept ready. */
  readonly maxConcurrent: number;
  readonly log: Logger;
  /** Idle time after which a container releases its interpreter (ms). Default: one minute. */
  readonly idleTimeoutMs?: number;
}

export interface OpenCodeRunner extends CodeRunner {
  /** Kills all interpreters and their running programs. Idempotent. */
  close(): Promise<void>;
}

/** Creates the code runner. The first interpreter is started when the first container is opened. */
export function codeRunner(options: CodeRunnerOptions): OpenCodeRunner {
  const { maxConcurrent, modelsDir, log, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const snapshot = new SnapshotBuilder(modelsDir, log);
  const spare = new SpareProcess(() => new PythonProcess(options), SPARE_IDLE_MS);
  const slots = new FairSemaphore({
    maxConcurrent,
    maxConcurrentPerKey: Math.ceil(maxConcurrent / 2),
    maxQueued: MAX_WAITING,
    maxQueuedPerKey: MAX_WAITING / 2,
  });
  const containers = new Set<Container>();
  return {
    openContainer(fairnessKey) {
      spare.prepare();
      const deps = { options, fairnessKey, spare, snapshot, slots, log, idleTimeoutMs };
      const container = new Container(deps, () => containers.delete(container));
      containers.add(container);
      return container;
    },
    async close() {
      const closing = [...containers].map((container) => container.close());
      await Promise.all([spare.close(), snapshot.close(), ...closing]);
    },
  };
}

interface ContainerDeps {
  readonly options: PythonLimits;
  readonly fairnessKey: string;
  readonly spare: SpareProcess<PythonProcess>;
  readonly snapshot: SnapshotBuilder;
  readonly slots: FairSemaphore;
  readonly log: Logger;
  readonly idleTimeoutMs: number;
}

/** An interpreter and the turn that it was given. */
interface InterpreterLease {
  readonly python: PythonProcess;
  readonly release: () => void;
}

class Container implements CodeContainer {
  readonly #deps: ContainerDeps;
  readonly #closed: () => void;
  readonly #closing = new AbortController();
  #lease: InterpreterLease | undefined;
  #hasRun = false;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: ContainerDeps, closed: () => void) {
    this.#deps = deps;
    this.#closed = closed;
  }

  async runProgram(code: string, signal: AbortSignal): Promise<ProgramResult> {
    signal.throwIfAborted();
    if (code.length > MAX_CODE_CHARACTERS) return tooLong(code.length);
    clearTimeout(this.#idleTimer);
    const aborted = AbortSignal.any([signal, this.#closing.signal]);
    const restarted = this.#hasRun && (this.#lease === undefined || this.#lease.python.hasEnded);
    const python = await this.#interpreter(aborted);
    this.#hasRun = true;
    const kill = () => void python.kill();
    aborted.addEventListener('abort', kill, { once: true });
    try {
      aborted.throwIfAborted();
      const end = await python.run(code);
      aborted.throwIfAborted();
      return this.#toResult(end, restarted);
    } finally {
      aborted.removeEventListener('abort', kill);
      if (python.hasEnded) await this.#releaseInterpreter();
      else this.#idleTimer = setTimeout(() => void this.#releaseInterpreter(), this.#deps.idleTimeoutMs);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(shuttingDown());
    this.#closed();
    await this.#releaseInterpreter();
  }

  /** The running interpreter of this container, or a new one after waiting for a free slot. */
  async #interpreter(aborted: AbortSignal): Promise<PythonProcess> {
    if (this.#lease?.python.hasEnded === false) return this.#lease.python;
    await this.#releaseInterpreter();
    const { slots, fairnessKey } = this.#deps;
    const release = await slots.acquire(fairnessKey, aborted);
    const python = this.#acquireProcess(release);
    this.#lease = { python, release };
    try {
      await Promise.race([python.ready(), waitForAbort(aborted)]);
      aborted.throwIfAborted();
      return python;
    } catch (error) {
      await this.#releaseInterpreter();
      aborted.throwIfAborted();
      throw this.#startError(error);
    }
  }

  #acquireProcess(release: () => void): PythonProcess {
    try {
      const python = this.#deps.spare.acquire();
      this.#prepareNext(python).catch(() => undefined);
      return python;
    } catch (error) {
      release();
      throw this.#startError(error);
    }
  }

  /** Waits for `python`, because processes that start concurrently would delay its container. @throws Error if it exits. */
  async #prepareNext(python: PythonProcess): Promise<void> {
    const { spare, snapshot } = this.#deps;
    const { restored } = await python.ready();
    if (!restored) await snapshot.build();
    spare.prepare();
  }

  #startError(cause: unknown): ServiceError {
    this.#deps.log.error('Python interpreter failed to start', cause);
    const message = 'Python interpreter failed to start, retry later.';
    return new ServiceError('overloaded', message, { code: 'server_overloaded', cause });
  }

  async #releaseInterpreter(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const lease = this.#lease;
    if (lease === undefined) return;
    this.#lease = undefined;
    await lease.python.kill();
    lease.release();
  }

  #toResult(
    { logs, logsTruncated, result, error, termination }: ProgramEnd,
    restarted: boolean,
  ): ProgramResult {
    const shown = logsTruncated ? `${logs}\n[output truncated after ${MAX_LOG_BYTES} bytes]\n` : logs;
    if (termination !== undefined) {
      return { status: 'cut', logs: shown, error: limitMessage(termination, this.#deps.options), restarted };
    }
    if (error !== undefined) return { status: 'raised', logs: shown, error, restarted };
    return { status: 'done', logs: shown, result, restarted };
  }
}

function limitMessage(termination: TerminationReason, { timeMs, heapBytes }: PythonLimits): string {
  switch (termination) {
    case 'time':
      return `The program was terminated: it exceeded the time limit of ${timeMs / 1000} s.`;
    case 'memory':
      return `The program was terminated: it exceeded the memory limit of ${Math.round(heapBytes / 2 ** 20)} MB.`;
    case 'protocol_violation':
    case 'crashed':
    case 'killed':
      return 'The interpreter crashed while it ran the program.';
  }
}

function tooLong(characters: number): ProgramResult {
  const error = `The program was not run: it has ${characters} characters; at most ${MAX_CODE_CHARACTERS} are allowed.`;
  return { status: 'cut', logs: '', error, restarted: false };
}
