/** The peers' Python, in a virtual environment of its own that no product code ever sees. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type LineProcess, openLineProcess } from './line-process.ts';

const FOLDER = join(import.meta.dirname, '../.cache/bench-python');
const REQUIREMENTS = join(import.meta.dirname, 'peers/requirements.txt');

/** Path of the interpreter; made, with the pinned packages, on the first call. */
async function interpreter(): Promise<string> {
  const python = join(FOLDER, 'bin/python');
  const stamp = join(FOLDER, 'installed.txt');
  const wanted = await Bun.file(REQUIREMENTS).text();
  const installed = existsSync(stamp) ? await Bun.file(stamp).text() : undefined;
  if (installed === wanted) return python;
  await run(['python3', '-m', 'venv', FOLDER]);
  await run([python, '-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS]);
  await Bun.write(stamp, wanted);
  return python;
}

/**
 * Runs a peer's script and reads its JSON lines.
 * @param input what the script reads from standard input.
 * @throws Error with the script's error output when it fails.
 */
export async function runPeer<Line>(script: string, args: readonly string[], input: string): Promise<Line[]> {
  const path = join(import.meta.dirname, 'peers', script);
  const output = await run([await interpreter(), path, ...args], input);
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

/** Starts a peer's script that answers each JSON line with one, so that its runs and ours can take turns. */
export async function openPeer(script: string, args: readonly string[]): Promise<LineProcess> {
  const path = join(import.meta.dirname, 'peers', script);
  return openLineProcess([await interpreter(), path, ...args]);
}

async function run(command: readonly string[], input = ''): Promise<string> {
  const child = Bun.spawn([...command], { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' });
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with code ${exitCode}:\n${errors}`);
  return output;
}
