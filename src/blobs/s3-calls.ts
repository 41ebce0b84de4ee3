/** Calls of the S3 client, whose errors are converted to ServiceErrors. */

import { type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { ServiceError } from '../contract/core/error.ts';
import { isStorageFull, storageFull } from '../kit/storage/disk-errors.ts';

/** Time limit of a call, including retries. */
const CALL_TIMEOUT_MS = 60_000;
/** Longer than a retry pause of the S3 client, which has already retried when this is sent. */
const RETRY_AFTER_S = 5;
const NOT_FOUND: ReadonlySet<string> = new Set(['NotFound', 'NoSuchKey', 'NoSuchUpload']);
/** The status of `OperationAborted` and similar errors: another request changes the same name. It succeeds when repeated. */
const CONFLICT = 409;
/** Transient errors: corruption in transit, timeouts, and an upload that was completed although its response was lost. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'NoSuchUpload',
  'RequestTimeout',
]);

/**
 * Sends a request and waits for its response.
 * @throws ServiceError `overloaded` if the store is unavailable, overloaded or full, `internal` if it rejects the request; the
 *   signal's reason after an abort.
 */
export async function sendWithTimeout<Output>(
  call: (abortSignal: AbortSignal) => Promise<Output>,
  signal: AbortSignal,
): Promise<Output> {
  signal.throwIfAborted();
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new Error('no response from the store in time')),
    CALL_TIMEOUT_MS,
  );
  const aborted = AbortSignal.any([signal, timeout.signal]);
  const { promise: rejectedOnAbort, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(aborted.reason);
  aborted.addEventListener('abort', onAbort, { once: true });
  try {
    // The client ignores the signal during its pauses between retries.
    return await Promise.race([call(aborted), rejectedOnAbort]);
  } catch (error) {
    signal.throwIfAborted();
    throw toStorageError(error);
  } finally {
    clearTimeout(timer);
    // Otherwise a long-lived signal would keep a reference to this call.
    aborted.removeEventListener('abort', onAbort);
  }
}

/** Like {@link sendWithTimeout}, but returns undefined if the blob or upload does not exist. */
export function sendUnlessMissing<Output>(
  call: (abortSignal: AbortSignal) => Promise<Output>,
  signal: AbortSignal,
): Promise<Output | undefined> {
  return sendWithTimeout(
    (abortSignal) =>
      call(abortSignal).catch((error: unknown) => {
        if (error instanceof S3ServiceException && NOT_FOUND.has(error.name)) return undefined;
        throw error;
      }),
    signal,
  );
}

/** Converts an error of the S3 client to an error that may be sent to the caller. */
export function toStorageError(error: unknown): ServiceError {
  if (isStorageFull(error)) return storageFull(error);
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  const name = error instanceof Error ? error.name : '';
  // Without a status the store sent no response.
  if (status === undefined || status >= 500 || status === 429 || status === CONFLICT || TRANSIENT.has(name)) {
    return new ServiceError('overloaded', 'File storage unavailable, retry later.', {
      code: 'server_overloaded',
      retryAfterS: RETRY_AFTER_S,
      cause: error,
    });
  }
  return new ServiceError('internal', 'Internal server error: file storage failed.', {
    code: 'server_error',
    cause: error,
  });
}

/** Makes the client sign with the precomputed hash, because hashing a whole part in one step would block the main thread. */
export function signWithKnownHash(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (step) => {
      const { headers } = step.request as { headers: Record<string, string> };
      const known = headers['x-amz-checksum-sha256'];
      if (known !== undefined) headers['x-amz-content-sha256'] = Buffer.from(known, 'base64').toString('hex');
      return next(step);
    },
    { step: 'build', priority: 'low', name: 'signWithKnownHash' },
  );
}

/** Makes the client retry requests that conflict with another request, which it does not do by itself. */
export function retryConflicts(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (step) => {
      try {
        return await next(step);
      } catch (error) {
        if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === CONFLICT) {
          Object.assign(error, { $retryable: {} });
        }
        throw error;
      }
    },
    { step: 'deserialize', name: 'retryConflicts', priority: 'high' },
  );
}

/** Reports each call that fails after its retries, except "not found" errors and aborted calls. */
export function reportErrors(client: S3Client, failed: (error: unknown) => void): void {
  client.middlewareStack.add(
    (next) => async (step) => {
      try {
        return await next(step);
      } catch (error) {
        const name = error instanceof Error ? error.name : '';
        if (name !== 'AbortError' && !NOT_FOUND.has(name)) failed(error);
        throw error;
      }
    },
    { step: 'initialize', name: 'reportErrors' },
  );
}
