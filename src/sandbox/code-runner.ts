/** Runs programs in Python, each container in a process of its own (docs/decisions/code-interpreter.md). */

import { ServiceError, shuttingDown } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { CodeContainer, ProgramResult, CodeRunner } from '../contract/engines/code-runner.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { FairSemaphore } from '../kit/limits/fair-semaphore.ts';
import type { EndReason, ProgramEnd, PythonLimits, PythonProcess } from './python-process.ts';
import { PythonReserve } from './python-reserve.ts';
import { MAX_CODE_CHARACTERS, MAX_LOG_BYTES } from './sandbox-protocol.ts';

/** A container that has run nothing for so long gives its interpreter to others. */
const PAUSE_LIMIT_MS = 60_000;
/** Responses that may wait for an interpreter; half of them may be of one key. */
const MAX_WAITING = 64;

export interface CodeRunnerOptions extends PythonLimits {
  /** Interpreters that may be in use at once, each by one response; another one is in reserve. */
  readonly maxConcurrent: number;
  readonly log: Logger;
  /** Default: a minute. */
  readonly pauseLimitMs?: number;
  /** Path of the entry file of a Python process, for tests. */
  readonly entry?: string;
}

export interface OpenCodeRunner extends CodeRunner {
  /** Ends every interpreter; what runs is cut. Idempotent. */
  close(): Promise<void>;
}

/** Starts nothing before the first container is opened. */
export function codeRunner(options: CodeRunnerOptions): OpenCodeRunner {
  const { maxConcurrent, log, pauseLimitMs = PAUSE_LIMIT_MS } = options;
  const reserve = new PythonReserve(options);
  const turns = new FairSemaphore({
    maxConcurrent,
    maxConcurrentPerKey: Math.ceil(maxConcurrent / 2),
    maxQueued: MAX_WAITING,
    maxQueuedPerKey: MAX_WAITING / 2,
  });
  const containers = new Set<Container>();
  return {
    openContainer(owner) {
      reserve.prepare();
      const container = new Container({ options, owner, reserve, turns, log, pauseLimitMs }, () =>
        containers.delete(container),
      );
      containers.add(container);
      return container;
    },
    async close() {
      await Promise.all([reserve.close(), ...[...containers].map((container) => container.close())]);
    },
  };
}

interface ContainerParts {
  readonly options: PythonLimits;
  readonly owner: string;
  readonly reserve: PythonReserve;
  readonly turns: FairSemaphore;
  readonly log: Logger;
  readonly pauseLimitMs: number;
}

/** An interpreter and the turn that it was given. */
interface Held {
  readonly python: PythonProcess;
  readonly endTurn: () => void;
}

class Container implements CodeContainer {
  readonly #parts: ContainerParts;
  readonly #closed: () => void;
  readonly #closing = new AbortController();
  #held: Held | undefined;
  #hasRun = false;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: ContainerParts, closed: () => void) {
    this.#parts = parts;
    this.#closed = closed;
  }

  async runProgram(code: string, signal: AbortSignal): Promise<ProgramResult> {
    signal.throwIfAborted();
    if (code.length > MAX_CODE_CHARACTERS) return tooLong(code.length);
    clearTimeout(this.#pause);
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    const restarted = this.#hasRun && (this.#held === undefined || this.#held.python.gone);
    const python = await this.#interpreter(ended);
    this.#hasRun = true;
    const kill = () => void python.kill();
    ended.addEventListener('abort', kill, { once: true });
    try {
      ended.throwIfAborted();
      const end = await python.run(code);
      ended.throwIfAborted();
      return this.#told(end, restarted);
    } finally {
      ended.removeEventListener('abort', kill);
      if (python.gone) await this.#letGo();
      else this.#pause = setTimeout(() => void this.#letGo(), this.#parts.pauseLimitMs);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(shuttingDown());
    this.#closed();
    await this.#letGo();
  }

  /** The interpreter of earlier runs while it lives, else a new one in a turn of its own. */
  async #interpreter(ended: AbortSignal): Promise<PythonProcess> {
    if (this.#held?.python.gone === false) return this.#held.python;
    await this.#letGo();
    const { turns, owner } = this.#parts;
    const endTurn = await turns.acquire(owner, ended);
    const python = this.#taken(endTurn);
    this.#held = { python, endTurn };
    try {
      await Promise.race([python.ready(), waitForAbort(ended)]);
      ended.throwIfAborted();
      return python;
    } catch (error) {
      await this.#letGo();
      ended.throwIfAborted();
      throw this.#noInterpreter(error);
    }
  }

  #taken(endTurn: () => void): PythonProcess {
    try {
      return this.#parts.reserve.take();
    } catch (error) {
      endTurn();
      throw this.#noInterpreter(error);
    }
  }

  #noInterpreter(cause: unknown): ServiceError {
    this.#parts.log.error('no Python interpreter could be started', cause);
    const message = 'No interpreter could be started. Try again shortly.';
    return new ServiceError('overloaded', message, { code: 'server_overloaded', cause });
  }

  async #letGo(): Promise<void> {
    clearTimeout(this.#pause);
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    await held.python.kill();
    held.endTurn();
  }

  #told({ logs, logsCut, result, error, gone }: ProgramEnd, restarted: boolean): ProgramResult {
    const shown = logsCut ? `${logs}\n[output cut after ${MAX_LOG_BYTES} bytes]\n` : logs;
    if (gone !== undefined) {
      return { status: 'cut', logs: shown, error: limitMessage(gone, this.#parts.options), restarted };
    }
    if (error !== undefined) return { status: 'raised', logs: shown, error, restarted };
    return { status: 'done', logs: shown, result, restarted };
  }
}

function limitMessage(gone: EndReason, { timeMs, heapBytes }: PythonLimits): string {
  switch (gone) {
    case 'time':
      return `The program was ended after ${timeMs / 1000} s, the most that one may take.`;
    case 'memory':
      return `The program was ended: it took more memory than ${Math.round(heapBytes / 2 ** 20)} MB allow.`;
    case 'unruly':
    case 'broken':
    case 'killed':
      return 'The interpreter broke while it ran the program.';
  }
}

function tooLong(characters: number): ProgramResult {
  const error = `The program has ${characters} characters, and may have ${MAX_CODE_CHARACTERS}. It was not run.`;
  return { status: 'cut', logs: '', error, restarted: false };
}
