import { statfs } from 'node:fs/promises';
import { type CatalogEntry, cachedFilePath, type ModelFile } from './model-files.ts';
import { reason } from './source-error.ts';

/** A URL without its credentials and query, which can contain secrets. */
export function displayUrl(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${decodeURI(pathname)}`;
  } catch (error) {
    return `an invalid URL (${reason(error)})`;
  }
}

/** All sources failed: lists the errors and the possible remedies. */
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
    shown.push(`  … and ${missing.length - shown.length} more, see src/models/catalog.json`);
  return [
    `Fetching the model files of '${entry.id}' failed. Sources:`,
    ...failures.map((failure) => `  ${failure}`),
    `Retry (downloads are resumed), check the network and proxy settings of pip, npm and this shell, or copy the files into the cache manually. They are published at ${entry.upstream.home}; the name of a file in the cache is its sha256:`,
    ...shown,
    'To use a folder that already contains them, set MODELS_DIR.',
  ].join('\n');
}

/**
 * The disk is full: states the required and the free space.
 * @param neededBytes undefined if it is not known.
 */
export async function diskFullMessage(
  modelsDir: string,
  name: string,
  neededBytes: number | undefined,
): Promise<string> {
  const free = await statfs(modelsDir)
    .then((disk) => disk.bavail * disk.bsize)
    .catch(() => undefined);
  const needed =
    neededBytes === undefined
      ? `'${name}' could not be stored`
      : `'${name}' needs ${Math.ceil(neededBytes / 1e6)} MB, and about the same amount temporarily while it is unpacked`;
  const left = free === undefined ? '' : `; ${Math.floor(free / 1e6)} MB are free`;
  return `The disk of ${modelsDir} is full: ${needed}${left}. Free some space, or set MODELS_DIR to another folder.`;
}

/** The folder is not writable: states the reason. */
export function unwritableMessage(modelsDir: string, error: unknown): string {
  return `The models folder ${modelsDir} is not writable: ${reason(error)}. Grant this user access to it, or set MODELS_DIR to another folder.`;
}
