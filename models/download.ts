import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sha256File } from '../src/kit/storage/content-hash.ts';
import { reason, SourceError } from './source-error.ts';

/** Bytes that are known before they are fetched. */
export interface ExpectedBytes {
  readonly bytes: number;
  readonly sha256: string;
}

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** Told after every piece how many bytes are there, those of an earlier run included. */
  readonly onBytes?: ((doneBytes: number) => void) | undefined;
  /** Told about each attempt that failed and is made again. */
  readonly onRetry?: ((message: string) => void) | undefined;
  /** A server that sends nothing for so long is given up. */
  readonly stallMs?: number | undefined;
  /** Attempts in a row that bring nothing new. */
  readonly attempts?: number | undefined;
  /** Wait before the first repeated attempt; it doubles with each. */
  readonly backoffMs?: number | undefined;
}

const STALL_MS = 30_000;
const ATTEMPTS = 4;
const BACKOFF_MS = 500;
/** An attempt that brings so much counts as success, however it ends. */
const PROGRESS_BYTES = 1 << 20;

/**
 * Brings `partPath` to exactly the expected bytes by HTTP GET (or from a `file:` address). What the file
 * already holds is continued with a Range request; a server that ignores the range is read from the start.
 * Afterwards the file's sha256 is checked: a wrong file is removed, and fetched once more from the start if
 * it had been put together from several answers. Proxies are those of the environment.
 * @throws SourceError when this address does not give the bytes; what has arrived stays in `partPath`.
 * @throws the system's error when the file cannot be written (for instance ENOSPC), the signal's reason
 *   after an abort.
 */
export async function download(
  url: string,
  expected: ExpectedBytes,
  partPath: string,
  options: DownloadOptions,
): Promise<void> {
  for (let again = false; ; again = true) {
    const joined = await receiveAll(url, expected, partPath, options);
    const found = await sha256File(partPath, options.signal);
    if (found === expected.sha256) return;
    await rm(partPath, { force: true });
    if (again || !joined) {
      throw new SourceError(
        `it sent other bytes than expected (sha256 ${found}, expected ${expected.sha256})`,
      );
    }
    options.onRetry?.('the joined pieces do not match their sha256; starting again');
  }
}

/** Receives until the file has its size. @returns whether it was joined from several answers. */
async function receiveAll(
  url: string,
  expected: ExpectedBytes,
  partPath: string,
  options: DownloadOptions,
): Promise<boolean> {
  const attempts = options.attempts ?? ATTEMPTS;
  let joined = (await size(partPath)) > 0;
  let maxBytes = await size(partPath);
  for (let failures = 0; ; ) {
    options.signal.throwIfAborted();
    const held = await size(partPath);
    if (held === expected.bytes) return joined;
    if (held > expected.bytes) await rm(partPath, { force: true });
    try {
      await receive(url, expected, partPath, held > expected.bytes ? 0 : held, options);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof SourceError) || !error.retryable) throw error;
      const now = await size(partPath);
      failures = now >= maxBytes + PROGRESS_BYTES ? 0 : failures + 1;
      maxBytes = Math.max(maxBytes, now);
      if (failures >= attempts) throw error;
      joined = true;
      options.onRetry?.(`${error.message}; trying again from byte ${now}`);
      const waitMs = (options.backoffMs ?? BACKOFF_MS) * 2 ** Math.max(0, failures - 1);
      await delay(waitMs, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
}

/** One request. @throws SourceError for what the server did. */
async function receive(
  url: string,
  expected: ExpectedBytes,
  partPath: string,
  heldBytes: number,
  options: DownloadOptions,
): Promise<void> {
  const stallMs = options.stallMs ?? STALL_MS;
  const stalled = new AbortController();
  const stall = setTimeout(() => stalled.abort(), stallMs);
  const network = async <T>(step: Promise<T>): Promise<T> => {
    try {
      return await step;
    } catch (error) {
      const problem = stalled.signal.aborted ? `it sent nothing for ${stallMs} ms` : reason(error);
      throw new SourceError(problem, { retryable: true, cause: error });
    }
  };
  try {
    // Compression in transit would make ranges and lengths count other bytes than the file's.
    const headers: Record<string, string> = { 'accept-encoding': 'identity' };
    if (heldBytes > 0) headers.range = `bytes=${heldBytes}-`;
    const signal = AbortSignal.any([options.signal, stalled.signal]);
    const response = await network(fetch(url, { headers, signal }));
    const fromByte = await startOf(response, expected, heldBytes, partPath);
    const reader = response.body?.getReader();
    if (reader === undefined) throw new SourceError('it sent no body', { retryable: true });
    const file = await open(partPath, fromByte === 0 ? 'w' : 'a');
    try {
      let doneBytes = fromByte;
      for (;;) {
        stall.refresh();
        const { done, value } = await network(reader.read());
        if (done) break;
        doneBytes += value.length;
        if (doneBytes > expected.bytes)
          throw new SourceError(`it sent more than the expected ${expected.bytes} bytes`);
        await file.writeFile(value);
        options.onBytes?.(doneBytes);
      }
      if (doneBytes < expected.bytes) {
        throw new SourceError(`the connection ended at byte ${doneBytes} of ${expected.bytes}`, {
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
 * First byte that the answer's body holds: 0, or where the held bytes end.
 * @throws SourceError for a status, range or length that cannot lead to the expected bytes.
 */
async function startOf(
  response: Response,
  expected: ExpectedBytes,
  heldBytes: number,
  partPath: string,
): Promise<number> {
  if (response.status === 416) {
    await rm(partPath, { force: true });
    throw new SourceError('it refused the rest of the file (HTTP 416)', { retryable: true });
  }
  if (!response.ok) {
    const retryable = response.status >= 500 || response.status === 429 || response.status === 408;
    throw new SourceError(`it answered HTTP ${response.status}`, { retryable });
  }
  if (response.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
    const total = range?.[2];
    if (Number(range?.[1]) !== heldBytes || (total !== '*' && Number(total) !== expected.bytes)) {
      await rm(partPath, { force: true });
      throw new SourceError('it sent another range than was asked for', { retryable: true });
    }
    return heldBytes;
  }
  const offered = response.headers.get('content-length');
  if (offered !== null && !response.headers.has('content-encoding') && Number(offered) !== expected.bytes) {
    throw new SourceError(`it offers ${offered} bytes, ${expected.bytes} are expected`);
  }
  return 0;
}

async function size(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
