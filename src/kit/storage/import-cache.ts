import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { sha256, sha256File } from './content-hash.ts';
import { withFileLock } from './file-lock.ts';

/** Everything that determines the output of an import step. */
export interface ImportKey {
  /** SHA-256 of each source file, in order. */
  readonly sources: readonly string[];
  /** Name of the importer, used as a folder name: `a-z 0-9 -`. */
  readonly importer: string;
  /** Increased with every change of the importer that changes its output. */
  readonly version: number;
  readonly provider: string;
  readonly options?: Readonly<Record<string, string | number | boolean>> | undefined;
}

export interface ImportOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the reason when the import has to run. */
  readonly onBuild?: ((reason: string) => void) | undefined;
  /** Number of results of one importer to keep on disk. The least recently used are removed. */
  readonly keep?: number | undefined;
}

interface Manifest {
  readonly key: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
}

const MANIFEST = 'manifest.json';
/** Enough for the current version, another provider, and an older checkout that shares the folder. */
const KEEP = 3;

/**
 * Runs an import step (for example, the conversion of a quantised graph to float graphs) once for each key and returns
 * the folder of its outputs. `build` writes plain files, also in subfolders, to the empty folder that it receives. The folder is
 * then renamed to its final path, so an incomplete import is never visible. The sha256 of each output is recorded and verified on every
 * call; a damaged import is deleted and built again. Concurrent processes that need the same import wait for the first.
 * @returns absolute path of a folder under `modelsDir`/imports. Its files must not be modified.
 * @throws errors of `build` and of the file system, and the reason of the signal after an abort.
 */
export async function importOnce(
  modelsDir: string,
  key: ImportKey,
  build: (dir: string) => Promise<void>,
  options: ImportOptions = {},
): Promise<string> {
  const { keyText, importerDir, name, target } = importPaths(modelsDir, key);
  const { signal } = options;

  if ((await importError(target, keyText, signal)) === undefined) {
    await markUsed(target);
    return target;
  }
  return await withFileLock(join(importerDir, 'lock'), { signal }, async () => {
    // Another process may have built it while this one waited for the lock.
    const reason = await importError(target, keyText, signal);
    if (reason !== undefined) {
      options.onBuild?.(reason);
      await buildInto(importerDir, target, keyText, build, signal);
    }
    await markUsed(target);
    await prune(importerDir, name, options.keep ?? KEEP);
    return target;
  });
}

/** Returns the folder of an existing valid import, or undefined. Does not wait for a running import. */
export async function findImport(modelsDir: string, key: ImportKey): Promise<string | undefined> {
  const { keyText, target } = importPaths(modelsDir, key);
  if ((await importError(target, keyText, undefined)) !== undefined) return undefined;
  await markUsed(target);
  return target;
}

function importPaths(modelsDir: string, key: ImportKey) {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(key.importer)) {
    throw new Error(
      `The importer name '${key.importer}' must consist of lower-case letters, digits and hyphens.`,
    );
  }
  const keyText = canonicalKey(key);
  const importerDir = join(modelsDir, 'imports', key.importer);
  const name = `v${key.version}-${sha256(keyText).slice(0, 16)}`;
  return { keyText, importerDir, name, target: join(importerDir, name) };
}

/** Serializes a key independently of the order of its options. */
function canonicalKey(key: ImportKey): string {
  const options = Object.entries(key.options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([key.importer, key.version, key.provider, key.sources, options]);
}

async function buildInto(
  importerDir: string,
  target: string,
  key: string,
  build: (dir: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const draft = join(importerDir, `draft-${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    await build(draft);
    const files: Manifest['files'][number][] = [];
    for (const name of (await readdir(draft, { recursive: true })).sort()) {
      const path = join(draft, name);
      const found = await stat(path);
      if (found.isFile()) files.push({ name, bytes: found.size, sha256: await sha256File(path, signal) });
    }
    if (files.length === 0) throw new Error('The import step wrote no file.');
    await writeFile(join(draft, MANIFEST), JSON.stringify({ key, files } satisfies Manifest, null, 2));
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Verifies an import. Returns the reason why it cannot be used, or undefined if every file is intact. */
async function importError(
  target: string,
  key: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(await readFile(join(target, MANIFEST), 'utf8')) as Manifest;
    if (manifest.key !== key || manifest.files.length === 0) return 'the manifest belongs to another import';
  } catch (error) {
    return isMissing(error) ? 'not imported yet' : 'the manifest cannot be read';
  }
  for (const file of manifest.files) {
    const path = join(target, file.name);
    const bytes = (await stat(path).catch(() => undefined))?.size;
    if (bytes === undefined) return `${file.name} is missing`;
    if (bytes !== file.bytes) return `${file.name} has ${bytes} bytes instead of ${file.bytes}`;
    if ((await sha256File(path, signal)) !== file.sha256) return `${file.name} is corrupt (sha256 differs)`;
  }
  return undefined;
}

/** Sets the modification time of the manifest, which {@link prune} reads as the time of the last use. */
async function markUsed(target: string): Promise<void> {
  const nowS = systemClock.now() / 1000;
  // Fails for a read-only cache, which is never pruned.
  await utimes(join(target, MANIFEST), nowS, nowS).catch(() => undefined);
}

/**
 * Keeps the `keep` most recently used imports and removes everything else: older imports, drafts of crashed processes and
 * stale locks. The caller holds the lock.
 */
async function prune(importerDir: string, current: string, keep: number): Promise<void> {
  const others: { name: string; usedMs: number }[] = [];
  for (const name of await readdir(importerDir)) {
    if (name === current || name === 'lock') continue;
    const manifest = await stat(join(importerDir, name, MANIFEST)).catch(() => undefined);
    others.push({ name, usedMs: name.startsWith('draft-') || manifest === undefined ? 0 : manifest.mtimeMs });
  }
  others.sort((a, b) => b.usedMs - a.usedMs);
  for (const [rank, { name, usedMs }] of others.entries()) {
    if (usedMs === 0 || rank >= keep - 1) await rm(join(importerDir, name), { recursive: true, force: true });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
