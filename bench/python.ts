/** Python scripts of the baselines, in separate virtual environments. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type LineProcess, openLineProcess } from './line-process.ts';

const CACHE = join(import.meta.dirname, '../.cache');
const PEERS = join(import.meta.dirname, 'peers');

/**
 * Path of the interpreter for a script. The first call creates a virtual environment per folder and installs the packages
 * of its requirements.txt.
 */
async function interpreter(script: string): Promise<string> {
  const kind = dirname(script);
  const folder = join(CACHE, kind === '.' ? 'bench-python' : `bench-python-${kind}`);
  const requirements = join(PEERS, kind, 'requirements.txt');
  const python = join(folder, 'bin/python');
  const stamp = join(folder, 'installed.txt');
  const required = await Bun.file(requirements).text();
  const installed = existsSync(stamp) ? await Bun.file(stamp).text() : undefined;
  if (installed === required) return python;
  await run(['python3', '-m', 'venv', folder]);
  await run([python, '-m', 'pip', 'install', '--quiet', '-r', requirements]);
  await Bun.write(stamp, required);
  return python;
}

/** The pinned packages of a folder of scripts, separated by commas. */
export async function pinned(folder: string): Promise<string> {
  const requirements = await Bun.file(join(PEERS, folder, 'requirements.txt')).text();
  return requirements.trim().split('\n').join(', ');
}

/**
 * Runs a peer's script and reads its JSON lines.
 * @param input what the script reads from standard input.
 * @param python interpreter with the packages of the script. Default: a virtual environment, see {@link interpreter}.
 * @throws Error with the error output of the script if it fails.
 */
export async function runPeer<Line>(
  script: string,
  args: readonly string[],
  input: string,
  python?: string,
): Promise<Line[]> {
  const path = join(PEERS, script);
  const output = await run([python ?? (await interpreter(script)), path, ...args], input);
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

/** Whether an interpreter exists and has a module, for packages that are too large to be installed by a benchmark. */
export function hasModule(python: string, module: string): boolean {
  if (Bun.which(python) === null) return false;
  return Bun.spawnSync([python, '-c', `import ${module}`]).success;
}

/** Starts a peer script that responds to each JSON line, so that measurements can alternate. */
export async function openPeer(script: string, args: readonly string[]): Promise<LineProcess> {
  const path = join(PEERS, script);
  return openLineProcess([await interpreter(script), path, ...args]);
}

async function run(command: readonly string[], input = ''): Promise<string> {
  const child = Bun.spawn([...command], { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' });
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} exited with code ${exitCode}:\n${errors}`);
  return output;
}
