/** Controls one Python process: its messages, its time and memory limits, its termination. */

import { join } from 'node:path';
import type { FileSink, Subprocess } from 'bun';
import { type EndReason, limitedCommand, OneShotProcess } from '../kit/process/one-shot-process.ts';
import { type FromPython, lineOf, MAX_LOG_BYTES } from './sandbox-protocol.ts';

const ENTRY = join(import.meta.dirname, 'python-worker.ts');
/** Without a snapshot, a start takes about two seconds of CPU time. */
const START_TIMEOUT_MS = 60_000;
/** Memory of the process in addition to Python's heap: the runtime, its compiled code, copies. */
const NON_HEAP_BYTES = 384 * 1024 * 1024;
/**
 * Maximum number of bytes that the process may send per program: each printed byte as its own message, and a result and a
 * traceback of maximum length with every character escaped.
 */
const MAX_SENT_BYTES = MAX_LOG_BYTES * 48 + 256 * 1024;
/** No file writes, few descriptors, and bounded CPU time in case the parent process crashes. */
const RESOURCE_LIMITS = ['-f 0', '-n 64', '-t 300'];

export interface PythonLimits {
  /** Wall-clock time limit of a program (ms). */
  readonly timeMs: number;
  /** Maximum size of Python's heap in bytes; a program that needs more gets a MemoryError. */
  readonly heapBytes: number;
}

/** `protocol_violation`: it sent an invalid message or too many bytes. */
type PythonEndReason = 'time' | 'protocol_violation';

/** Why a process was terminated. */
export type TerminationReason = EndReason<PythonEndReason>;

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
  /** Folder of the memory snapshot from which Python starts, if there is one. */
  readonly modelsDir: string;
  /** Entry file; replaced in tests. */
  readonly entry?: string;
}

export class PythonProcess {
  readonly #options: PythonProcessOptions;
  readonly #child: Subprocess<'pipe', 'pipe', 'ignore'>;
  readonly #process: OneShotProcess<PythonEndReason>;
  readonly #ready = Promise.withResolvers<{ readonly restored: boolean }>();
  #program: PromiseWithResolvers<ProgramEnd> | undefined;
  #logs = '';
  #sentBytes = 0;

  /** Starts the process. @throws Error if the operating system cannot start it. */
  constructor(options: PythonProcessOptions) {
    this.#options = options;
    const { heapBytes, modelsDir, entry = ENTRY } = options;
    this.#child = Bun.spawn({
      // The `.env` file of the service may contain secrets.
      cmd: limitedCommand(RESOURCE_LIMITS, '--no-env-file', entry, String(heapBytes), modelsDir),
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#process = new OneShotProcess(this.#child, (reason) => this.#handleEnd(reason));
    this.#process.setDeadline(START_TIMEOUT_MS, 'time');
    this.#ready.promise.catch(() => undefined);
    void this.#readLines(this.#child.stdout);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Whether the process has ended or is ending. */
  get hasEnded(): boolean {
    return this.#process.endReason !== undefined;
  }

  /**
   * Resolves when the process can run programs; `restored` is whether it was started from the memory snapshot.
   * @throws Error if it exits before.
   */
  ready(): Promise<{ readonly restored: boolean }> {
    return this.#ready.promise;
  }

  /**
   * Runs a program. Call it when the process is {@link ready}, for one program at a time. Never rejects: if the process is
   * terminated, the result contains the reason.
   */
  async run(code: string): Promise<ProgramEnd> {
    this.#logs = '';
    this.#sentBytes = 0;
    const { endReason } = this.#process;
    if (endReason !== undefined) return this.#terminatedResult(endReason);
    const program = Promise.withResolvers<ProgramEnd>();
    this.#program = program;
    this.#process.setDeadline(this.#options.timeMs, 'time');
    // Applies until the exit: tasks of the program may continue to run after its end.
    this.#process.limitMemory(this.#options.heapBytes + NON_HEAP_BYTES);
    try {
      this.#write(this.#child.stdin, lineOf({ code }));
      return await program.promise;
    } finally {
      this.#process.clearDeadline();
      this.#program = undefined;
    }
  }

  /** Kills the process and resolves when it has exited. Idempotent. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Write errors are ignored, because the exit of the process ends the program. */
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
      if (this.#sentBytes > MAX_SENT_BYTES) this.#process.end('protocol_violation');
      if (this.hasEnded) continue;
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(line);
    }
  }

  #receive(line: string): void {
    const message = messageOf(line);
    switch (message?.kind) {
      case 'ready':
        // A compromised process may repeat this message during a program.
        if (this.#program === undefined) this.#process.clearDeadline();
        this.#ready.resolve({ restored: message.restored });
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
        this.#process.end('protocol_violation');
    }
  }

  #handleEnd(reason: TerminationReason): void {
    this.#ready.reject(new Error(`Python process exited before it was ready (${reason})`));
    this.#program?.resolve(this.#terminatedResult(reason));
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
  const { kind, restored, text, result, error, truncated } = value as Readonly<Record<string, unknown>>;
  if (kind === 'ready' && typeof restored === 'boolean') return { kind, restored };
  if (kind === 'output' && typeof text === 'string') return { kind, text };
  const fits = isTextOrAbsent(result) && isTextOrAbsent(error) && typeof truncated === 'boolean';
  return kind === 'finished' && fits ? { kind, result, error, truncated } : undefined;
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
