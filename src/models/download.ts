import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256File } from '../kit/storage/content-hash.ts';
import { reason, SourceError } from './source-error.ts';

/** Size and checksum of a download. */
export type ExpectedBytes = { readonly bytes: number } & (
  | { readonly sha256: string }
  /** SHA-1 of `blob`, the size and the content, as git names files. */
  | { readonly gitBlobSha1: string }
);

/** Address of a download, and additional request headers. */
export interface DownloadRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** Called after every chunk with the number of bytes in the file, including those of an earlier run. */
  readonly onBytes?: ((doneBytes: number) => void) | undefined;
  /** Called for each failed attempt that is retried. */
  readonly onRetry?: ((message: string) => void) | undefined;
  /** Idle timeout of a request (ms). */
  readonly stallTimeoutMs?: number | undefined;
  /** Maximum number of consecutive attempts without progress. */
  readonly attempts?: number | undefined;
  /** Delay before the first retry (ms); it doubles with each retry. */
  readonly backoffMs?: number | undefined;
}

type DownloadSource = string | (() => Promise<DownloadRequest>);

const STALL_TIMEOUT_MS = 30_000;
const ATTEMPTS = 4;
const BACKOFF_MS = 500;
/** An attempt that receives this many bytes counts as progress, even if it fails. */
const PROGRESS_BYTES = 1 << 20;

/**
 * Downloads to `partPath` with HTTP GET, or from a `file:` URL; a function returns the address for each attempt. An existing partial file is resumed with a Range request; if
 * the server ignores the range, the download restarts. Afterwards the SHA-256 is verified: a file with a wrong checksum is
 * removed, and downloaded once more if it was joined from several responses. Uses the proxies of the environment.
 * @throws SourceError if the server does not deliver the expected bytes; received bytes remain in `partPath`.
 * @throws the system error if the file cannot be written (such as ENOSPC), and the signal's reason after an abort.
 */
export async function download(
  source: DownloadSource,
  expected: ExpectedBytes,
  partPath: string,
  options: DownloadOptions,
): Promise<void> {
  for (let isRetry = false; ; isRetry = true) {
    const isJoined = await receiveAll(source, expected, partPath, options);
    const mismatch = await checksumMismatch(partPath, expected, options.signal);
    if (mismatch === undefined) return;
    await rm(partPath, { force: true });
    if (isRetry || !isJoined) throw new SourceError(mismatch);
    options.onRetry?.('checksum mismatch after a resumed download; restarting');
  }
}

/** The difference between the checksums; undefined if they are equal. */
async function checksumMismatch(
  path: string,
  expected: ExpectedBytes,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [name, found, wanted] =
    'sha256' in expected
      ? ['sha256', await sha256File(path, signal), expected.sha256]
      : ['sha1 of the git blob', await gitBlobSha1(path, expected.bytes), expected.gitBlobSha1];
  return found === wanted ? undefined : `checksum mismatch (${name} ${found}, expected ${wanted})`;
}

/** Only for small files, which are read completely. */
async function gitBlobSha1(path: string, bytes: number): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha1').update(`blob ${bytes}\0`);
  return hasher.update(await Bun.file(path).bytes()).digest('hex');
}

/** Receives until the file has the expected size. @returns whether it was joined from several responses. */
async function receiveAll(
  source: DownloadSource,
  expected: ExpectedBytes,
  partPath: string,
  options: DownloadOptions,
): Promise<boolean> {
  const attempts = options.attempts ?? ATTEMPTS;
  let isJoined = (await size(partPath)) > 0;
  let maxBytes = await size(partPath);
  for (let failures = 0; ; ) {
    options.signal.throwIfAborted();
    const existing = await size(partPath);
    if (existing === expected.bytes) return isJoined;
    if (existing > expected.bytes) await rm(partPath, { force: true });
    try {
      await receive(source, expected, partPath, existing > expected.bytes ? 0 : existing, options);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof SourceError) || !error.retryable) throw error;
      const now = await size(partPath);
      failures = now >= maxBytes + PROGRESS_BYTES ? 0 : failures + 1;
      maxBytes = Math.max(maxBytes, now);
      if (failures >= attempts) throw error;
      isJoined = true;
      options.onRetry?.(`${error.message}; retrying from byte ${now}`);
      const waitMs = (options.backoffMs ?? BACKOFF_MS) * 2 ** Math.max(0, failures - 1);
      await delay(waitMs, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
}

/** Sends one request and appends its body to the file. @throws SourceError for errors of the server or the network. */
async function receive(
  source: DownloadSource,
  expected: ExpectedBytes,
  partPath: string,
  existingBytes: number,
  options: DownloadOptions,
): Promise<void> {
  const stallTimeoutMs = options.stallTimeoutMs ?? STALL_TIMEOUT_MS;
  const stalled = new AbortController();
  const stall = setTimeout(() => stalled.abort(), stallTimeoutMs);
  const network = async <T>(step: Promise<T>): Promise<T> => {
    try {
      return await step;
    } catch (error) {
      const problem = stalled.signal.aborted ? `no data for ${stallTimeoutMs} ms` : reason(error);
      throw new SourceError(problem, { retryable: true, cause: error });
    }
  };
  try {
    // With a content encoding, ranges and lengths would refer to the encoded bytes.
    const request = typeof source === 'string' ? { url: source } : await source();
    const headers: Record<string, string> = { ...request.headers, 'accept-encoding': 'identity' };
    if (existingBytes > 0) headers.range = `bytes=${existingBytes}-`;
    const signal = AbortSignal.any([options.signal, stalled.signal]);
    const response = await network(fetch(request.url, { headers, signal }));
    const fromByte = await bodyOffset(response, expected, existingBytes, partPath);
    const reader = response.body?.getReader();
    if (reader === undefined) throw new SourceError('empty response body', { retryable: true });
    const file = await open(partPath, fromByte === 0 ? 'w' : 'a');
    try {
      let doneBytes = fromByte;
      for (;;) {
        stall.refresh();
        const { done, value } = await network(reader.read());
        if (done) break;
        doneBytes += value.length;
        if (doneBytes > expected.bytes)
          throw new SourceError(`the response exceeds the expected ${expected.bytes} bytes`);
        await file.writeFile(value);
        options.onBytes?.(doneBytes);
      }
      if (doneBytes < expected.bytes) {
        throw new SourceError(`connection closed at byte ${doneBytes} of ${expected.bytes}`, {
          retryable: true,
        });
      }
    } finally {
      await file.close();
    }
  } finally {
    clearTimeout(stall);
    // Cancels a request whose body is no longer needed.
    stalled.abort();
  }
}

/**
 * The offset of the response body in the file: 0, or the number of existing bytes.
 * @throws SourceError for a status, range or length that does not match the expected bytes.
 */
async function bodyOffset(
  response: Response,
  expected: ExpectedBytes,
  existingBytes: number,
  partPath: string,
): Promise<number> {
  if (response.status === 416) {
    await rm(partPath, { force: true });
    throw new SourceError('the server rejected the range (HTTP 416)', { retryable: true });
  }
  if (!response.ok) {
    const retryable = response.status >= 500 || response.status === 429 || response.status === 408;
    throw new SourceError(`HTTP status ${response.status}`, { retryable });
  }
  if (response.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
    const total = range?.[2];
    if (Number(range?.[1]) !== existingBytes || (total !== '*' && Number(total) !== expected.bytes)) {
      await rm(partPath, { force: true });
      throw new SourceError('the response has a different range than requested', { retryable: true });
    }
    return existingBytes;
  }
  const offered = response.headers.get('content-length');
  if (offered !== null && !response.headers.has('content-encoding') && Number(offered) !== expected.bytes) {
    throw new SourceError(`content length is ${offered} bytes, expected ${expected.bytes}`);
  }
  return 0;
}

async function size(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
