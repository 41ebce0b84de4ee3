import { statfs } from 'node:fs/promises';
import { type CatalogEntry, cachedFilePath, type ModelFile } from './model-files.ts';
import { reason } from './source-error.ts';

/** An address without credentials and query, which may hold secrets. */
export function displayUrl(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${decodeURI(pathname)}`;
  } catch (error) {
    return `an unreadable address (${reason(error)})`;
  }
}

/** Every source failed: what each did, and what a person can do. */
export function failureMessage(
  modelsDir: string,
  entry: CatalogEntry,
  missing: readonly ModelFile[],
  failures: readonly string[],
): string {
  const shown = missing
    .slice(0, 5)
    .map((file) => `  ${file.name} (${file.bytes} bytes) as ${cachedFilePath(modelsDir, file.sha256)}`);
  if (missing.length > shown.length)
    shown.push(`  … and ${missing.length - shown.length} more, see models/catalog.json`);
  return [
    `The model files of '${entry.id}' could not be fetched. What was tried:`,
    ...failures.map((failure) => `  ${failure}`),
    `What helps: try again (a download continues where it stopped), check the network and proxy settings of pip, npm and this shell, or bring the files by hand. Their home is ${entry.upstream.home}; a file's name in the cache is its sha256:`,
    ...shown,
    'A folder that already holds them can be named with MODELS_DIR.',
  ].join('\n');
}

/** What the entry takes and what is free. */
export async function diskFullMessage(modelsDir: string, entry: CatalogEntry): Promise<string> {
  const needed = entry.files.reduce((sum, file) => sum + file.bytes, 0);
  const free = await statfs(modelsDir)
    .then((disk) => disk.bavail * disk.bsize)
    .catch(() => undefined);
  const left = free === undefined ? '' : `, ${Math.floor(free / 1e6)} MB are free`;
  return `The disk that holds ${modelsDir} is full: '${entry.id}' takes ${Math.ceil(needed / 1e6)} MB and about as much again while it is unpacked${left}. Free some space, or name another folder with MODELS_DIR.`;
}

/** Where nothing can be written, and why. */
export function unwritableMessage(modelsDir: string, error: unknown): string {
  return `The folder for models, ${modelsDir}, cannot be written: ${reason(error)}. Give this user access to it, or name another folder with MODELS_DIR.`;
}
