import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../kit/clock.ts';
import { sha256, sha256File } from '../../kit/storage/content-hash.ts';
import { withFileLock } from '../../kit/storage/file-lock.ts';

/** Everything that decides what an import step writes. */
export interface ImportKey {
  /** SHA-256 of each file that is read, in order. */
  readonly sources: readonly string[];
  /** Name of the importer, a folder name: `a-z 0-9 -`. */
  readonly importer: string;
  /** Raised with every change of the importer that changes its output. */
  readonly version: number;
  readonly provider: string;
  readonly options?: Readonly<Record<string, string | number | boolean>> | undefined;
}

export interface ImportOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when the import has to run, with why. */
  readonly onBuild?: ((reason: string) => void) | undefined;
  /** Results of one importer that stay on disk, the newest used first; others are removed. */
  readonly keep?: number | undefined;
}

interface Manifest {
  readonly key: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
}

const MANIFEST = 'manifest.json';
/** The current version, another provider's, and one of an older checkout that shares the folder. */
const KEEP = 3;

/**
 * Runs an import step (for instance the rewrite of a quantised graph into float graphs) once for each key
 * and returns the folder with its outputs. `build` writes plain files into the empty folder it is given;
 * the folder then moves into place in one step, so nobody sees half an import. Each output's sha256 is
 * recorded and checked at every call: a damaged import is thrown away and built again. Processes that need
 * the same import wait for the first.
 * @returns absolute path of a folder under `modelsDir`/imports; its files must not be changed.
 * @throws what `build` throws, the system's errors, the signal's reason after an abort.
 */
export async function imported(
  modelsDir: string,
  key: ImportKey,
  build: (dir: string) => Promise<void>,
  options: ImportOptions = {},
): Promise<string> {
  const { keyText, home, name, target } = placeOf(modelsDir, key);
  const { signal } = options;

  if ((await fault(target, keyText, signal)) === undefined) {
    await markUsed(target);
    return target;
  }
  return await withFileLock(join(home, 'lock'), { signal }, async () => {
    // Another process may have built it while this one waited.
    const reason = await fault(target, keyText, signal);
    if (reason !== undefined) {
      options.onBuild?.(reason);
      await buildInto(home, target, keyText, build, signal);
    }
    await markUsed(target);
    await prune(home, name, options.keep ?? KEEP);
    return target;
  });
}

/** The folder of an import that was made before, undefined where there is none. It waits for nobody who makes one. */
export async function importedBefore(modelsDir: string, key: ImportKey): Promise<string | undefined> {
  const { keyText, target } = placeOf(modelsDir, key);
  if ((await fault(target, keyText, undefined)) !== undefined) return undefined;
  await markUsed(target);
  return target;
}

function placeOf(modelsDir: string, key: ImportKey) {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(key.importer)) {
    throw new Error(`The importer's name '${key.importer}' must be lower-case letters, digits and hyphens.`);
  }
  const keyText = canonicalKey(key);
  const home = join(modelsDir, 'imports', key.importer);
  const name = `v${key.version}-${sha256(keyText).slice(0, 16)}`;
  return { keyText, home, name, target: join(home, name) };
}

/** The same key gives the same text, whatever the order of its options. */
function canonicalKey(key: ImportKey): string {
  const options = Object.entries(key.options ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([key.importer, key.version, key.provider, key.sources, options]);
}

async function buildInto(
  home: string,
  target: string,
  key: string,
  build: (dir: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const draft = join(home, `draft-${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    await build(draft);
    const files: Manifest['files'][number][] = [];
    for (const name of (await readdir(draft)).sort()) {
      const path = join(draft, name);
      files.push({ name, bytes: (await stat(path)).size, sha256: await sha256File(path, signal) });
    }
    if (files.length === 0) throw new Error('The import step wrote no file.');
    await writeFile(join(draft, MANIFEST), JSON.stringify({ key, files } satisfies Manifest, null, 2));
    await rm(target, { recursive: true, force: true });
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Why an import cannot be used; undefined when every file is as it was written. */
async function fault(
  target: string,
  key: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(await readFile(join(target, MANIFEST), 'utf8')) as Manifest;
    if (manifest.key !== key || manifest.files.length === 0) return 'its manifest is for another import';
  } catch (error) {
    return isMissing(error) ? 'not imported yet' : 'its manifest cannot be read';
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

/** The manifest's time says when an import was last used; {@link prune} goes by it. */
async function markUsed(target: string): Promise<void> {
  const nowS = systemClock.now() / 1000;
  // A read-only cache works; it is only never pruned by use.
  await utimes(join(target, MANIFEST), nowS, nowS).catch(() => undefined);
}

/**
 * Leaves the `keep` imports that were used last and removes everything else: older ones, drafts of
 * processes that died, locks moved aside. Called by the owner of the lock.
 */
async function prune(home: string, current: string, keep: number): Promise<void> {
  const others: { name: string; usedMs: number }[] = [];
  for (const name of await readdir(home)) {
    if (name === current || name === 'lock') continue;
    const manifest = await stat(join(home, name, MANIFEST)).catch(() => undefined);
    others.push({ name, usedMs: name.startsWith('draft-') || manifest === undefined ? 0 : manifest.mtimeMs });
  }
  others.sort((a, b) => b.usedMs - a.usedMs);
  for (const [place, { name, usedMs }] of others.entries()) {
    if (usedMs === 0 || place >= keep - 1) await rm(join(home, name), { recursive: true, force: true });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
