/** Controls one Python process: its messages, its time and memory limits, its termination. */

import { join } from 'node:path';
import type { FileSink, Subprocess } from 'bun';
import { residentBytes } from '../kit/process/resident-memory.ts';
import { type FromPython, lineOf, MAX_LOG_BYTES } from './sandbox-protocol.ts';

const ENTRY = join(import.meta.dirname, 'python-worker.ts');
const MEMORY_POLL_INTERVAL_MS = 50;
/** A start takes about two seconds of CPU time. */
const START_TIMEOUT_MS = 60_000;
/** Memory of the process in addition to Python's heap: the runtime, its compiled code, copies. */
const NON_HEAP_BYTES = 384 * 1024 * 1024;
/**
 * Max. number of bytes that the process may send per program: each printed byte as its own message, and a result and a
 * traceback of max. length with every character escaped.
 */
const MAX_SENT_BYTES = MAX_LOG_BYTES * 48 + 256 * 1024;
/** rlimits: no core dumps, no file writes, few descriptors, and bounded CPU time in case the parent process crashes. */
const SHELL_LIMITS = 'ulimit -c 0; ulimit -f 0; ulimit -n 64; ulimit -t 300; exec "$0" "$@"';

export interface PythonLimits {
  /** Wall-clock time limit of a program (ms). */
  readonly timeMs: number;
  /** Max. size of Python's heap in bytes; a program that needs more gets a MemoryError. */
  readonly heapBytes: number;
}

/** Why a process was terminated. `protocol_violation`: it violated the protocol. `crashed`: it exited by itself. */
export type TerminationReason = 'time' | 'memory' | 'protocol_violation' | 'crashed' | 'killed';

export interface ProgramEnd {
  readonly logs: string;
  /** Whether `logs` was truncated. */
  readonly logsTruncated: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  /** Set if the process was terminated while it ran the program. */
  readonly termination?: TerminationReason | undefined;
}

export interface PythonProcessOptions extends PythonLimits {
  /** Entry file; replaced in tests. */
  readonly entry?: string;
}

export class PythonProcess {
  readonly #options: PythonProcessOptions;
  readonly #child: Subprocess<'pipe', 'pipe', 'ignore'>;
  readonly #ready = Promise.withResolvers<void>();
  readonly #startTimer: ReturnType<typeof setTimeout>;
  #termination: TerminationReason | undefined;
  #program: PromiseWithResolvers<ProgramEnd> | undefined;
  #logs = '';
  #sentBytes = 0;

  /** Starts the process. @throws Error if the operating system cannot start it. */
  constructor(options: PythonProcessOptions) {
    this.#options = options;
    const { heapBytes, entry = ENTRY } = options;
    this.#child = Bun.spawn({
      cmd: [
        '/bin/sh',
        '-c',
        SHELL_LIMITS,
        process.execPath,
        // The `.env` file of the service may contain secrets.
        '--no-env-file',
        entry,
        String(heapBytes),
      ],
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
      onExit: () => this.#setTerminated('crashed'),
    });
    this.#ready.promise.catch(() => undefined);
    this.#startTimer = setTimeout(() => this.#terminate('time'), START_TIMEOUT_MS);
    void this.#readLines(this.#child.stdout);
  }

  get pid(): number {
    return this.#child.pid;
  }

  get hasTerminated(): boolean {
    return this.#termination !== undefined;
  }

  /** Resolves when the process can run programs. @throws Error if it exits before. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Runs a program. Call it when the process is {@link ready}, for one program at a time. Never rejects: if the process is
   * terminated, the result contains the reason.
   */
  async run(code: string): Promise<ProgramEnd> {
    this.#logs = '';
    this.#sentBytes = 0;
    const program = Promise.withResolvers<ProgramEnd>();
    this.#program = program;
    if (this.#termination !== undefined) return this.#terminatedResult(this.#termination);
    const timer = setTimeout(() => this.#terminate('time'), this.#options.timeMs);
    const memoryTimer = setInterval(() => this.#checkMemory(), MEMORY_POLL_INTERVAL_MS);
    try {
      this.#write(this.#child.stdin, lineOf({ code }));
      return await program.promise;
    } finally {
      clearTimeout(timer);
      clearInterval(memoryTimer);
      this.#program = undefined;
    }
  }

  /** Kills the process and resolves when it has exited. Idempotent. */
  async kill(): Promise<void> {
    this.#terminate('killed');
    await this.#child.exited;
  }

  /** Write errors are ignored, because `onExit` reports a crashed process. */
  #write(input: FileSink, line: string): void {
    Promise.resolve()
      .then(async () => {
        input.write(line);
        await input.flush();
      })
      .catch(() => undefined);
  }

  async #readLines(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of output) {
      this.#sentBytes += bytes.length;
      if (this.#sentBytes > MAX_SENT_BYTES) this.#terminate('protocol_violation');
      if (this.hasTerminated) continue;
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(line);
    }
  }

  #receive(line: string): void {
    const message = messageOf(line);
    switch (message?.kind) {
      case 'ready':
        clearTimeout(this.#startTimer);
        this.#ready.resolve();
        return;
      case 'output':
        this.#logs += message.text;
        return;
      case 'finished': {
        const { result, error, truncated } = message;
        this.#program?.resolve({ logs: this.#logs, logsTruncated: truncated, result, error });
        return;
      }
      default:
        this.#terminate('protocol_violation');
    }
  }

  #checkMemory(): void {
    if (residentBytes(this.pid) > this.#options.heapBytes + NON_HEAP_BYTES) this.#terminate('memory');
  }

  #terminate(reason: TerminationReason): void {
    this.#setTerminated(reason);
    this.#child.kill('SIGKILL');
  }

  #setTerminated(reason: TerminationReason): void {
    clearTimeout(this.#startTimer);
    this.#termination ??= reason;
    this.#ready.reject(new Error(`Python process exited before it was ready (${this.#termination})`));
    this.#program?.resolve(this.#terminatedResult(this.#termination));
  }

  #terminatedResult(termination: TerminationReason): ProgramEnd {
    return { logs: this.#logs, logsTruncated: false, termination };
  }
}

/** Validates a message, because the process may be compromised. Returns undefined for anything unexpected. */
function messageOf(line: string): FromPython | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  const { kind, text, result, error, truncated } = value as Readonly<Record<string, unknown>>;
  if (kind === 'ready') return { kind };
  if (kind === 'output' && typeof text === 'string') return { kind, text };
  const fits = isTextOrAbsent(result) && isTextOrAbsent(error) && typeof truncated === 'boolean';
  return kind === 'finished' && fits ? { kind, result, error, truncated } : undefined;
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
