import { stat } from 'node:fs/promises';
import { sha256File } from '../src/kit/storage/content-hash.ts';
import { type CatalogEntry, cachedFilePath, type ModelFile } from './model-files.ts';

/** State of a manifest file in the cache. */
export interface FileState {
  readonly entry: CatalogEntry;
  readonly file: ModelFile;
  readonly path: string;
  readonly state: 'good' | 'missing' | 'corrupt';
  /** Reason why the file is corrupt. */
  readonly detail?: string;
}

/**
 * Checks the size of a file in the cache and, if it matches, its sha256.
 * @throws the signal's reason after an abort.
 */
export async function verifyFile(
  modelsDir: string,
  entry: CatalogEntry,
  file: ModelFile,
  signal: AbortSignal,
): Promise<FileState> {
  const path = cachedFilePath(modelsDir, file.sha256);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return { entry, file, path, state: 'missing' };
  if (found.size !== file.bytes) {
    return { entry, file, path, state: 'corrupt', detail: `${found.size} bytes instead of ${file.bytes}` };
  }
  const digest = await sha256File(path, signal);
  if (digest === file.sha256) return { entry, file, path, state: 'good' };
  return { entry, file, path, state: 'corrupt', detail: `sha256 is ${digest}` };
}

/** {@link verifyFile} for all files of the entries, in order. Reads all files completely. */
export async function verifyEntries(
  modelsDir: string,
  entries: readonly CatalogEntry[],
  signal: AbortSignal,
): Promise<FileState[]> {
  const states: FileState[] = [];
  for (const entry of entries) {
    for (const file of entry.files) states.push(await verifyFile(modelsDir, entry, file, signal));
  }
  return states;
}
