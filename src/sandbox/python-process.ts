/** One Python process as the serving process holds it: its lines, watch over time and memory, end. */

import { join } from 'node:path';
import type { FileSink, Subprocess } from 'bun';
import { residentBytes } from '../kit/process/resident-memory.ts';
import { type FromPython, lineOf, MAX_LOG_BYTES } from './sandbox-protocol.ts';

const ENTRY = join(import.meta.dirname, 'python-worker.ts');
const MEMORY_LOOK_MS = 50;
/** A start takes about two seconds of computing, more on a busy machine. */
const START_LIMIT_MS = 60_000;
/** What the process takes beside Python's own memory, in bytes: the runtime, its compiled code, copies. */
const BESIDE_HEAP_BYTES = 384 * 1024 * 1024;
/**
 * Most bytes that it may send for one program: each byte that it printed as a message of its own, and a value and a
 * traceback in the longest way to write them.
 */
const MAX_SENT_BYTES = MAX_LOG_BYTES * 48 + 256 * 1024;
/** No core files, no files, a handful of handles, and an end of computing when nobody is left to watch. */
const SHELL_LIMITS = 'ulimit -c 0; ulimit -f 0; ulimit -n 64; ulimit -t 300; exec "$0" "$@"';

export interface PythonLimits {
  /** Wall time of one program. */
  readonly timeMs: number;
  /** Python's own memory; a program that needs more gets a MemoryError. */
  readonly heapBytes: number;
}

/** Why a process is gone. */
export type EndReason = 'time' | 'memory' | 'unruly' | 'broken' | 'killed';

export interface ProgramEnd {
  readonly logs: string;
  /** Whether more was printed than `logs` holds. */
  readonly logsCut: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  /** Set when the process is gone with the program. */
  readonly gone?: EndReason | undefined;
}

export interface PythonProcessOptions extends PythonLimits {
  /** Path of the entry file, for tests. */
  readonly entry?: string;
}

export class PythonProcess {
  readonly #options: PythonProcessOptions;
  readonly #child: Subprocess<'pipe', 'pipe', 'ignore'>;
  readonly #ready = Promise.withResolvers<void>();
  readonly #startWatch: ReturnType<typeof setTimeout>;
  #gone: EndReason | undefined;
  #program: PromiseWithResolvers<ProgramEnd> | undefined;
  #logs = '';
  #sentBytes = 0;

  /** Starts the process. @throws when the system starts none. */
  constructor(options: PythonProcessOptions) {
    this.#options = options;
    const { heapBytes, entry = ENTRY } = options;
    this.#child = Bun.spawn({
      cmd: [
        '/bin/sh',
        '-c',
        SHELL_LIMITS,
        process.execPath,
        // What lies in the service's folder may hold its keys.
        '--no-env-file',
        entry,
        String(heapBytes),
      ],
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
      onExit: () => this.#lose('broken'),
    });
    this.#ready.promise.catch(() => undefined);
    this.#startWatch = setTimeout(() => this.#end('time'), START_LIMIT_MS);
    void this.#readLines(this.#child.stdout);
  }

  get pid(): number {
    return this.#child.pid;
  }

  get gone(): boolean {
    return this.#gone !== undefined;
  }

  /** Resolves when it can run programs. @throws Error when it ended before. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Runs a program when the process is {@link ready}; one at a time. A process that is ended meanwhile ends the
   * program too, so this never fails.
   */
  async run(code: string): Promise<ProgramEnd> {
    this.#logs = '';
    this.#sentBytes = 0;
    const program = Promise.withResolvers<ProgramEnd>();
    this.#program = program;
    if (this.#gone !== undefined) return this.#endOf(this.#gone);
    const timer = setTimeout(() => this.#end('time'), this.#options.timeMs);
    const memoryWatch = setInterval(() => this.#lookAtMemory(), MEMORY_LOOK_MS);
    try {
      this.#write(this.#child.stdin, lineOf({ code }));
      return await program.promise;
    } finally {
      clearTimeout(timer);
      clearInterval(memoryWatch);
      this.#program = undefined;
    }
  }

  /** Ends the process and resolves when it is gone. Idempotent. */
  async kill(): Promise<void> {
    this.#end('killed');
    await this.#child.exited;
  }

  /** A pipe whose other end has just died tells of it by its exit. */
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
      if (this.#sentBytes > MAX_SENT_BYTES) this.#end('unruly');
      if (this.gone) continue;
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(line);
    }
  }

  #receive(line: string): void {
    const message = messageOf(line);
    switch (message?.kind) {
      case 'ready':
        clearTimeout(this.#startWatch);
        this.#ready.resolve();
        return;
      case 'printed':
        this.#logs += message.text;
        return;
      case 'ended': {
        const { result, error, cut } = message;
        this.#program?.resolve({ logs: this.#logs, logsCut: cut, result, error });
        return;
      }
      default:
        this.#end('unruly');
    }
  }

  #lookAtMemory(): void {
    if (residentBytes(this.pid) > this.#options.heapBytes + BESIDE_HEAP_BYTES) this.#end('memory');
  }

  #end(reason: EndReason): void {
    this.#lose(reason);
    this.#child.kill('SIGKILL');
  }

  #lose(reason: EndReason): void {
    clearTimeout(this.#startWatch);
    this.#gone ??= reason;
    this.#ready.reject(new Error(`a Python process ended before it was ready (${this.#gone})`));
    this.#program?.resolve(this.#endOf(this.#gone));
  }

  #endOf(gone: EndReason): ProgramEnd {
    return { logs: this.#logs, logsCut: false, gone };
  }
}

/** Of what may have been taken over, only text of the right shape is believed. */
function messageOf(line: string): FromPython | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  const { kind, text, result, error, cut } = value as Readonly<Record<string, unknown>>;
  if (kind === 'ready') return { kind };
  if (kind === 'printed' && typeof text === 'string') return { kind, text };
  const fits = isTextOrAbsent(result) && isTextOrAbsent(error) && typeof cut === 'boolean';
  return kind === 'ended' && fits ? { kind, result, error, cut } : undefined;
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
