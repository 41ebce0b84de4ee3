import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ByteRange } from '../contract/stores/blob-store.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { sendUnlessMissing, sendWithTimeout, toStorageError } from './s3-calls.ts';
import type { S3Location } from './s3-upload.ts';

/** Maximum number of consecutive attempts that yield no data. */
const MAX_ATTEMPTS = 3;
const SILENCE_MS = 30_000;

/** The bytes of a blob; undefined if it does not exist. */
export async function downloadFromS3(
  client: S3Client,
  location: S3Location,
  signal: AbortSignal,
  range?: ByteRange,
) {
  const headCommand = new HeadObjectCommand(location);
  const head = await sendUnlessMissing((abortSignal) => client.send(headCommand, { abortSignal }), signal);
  if (head === undefined) return undefined;
  const { start, end } = range ?? { start: 0, end: head.ContentLength ?? 0 };
  return bytesBetween(client, { ...location, IfMatch: head.ETag }, { start, end }, signal);
}

/**
 * Sends the request when the first chunk is read, so an unread generator holds no connection. After a broken connection it
 * resumes at the same offset, with `If-Match`, so that it never continues with a blob that replaced the original.
 */
async function* bytesBetween(
  client: S3Client,
  blob: S3Location & { readonly IfMatch: string | undefined },
  { start, end }: ByteRange,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let failures = 0;
  for (let at = start; at < end; ) {
    const command = new GetObjectCommand({ ...blob, Range: `bytes=${at}-${end - 1}` });
    const { Body } = await sendWithTimeout((abortSignal) => client.send(command, { abortSignal }), signal);
    try {
      for await (const chunk of withIdleTimeout(Body?.transformToWebStream() as Bytes, signal)) {
        at += chunk.length;
        failures = 0;
        yield chunk;
      }
      if (at < end) throw new Error('the response was too short');
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (failures >= MAX_ATTEMPTS) throw toStorageError(error);
    }
  }
}

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The chunks of a body with an idle timeout. Time in which the consumer does not read is not counted. */
async function* withIdleTimeout(body: Bytes, signal: AbortSignal) {
  const silent = new AbortController();
  const wait = () => setTimeout(() => silent.abort(new Error('the store stopped sending')), SILENCE_MS);
  let timer = wait();
  try {
    for await (const chunk of untilAborted(body, AbortSignal.any([signal, silent.signal]))) {
      clearTimeout(timer);
      yield chunk;
      timer = wait();
    }
  } finally {
    clearTimeout(timer);
  }
}
