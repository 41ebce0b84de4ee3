/**
 * Downloads of files from the model hub: `{endpoint}/{owner}/{name}/resolve/{revision}/{path}`. The response to HEAD has the
 * checksum and size: `x-linked-etag` (SHA-256) and `x-linked-size` of large files, which redirect to a storage server, or `etag`
 * (SHA-1 of a git blob) and `content-length` of small files.
 */

import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256File } from '../kit/storage/content-hash.ts';
import { isStorageFull, isUnwritable } from '../kit/storage/disk-errors.ts';
import { withFileLock } from '../kit/storage/file-lock.ts';
import { type DownloadOptions, type DownloadRequest, download, type ExpectedBytes } from './download.ts';
import { diskFullMessage, unwritableMessage } from './fetch-messages.ts';
import { type HubFiles, type HubSettings, hubRecord, hubRecordPath } from './hub-reference.ts';
import { cachedFilePath, type ModelFile } from './model-files.ts';
import type { Progress } from './progress.ts';
import { ModelFetchError, reason, SourceError } from './source-error.ts';
import { verifyFile } from './verify.ts';

export interface HubFetchOptions {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly hub: HubSettings;
  /** Timing of downloads; shortened in tests. */
  readonly timing?: Pick<DownloadOptions, 'stallTimeoutMs' | 'attempts' | 'backoffMs'> | undefined;
}

/** A file on the hub, and the request that downloads it. */
interface RemoteFile {
  readonly expected: ExpectedBytes;
  readonly request: DownloadRequest;
}

const REVISION = 'main';
const MAX_REDIRECTS = 5;
const HEAD_TIMEOUT_MS = 30_000;
const HEAD_ATTEMPTS = 4;
const BACKOFF_MS = 500;
const MAX_BYTES = 2 ** 40;
/** Larger files are stored outside git and have a SHA-256. */
const MAX_GIT_BYTES = 64 << 20;

/**
 * Downloads the files that are missing in the cache. Corrupt files are downloaded again. Safe to run in several processes.
 * @returns the number of downloaded files.
 * @throws ModelFetchError if a file cannot be downloaded or stored; the signal's reason after an abort.
 */
export async function fetchHubFiles(
  modelsDir: string,
  files: HubFiles,
  options: HubFetchOptions,
): Promise<number> {
  const { repository } = files;
  try {
    if ((await missingPaths(modelsDir, repository, files.paths, options)).length === 0) return 0;
    const partialDir = join(modelsDir, 'partial');
    await mkdir(partialDir, { recursive: true });
    await mkdir(join(modelsDir, 'sha256'), { recursive: true });
    const onWait = () =>
      options.progress.note(`Waiting for another process that is downloading ${repository} …`);
    const lock = join(partialDir, `hub-${repository.replace('/', '--')}.lock`);
    return await withFileLock(lock, { signal: options.signal, onWait }, async () => {
      // Another process may have downloaded them in the meantime.
      const missing = await missingPaths(modelsDir, repository, files.paths, options);
      const optional = await missingPaths(modelsDir, repository, files.optionalPaths ?? [], options);
      const remote = new Map<string, RemoteFile>();
      for (const path of missing) {
        remote.set(path, await locateWithRetries(options.hub, repository, path, options));
      }
      for (const path of optional) {
        const found = await locateIfAny(repository, path, options);
        if (found !== undefined) remote.set(path, found);
      }
      await fetchMissing(modelsDir, partialDir, repository, remote, options);
      return remote.size;
    });
  } catch (error) {
    options.signal.throwIfAborted();
    const message = await failureMessage(modelsDir, repository, options.hub, error);
    if (message === undefined) throw error;
    throw new ModelFetchError(message, { cause: error });
  }
}

async function failureMessage(
  modelsDir: string,
  repository: string,
  { endpoint }: HubSettings,
  error: unknown,
): Promise<string | undefined> {
  if (isStorageFull(error)) return await diskFullMessage(modelsDir, repository, undefined);
  if (isUnwritable(error)) return unwritableMessage(modelsDir, error);
  if (error instanceof SourceError) {
    return `Downloading ${repository} from ${endpoint} failed: ${error.message}.`;
  }
  return undefined;
}

/** The paths that are not in the cache. Corrupt files are removed. */
async function missingPaths(
  modelsDir: string,
  repository: string,
  paths: readonly string[],
  { signal, progress }: HubFetchOptions,
): Promise<string[]> {
  const missing: string[] = [];
  for (const path of paths) {
    const record = hubRecord(modelsDir, repository, path);
    const found = record && (await verifyFile(modelsDir, record, signal));
    if (found?.state === 'good') continue;
    if (found?.state === 'corrupt') {
      progress.note(`${path} of ${repository} is corrupt (${found.detail}); downloading it again.`);
      await rm(found.path, { force: true });
    }
    missing.push(path);
  }
  return missing;
}

async function fetchMissing(
  modelsDir: string,
  partialDir: string,
  repository: string,
  remote: ReadonlyMap<string, RemoteFile>,
  options: HubFetchOptions,
): Promise<void> {
  const { hub, progress, signal, timing } = options;
  const sizes = [...remote.values()].map(({ expected }) => expected.bytes);
  progress.startSet?.(sizes.reduce((sum, bytes) => sum + bytes, 0));
  for (const [path, { expected }] of remote) {
    const label = `${repository}/${path}`;
    const partPath = join(partialDir, `${checksumOf(expected)}.part`);
    progress.startDownload(label, expected.bytes);
    // Located again for each attempt, because the URLs of storage servers expire.
    const locateAgain = async () => {
      const now = await locate(hub, repository, path, signal);
      if (checksumOf(now.expected) === checksumOf(expected)) return now.request;
      throw new SourceError(`${path} has changed on the server during the download`);
    };
    await download(locateAgain, expected, partPath, {
      ...timing,
      signal,
      onBytes: (done) => progress.update(done),
      onRetry: (message) => progress.note(`  ${label}: ${message}.`),
    });
    progress.finishDownload();
    const sha256 = 'sha256' in expected ? expected.sha256 : await sha256File(partPath, signal);
    await rename(partPath, cachedFilePath(modelsDir, sha256));
    await writeRecord(modelsDir, repository, { name: path, bytes: expected.bytes, sha256 });
  }
}

async function writeRecord(modelsDir: string, repository: string, file: ModelFile): Promise<void> {
  const path = hubRecordPath(modelsDir, repository, file.name);
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.draft`;
  await writeFile(draft, JSON.stringify({ bytes: file.bytes, sha256: file.sha256 }));
  await rename(draft, path);
}

function checksumOf(expected: ExpectedBytes): string {
  return 'sha256' in expected ? expected.sha256 : expected.gitBlobSha1;
}

/** Locates a file that a repository may not have. */
async function locateIfAny(
  repository: string,
  path: string,
  options: HubFetchOptions,
): Promise<RemoteFile | undefined> {
  try {
    return await locateWithRetries(options.hub, repository, path, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof SourceError)) throw error;
    options.progress.note(`${repository}/${path} is not downloaded: ${error.message}.`);
    return undefined;
  }
}

async function locateWithRetries(
  hub: HubSettings,
  repository: string,
  path: string,
  { signal, timing, progress }: HubFetchOptions,
): Promise<RemoteFile> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await locate(hub, repository, path, signal);
    } catch (error) {
      signal.throwIfAborted();
      const isLast = attempt >= (timing?.attempts ?? HEAD_ATTEMPTS);
      if (!(error instanceof SourceError) || !error.retryable || isLast) throw error;
      progress.note(`  ${repository}/${path}: ${error.message}; retrying.`);
      const waitMs = (timing?.backoffMs ?? BACKOFF_MS) * 2 ** (attempt - 1);
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Reads size, checksum and address of a file. @throws SourceError if the server does not provide them. */
async function locate(
  hub: HubSettings,
  repository: string,
  path: string,
  signal: AbortSignal,
): Promise<RemoteFile> {
  let url = new URL(`${hub.endpoint}/${repository}/resolve/${REVISION}/${path}`);
  const { origin } = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' };
    if (hub.token !== undefined) headers.authorization = `Bearer ${hub.token.reveal()}`;
    const response = await head(url, headers, signal);
    const isRedirect = response.status >= 300 && response.status < 400;
    const target = isRedirect ? URL.parse(response.headers.get('location') ?? '', url.href) : undefined;
    if (!isRedirect && !response.ok) throw statusError(response, hub, repository, path);
    // A repository that was renamed redirects on the same server, without a checksum.
    if (isRedirect && response.headers.get('x-linked-etag') === null && target?.origin === origin) {
      url = target;
      continue;
    }
    if (isRedirect && !target) throw new SourceError('redirect without a valid address', { retryable: true });
    const expected = expectedBytes(response, path);
    // The token is only for the hub: storage servers have signed URLs.
    const request = target
      ? { url: target.href, ...(target.origin === origin && { headers }) }
      : { url: url.href, headers };
    return { expected, request };
  }
  throw new SourceError('too many redirects');
}

async function head(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(HEAD_TIMEOUT_MS)]),
    });
  } catch (error) {
    throw new SourceError(reason(error), { retryable: true, cause: error });
  }
}

/** @throws SourceError without a checksum or size. */
function expectedBytes({ headers }: Response, path: string): ExpectedBytes {
  const etag = headers.get('x-linked-etag') ?? headers.get('etag') ?? '';
  const checksum = /^(?:W\/)?"?([0-9a-f]{40}|[0-9a-f]{64})"?$/.exec(etag)?.[1];
  const bytes = Number(headers.get('x-linked-size') ?? headers.get('content-length') ?? Number.NaN);
  const maxBytes = checksum?.length === 64 ? MAX_BYTES : MAX_GIT_BYTES;
  if (checksum === undefined || !Number.isSafeInteger(bytes) || bytes < 1 || bytes > maxBytes) {
    throw new SourceError(`the server reports no checksum and size of ${path}`);
  }
  return checksum.length === 64 ? { bytes, sha256: checksum } : { bytes, gitBlobSha1: checksum };
}

/** The error for a response without the file. 401 is also returned for repositories that do not exist. */
function statusError(
  { status, headers }: Response,
  { endpoint, token }: HubSettings,
  repository: string,
  path: string,
): SourceError {
  switch (status) {
    case 401:
      return new SourceError(
        token === undefined
          ? `HTTP 401: the repository ${repository} does not exist or requires a token; set HF_TOKEN`
          : `HTTP 401: the repository ${repository} does not exist, or the token in HF_TOKEN is invalid`,
      );
    case 403:
      return new SourceError(
        `HTTP 403: no access to ${repository}; accept its conditions at ${endpoint}/${repository} and set HF_TOKEN to a token of that account`,
      );
    case 404:
      return new SourceError(
        headers.get('x-error-code') === 'RepoNotFound'
          ? `HTTP 404: the repository ${repository} does not exist`
          : `HTTP 404: ${repository} has no file ${path}`,
      );
    default: {
      const retryable = status >= 500 || status === 429 || status === 408;
      return new SourceError(`HTTP status ${status}`, { retryable });
    }
  }
}
