import { stat } from 'node:fs/promises';
import { sha256File } from '../kit/storage/content-hash.ts';
import { type CatalogEntry, cachedFilePath, type ModelFile } from './model-files.ts';

/** State of a file in the cache. */
export interface FileState {
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
  file: ModelFile,
  signal: AbortSignal,
): Promise<FileState> {
  const path = cachedFilePath(modelsDir, file.sha256);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return { file, path, state: 'missing' };
  if (found.size !== file.bytes) {
    return { file, path, state: 'corrupt', detail: `${found.size} bytes instead of ${file.bytes}` };
  }
  const digest = await sha256File(path, signal);
  if (digest === file.sha256) return { file, path, state: 'good' };
  return { file, path, state: 'corrupt', detail: `sha256 is ${digest}` };
}

/** {@link verifyFile} for all files of the entries, in order. Reads all files completely. */
export async function verifyEntries(
  modelsDir: string,
  entries: readonly CatalogEntry[],
  signal: AbortSignal,
): Promise<(FileState & { readonly entry: CatalogEntry })[]> {
  const states: (FileState & { readonly entry: CatalogEntry })[] = [];
  for (const entry of entries) {
    for (const file of entry.files) {
      states.push({ entry, ...(await verifyFile(modelsDir, file, signal)) });
    }
  }
  return states;
}
