import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ByteRange } from '../contract/stores/blob-store.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { answerOf, answerUnlessMissing, storeFailure } from './s3-calls.ts';
import type { S3Place } from './s3-upload.ts';

/** How often in a row a connection may break without a byte. */
const TRIES = 3;
const SILENCE_MS = 30_000;

/** Bytes of a blob; undefined when there is none. */
export async function downloadFromS3(
  client: S3Client,
  place: S3Place,
  signal: AbortSignal,
  range?: ByteRange,
) {
  const ask = new HeadObjectCommand(place);
  const head = await answerUnlessMissing((abortSignal) => client.send(ask, { abortSignal }), signal);
  if (head === undefined) return undefined;
  const { start, end } = range ?? { start: 0, end: head.ContentLength ?? 0 };
  return bytesBetween(client, { ...place, IfMatch: head.ETag }, { start, end }, signal);
}

/**
 * Asks with the first chunk, so that who never asks holds no connection, and goes on where a connection broke: at the
 * same blob, never at one that replaced it.
 */
async function* bytesBetween(
  client: S3Client,
  blob: S3Place & { readonly IfMatch: string | undefined },
  { start, end }: ByteRange,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let failures = 0;
  for (let at = start; at < end; ) {
    const command = new GetObjectCommand({ ...blob, Range: `bytes=${at}-${end - 1}` });
    const { Body } = await answerOf((abortSignal) => client.send(command, { abortSignal }), signal);
    try {
      for await (const chunk of heard(Body?.transformToWebStream() as Bytes, signal)) {
        at += chunk.length;
        failures = 0;
        yield chunk;
      }
      if (at < end) throw new Error('the answer was too short');
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (failures >= TRIES) throw storeFailure(error);
    }
  }
}

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The chunks of a body, as long as none is waited for too long. The time that its reader takes does not count. */
async function* heard(body: Bytes, signal: AbortSignal) {
  const silent = new AbortController();
  const wait = () => setTimeout(() => silent.abort(new Error('the store fell silent')), SILENCE_MS);
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
