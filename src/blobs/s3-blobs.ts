import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type MultipartUpload,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { Clock } from '../contract/core/clock.ts';
import { StartError } from '../contract/core/error.ts';
import type { S3BlobSettings } from '../contract/core/settings.ts';
import type { BlobStore, ByteRange } from '../contract/stores/blob-store.ts';
import { checkBlobName, checkBlobPrefix, isBlobName } from './blob-name.ts';
import { fetchHandler } from './fetch-handler.ts';
import { answerOf, answerUnlessMissing, signWithKnownHash, storeFailure, tellFailures } from './s3-calls.ts';
import { downloadFromS3 } from './s3-download.ts';
import { uploadToS3 } from './s3-upload.ts';

/** With pauses of up to 2 s between them. */
const TRIES = 4;
/** An upload that began earlier has lost its writer: none takes so long. */
const ABANDONED_MS = 86_400_000;
/** For all tries of the first call. */
const START_MS = 20_000;
const NEVER = new AbortController().signal;

/**
 * Blobs in a bucket that several machines share (docs/guide/scale-out.md).
 * @param clock compared with the times of the server.
 * @param failed told of each call that failed, tries again included.
 * @throws StartError when the bucket cannot be used.
 */
export async function openS3Blobs(
  settings: S3BlobSettings,
  clock: Clock,
  failed: () => void = () => undefined,
): Promise<BlobStore> {
  const client = new S3Client({
    endpoint: settings.endpoint,
    region: settings.region,
    credentials: {
      accessKeyId: settings.accessKeyId,
      secretAccessKey: settings.secretAccessKey.reveal(),
    },
    // What every server of this kind understands, whatever its name in DNS.
    forcePathStyle: true,
    maxAttempts: TRIES,
    // Parts have a SHA-256 that is made while they are collected; one more sum of them would be for nothing.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Another round trip for each part, which is small enough to be sent in vain.
    expectContinueHeader: false,
    requestHandler: fetchHandler,
  });
  signWithKnownHash(client);
  tellFailures(client, failed);
  try {
    const abortSignal = AbortSignal.timeout(START_MS);
    // Unlike a HEAD, it is told what is wrong.
    await client.send(new ListObjectsV2Command({ Bucket: settings.bucket, MaxKeys: 1 }), { abortSignal });
  } catch (error) {
    client.destroy();
    throw bucketError(settings, error);
  }
  return new S3Blobs(client, settings.bucket, clock);
}

class S3Blobs implements BlobStore {
  readonly openFile = undefined;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #clock: Clock;

  constructor(client: S3Client, bucket: string, clock: Clock) {
    this.#client = client;
    this.#bucket = bucket;
    this.#clock = clock;
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    const place = this.#place(name);
    signal.throwIfAborted();
    return uploadToS3(this.#client, place, bytes, signal);
  }

  async read(name: string, signal: AbortSignal, range?: ByteRange) {
    const place = this.#place(name);
    signal.throwIfAborted();
    return downloadFromS3(this.#client, place, signal, range);
  }

  async delete(name: string): Promise<boolean> {
    const place = this.#place(name);
    // The store deletes what is not there with the same words.
    const found = await answerUnlessMissing(
      (abortSignal) => this.#client.send(new HeadObjectCommand(place), { abortSignal }),
      NEVER,
    );
    if (found === undefined) return false;
    await answerOf(
      (abortSignal) => this.#client.send(new DeleteObjectCommand(place), { abortSignal }),
      NEVER,
    );
    return true;
  }

  async deleteAll(prefix: string, signal: AbortSignal): Promise<number> {
    checkBlobPrefix(prefix);
    let count = 0;
    for await (const { Contents = [] } of this.#pages(prefix, signal)) {
      if (Contents.length === 0) continue;
      const command = new DeleteObjectsCommand({
        Bucket: this.#bucket,
        Delete: { Objects: Contents.map(({ Key }) => ({ Key })), Quiet: true },
      });
      const { Errors = [] } = await answerOf(
        (abortSignal) => this.#client.send(command, { abortSignal }),
        signal,
      );
      if (Errors.length > 0) throw storeFailure(new Error(`blobs were not deleted: ${Errors[0]?.Code}`));
      count += Contents.length;
    }
    return count;
  }

  list(prefix: string, signal: AbortSignal) {
    checkBlobPrefix(prefix);
    return this.#names(prefix, signal);
  }

  async removeUnfinished(signal: AbortSignal): Promise<number> {
    const oldest = this.#clock.now() - ABANDONED_MS;
    let count = 0;
    for await (const { Key, UploadId, Initiated } of this.#uploads(signal)) {
      if (Initiated === undefined || Initiated.getTime() >= oldest) continue;
      const command = new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId });
      await answerUnlessMissing((abortSignal) => this.#client.send(command, { abortSignal }), signal);
      count += 1;
    }
    return count;
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  async *#names(
    prefix: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ name: string; changedAt: number }, void, undefined> {
    for await (const { Contents = [] } of this.#pages(prefix, signal)) {
      for (const { Key: name = '', LastModified } of Contents) {
        // Programs that show buckets leave marks of folders.
        if (isBlobName(name)) yield { name, changedAt: Math.floor((LastModified?.getTime() ?? 0) / 1000) };
      }
    }
  }

  async *#pages(prefix: string, signal: AbortSignal): AsyncGenerator<ListObjectsV2CommandOutput> {
    let ContinuationToken: string | undefined;
    do {
      signal.throwIfAborted();
      const command = new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: prefix,
        ...(ContinuationToken && { ContinuationToken }),
      });
      const page = await answerOf((abortSignal) => this.#client.send(command, { abortSignal }), signal);
      yield page;
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  async *#uploads(signal: AbortSignal): AsyncGenerator<MultipartUpload, void, undefined> {
    let KeyMarker: string | undefined;
    do {
      signal.throwIfAborted();
      // By name alone: not every server knows the place of an upload that was given up meanwhile.
      const command = new ListMultipartUploadsCommand({
        Bucket: this.#bucket,
        ...(KeyMarker && { KeyMarker }),
      });
      const page: ListMultipartUploadsCommandOutput = await answerOf(
        (abortSignal) => this.#client.send(command, { abortSignal }),
        signal,
      );
      yield* page.Uploads ?? [];
      KeyMarker = page.IsTruncated ? page.NextKeyMarker : undefined;
    } while (KeyMarker !== undefined);
  }

  #place(name: string) {
    checkBlobName(name);
    return { Bucket: this.#bucket, Key: name };
  }
}

const KEYS = 'it may not be used with S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY';
const REGION = 'S3_REGION must be another';
/** What a refusal means to the operator. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['NoSuchBucket', 'there is no such bucket: make it, or set another S3_BUCKET'],
  ['InvalidAccessKeyId', KEYS],
  ['SignatureDoesNotMatch', KEYS],
  ['AccessDenied', KEYS],
  ['AuthorizationHeaderMalformed', REGION],
  ['PermanentRedirect', REGION],
]);

/** What is wrong with the settings, for the operator. */
function bucketError({ bucket, endpoint }: S3BlobSettings, error: unknown): StartError {
  const answer = error instanceof S3ServiceException ? error : undefined;
  const said =
    answer === undefined
      ? 'there is no answer: check S3_ENDPOINT'
      : `the answer is ${answer.$metadata.httpStatusCode} ${answer.name}: check S3_ENDPOINT and S3_ACCESS_KEY_ID`;
  const reason = REASONS.get(answer?.name ?? '') ?? said;
  return new StartError(`The bucket '${bucket}' at ${endpoint} cannot be used: ${reason}.`, { cause: error });
}
