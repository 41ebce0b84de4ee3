/** Entry of a Python process, which runs the programs of one container. Never loaded by the serving process. */

import { readSync, writeFileSync, writeSync } from 'node:fs';
import { loadPyodide } from 'pyodide';
import { confineJavaScript, limitWebAssemblyMemory } from './confinement.ts';
import { PROGRAM_RUNNER } from './program-runner.ts';
import { type FromPython, lineOf, MAX_LOG_BYTES, type ToPython } from './sandbox-protocol.ts';
import { filterSystemCalls } from './syscall-filter.ts';

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;
/** What Python believes about its user; nothing of it is true. */
const HOME = '/home/sandbox';
const ENVIRONMENT = { HOME, USER: 'sandbox', LOGNAME: 'sandbox', PWD: HOME, _: 'python' };

type Program = (code: string) => Promise<{
  toJs(): readonly [string | undefined, string | undefined];
  destroy(): void;
}>;

const exit = process.exit.bind(process);
const send = (message: FromPython) => writeSync(STANDARD_OUTPUT, lineOf(message));

/** When memory runs out, the kernel should end this process and not the one that serves. */
function offerToKernel(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Only Linux has it.
  }
}

/** Passes on what a program prints until it is more than it may be. */
class Printed {
  #left = MAX_LOG_BYTES;
  #decoder = new TextDecoder();
  cut = false;

  /** Another program begins. */
  begin(): void {
    this.#left = MAX_LOG_BYTES;
    this.#decoder = new TextDecoder();
    this.cut = false;
  }

  write(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, this.#left);
    this.#left -= taken.length;
    if (taken.length < bytes.length) this.cut = true;
    const text = this.#decoder.decode(taken, { stream: true });
    if (text !== '') send({ kind: 'printed', text });
    return bytes.length;
  }
}

/**
 * The next line of standard input, undefined at its end. Waits with the whole process, so that nothing a program left
 * behind goes on between two programs.
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

/** Python's own memory, in bytes: the one argument. */
const heapBytes = Number(process.argv[2]);

async function serve(): Promise<void> {
  offerToKernel();
  limitWebAssemblyMemory(heapBytes);
  const python = await loadPyodide({ env: ENVIRONMENT, jsglobals: Object.create(null) });
  const printed = new Printed();
  const output = { write: (bytes: Uint8Array) => printed.write(bytes) };
  python.setStdout(output);
  python.setStderr(output);
  python.setStdin({ stdin: () => null });
  const run: Program = python.runPython(PROGRAM_RUNNER);
  python.unregisterJsModule('js');
  python.unregisterJsModule('pyodide_js');
  filterSystemCalls();
  confineJavaScript();
  send({ kind: 'ready' });

  for (;;) {
    const line = nextLine();
    if (line === undefined) return;
    const { code }: ToPython = JSON.parse(line);
    printed.begin();
    const pair = await run(code);
    const [result, error] = pair.toJs();
    pair.destroy();
    send({ kind: 'ended', result, error, cut: printed.cut });
  }
}

// Whatever else happens, the process ends by it, and the container sees that.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('uncaughtException', () => exit(1));
process.on('unhandledRejection', () => exit(1));
serve().then(
  () => exit(0),
  () => exit(1),
);
