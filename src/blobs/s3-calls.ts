/** Calls of the S3 client, with errors as the service has them. */

import { type S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { ServiceError } from '../contract/core/error.ts';

/** For all tries of a call together. */
const CALL_MS = 60_000;
/** A store that was away for so long as the client tries is asked again when others may have been answered. */
const RETRY_AFTER_S = 5;
const NOT_FOUND: ReadonlySet<string> = new Set(['NotFound', 'NoSuchKey', 'NoSuchUpload']);
/** Refusals that another try may not meet: damage on the way, and an upload that a lost answer had ended. */
const PASSING: ReadonlySet<string> = new Set([
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'NoSuchUpload',
  'RequestTimeout',
]);

/**
 * Makes a call and waits for its answer.
 * @throws ServiceError `overloaded` when the store cannot be reached or says so, `internal` when it refuses; the
 *   signal's reason after an abort.
 */
export async function answerOf<Answer>(
  call: (abortSignal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('the store did not answer in time')), CALL_MS);
  const ended = AbortSignal.any([signal, late.signal]);
  const { promise: leaving, reject } = Promise.withResolvers<never>();
  const leave = () => reject(ended.reason);
  ended.addEventListener('abort', leave, { once: true });
  try {
    // The client hears of no signal while it pauses between two tries.
    return await Promise.race([call(ended), leaving]);
  } catch (error) {
    signal.throwIfAborted();
    throw storeFailure(error);
  } finally {
    clearTimeout(timer);
    // A signal that outlives the call would hold on to it.
    ended.removeEventListener('abort', leave);
  }
}

/** The answer about one blob or upload; undefined when there is none. @throws as {@link answerOf}. */
export function answerUnlessMissing<Answer>(
  call: (abortSignal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  return answerOf(
    (abortSignal) =>
      call(abortSignal).catch((error: unknown) => {
        if (error instanceof S3ServiceException && NOT_FOUND.has(error.name)) return undefined;
        throw error;
      }),
    signal,
  );
}

/** What a caller may know of a call that failed. */
export function storeFailure(error: unknown): ServiceError {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  const name = error instanceof Error ? error.name : '';
  // Without a status nothing was answered.
  if (status === undefined || status >= 500 || status === 429 || PASSING.has(name)) {
    return new ServiceError('overloaded', 'The store of files cannot be reached. Send the request again.', {
      code: 'server_overloaded',
      retryAfterS: RETRY_AFTER_S,
      cause: error,
    });
  }
  return new ServiceError('internal', 'The server failed to store or read a file. It is not your fault.', {
    code: 'server_error',
    cause: error,
  });
}

/** Makes the client sign with a hash that is known, not with one that it makes of all bytes at once. */
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

/** Tells of each call that failed, after its tries; not of what is not there, nor of calls that were broken off. */
export function tellFailures(client: S3Client, failed: () => void): void {
  client.middlewareStack.add(
    (next) => async (step) => {
      try {
        return await next(step);
      } catch (error) {
        const name = error instanceof Error ? error.name : '';
        if (name !== 'AbortError' && !NOT_FOUND.has(name)) failed();
        throw error;
      }
    },
    { step: 'initialize', name: 'tellFailures' },
  );
}
