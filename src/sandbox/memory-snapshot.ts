/**
 * Starts Python from a copy of the memory of an interpreter that has just started, which takes a sixth of the time. The copy
 * contains nothing of a program. Only loaded by the processes of the sandbox.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadPyodide, type PyodideAPI, version } from 'pyodide';
import { findImport, type ImportKey, importOnce } from '../kit/storage/import-cache.ts';
import { PRELOADED_MODULES } from './program-runner.ts';

/** Synthetic environment of the Python programs. */
const HOME = '/home/sandbox';
const ENVIRONMENT = { HOME, USER: 'sandbox', LOGNAME: 'sandbox', PWD: HOME, _: 'python' };

const FILE = 'memory.bin';
const KEY: ImportKey = {
  importer: 'python',
  version: 1,
  provider: 'wasm',
  sources: [],
  options: { pyodide: version },
};

/**
 * Starts an interpreter, from the snapshot if there is an intact one.
 * @param modelsDir folder of the snapshot.
 * @returns the interpreter, and whether it was started from the snapshot.
 */
export async function startPython(
  modelsDir: string,
): Promise<{ readonly python: PyodideAPI; readonly restored: boolean }> {
  const snapshot = await findSnapshot(modelsDir);
  const python = await load(snapshot === undefined ? {} : { _loadSnapshot: snapshot });
  return { python, restored: snapshot !== undefined };
}

/**
 * Writes the snapshot unless there is an intact one.
 * @throws errors of the file system.
 */
export async function buildSnapshot(modelsDir: string): Promise<void> {
  await importOnce(modelsDir, KEY, async (folder) => {
    const python = await load({ _makeSnapshot: true });
    // The start adds the current folder again.
    python.runPython(`import sys\nsys.path.remove("")\n${PRELOADED_MODULES}`);
    await writeFile(join(folder, FILE), python.makeMemorySnapshot());
  });
}

/** A folder that cannot be read is not an error, because an interpreter can start without a snapshot. */
async function findSnapshot(modelsDir: string): Promise<Uint8Array | undefined> {
  try {
    const folder = await findImport(modelsDir, KEY);
    return folder === undefined ? undefined : await readFile(join(folder, FILE));
  } catch {
    return undefined;
  }
}

function load(
  snapshot: Pick<NonNullable<Parameters<typeof loadPyodide>[0]>, '_makeSnapshot' | '_loadSnapshot'>,
): Promise<PyodideAPI> {
  return loadPyodide({ env: ENVIRONMENT, jsglobals: Object.create(null), ...snapshot });
}
