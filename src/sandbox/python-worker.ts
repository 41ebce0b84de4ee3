/** Entry point of a Python process, which runs the programs of one container. Never loaded by the main process. */

import { readSync, writeFileSync, writeSync } from 'node:fs';
import { confineJavaScript, limitWebAssemblyMemory } from './confinement.ts';
import { startPython } from './memory-snapshot.ts';
import { PROGRAM_RUNNER } from './program-runner.ts';
import { type FromPython, lineOf, MAX_LOG_BYTES, type ToPython } from './sandbox-protocol.ts';
import { filterSystemCalls } from './syscall-filter.ts';

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;

type Program = (code: string) => Promise<{
  toJs(): readonly [string | undefined, string | undefined];
  destroy(): void;
}>;

const exit = process.exit.bind(process);
const send = (message: FromPython) => writeSync(STANDARD_OUTPUT, lineOf(message));

/** Makes the OOM killer of the kernel prefer this process to the main process. */
function preferForOomKill(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // This file exists only on Linux.
  }
}

/** Sends the output of a program to the main process, up to {@link MAX_LOG_BYTES}. */
class ProgramOutput {
  #remainingBytes = MAX_LOG_BYTES;
  #decoder = new TextDecoder();
  truncated = false;

  /** Resets the state for the next program. */
  reset(): void {
    this.#remainingBytes = MAX_LOG_BYTES;
    this.#decoder = new TextDecoder();
    this.truncated = false;
  }

  write(bytes: Uint8Array): number {
    const accepted = bytes.subarray(0, this.#remainingBytes);
    this.#remainingBytes -= accepted.length;
    if (accepted.length < bytes.length) this.truncated = true;
    const text = this.#decoder.decode(accepted, { stream: true });
    if (text !== '') send({ kind: 'output', text });
    return bytes.length;
  }
}

/**
 * Reads the next line of standard input; undefined at its end. It blocks the whole process, so that background work of a
 * program does not run between two programs.
 */
function nextLine(): string | undefined {
  const decoder = new TextDecoder();
  const bytes = new Uint8Array(65_536);
  let line = '';
  while (!line.endsWith('\n')) {
    const length = readSync(STANDARD_INPUT, bytes);
    if (length === 0) return undefined;
    line += decoder.decode(bytes.subarray(0, length), { stream: true });
  }
  return line;
}

/** Maximum size of Python's heap in bytes. */
const heapBytes = Number(process.argv[2]);
/** Folder of the memory snapshot. */
const modelsDir = process.argv[3] ?? '';

async function serve(): Promise<void> {
  preferForOomKill();
  limitWebAssemblyMemory(heapBytes);
  const { python, restored } = await startPython(modelsDir);
  const programOutput = new ProgramOutput();
  const output = { write: (bytes: Uint8Array) => programOutput.write(bytes) };
  python.setStdout(output);
  python.setStderr(output);
  python.setStdin({ stdin: () => null });
  const run: Program = python.runPython(PROGRAM_RUNNER);
  python.unregisterJsModule('js');
  python.unregisterJsModule('pyodide_js');
  filterSystemCalls();
  confineJavaScript();
  send({ kind: 'ready', restored });

  for (;;) {
    const line = nextLine();
    if (line === undefined) return;
    const { code }: ToPython = JSON.parse(line);
    programOutput.reset();
    const pair = await run(code);
    const [result, error] = pair.toJs();
    pair.destroy();
    send({ kind: 'finished', result, error, truncated: programOutput.truncated });
  }
}

// Any unexpected error terminates the process, which the main process detects.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('uncaughtException', () => exit(1));
process.on('unhandledRejection', () => exit(1));
serve().then(
  () => exit(0),
  () => exit(1),
);
