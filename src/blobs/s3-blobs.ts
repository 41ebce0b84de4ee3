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
import {
  reportErrors,
  retryConflicts,
  sendUnlessMissing,
  sendWithTimeout,
  signWithKnownHash,
  toStorageError,
} from './s3-calls.ts';
import { downloadFromS3 } from './s3-download.ts';
import { uploadToS3 } from './s3-upload.ts';

/** Attempts per request, with pauses of up to 2 s. */
const MAX_ATTEMPTS = 4;
/** Older multipart uploads are abandoned: no upload takes this long. */
const ABANDONED_MS = 86_400_000;
/** Time limit of the first request, including retries. */
const START_TIMEOUT_MS = 20_000;
const NEVER_ABORTED = new AbortController().signal;

/**
 * Blobs in an S3 bucket that several hosts can share (docs/guide/scale-out.md).
 * @param clock is compared with the server's timestamps.
 * @param failed is called with the error of each request that fails after all retries.
 * @throws StartError if the bucket cannot be used.
 */
export async function openS3Blobs(
  settings: S3BlobSettings,
  clock: Clock,
  failed: (error: unknown) => void = () => undefined,
): Promise<BlobStore> {
  const client = new S3Client({
    endpoint: settings.endpoint,
    region: settings.region,
    credentials: {
      accessKeyId: settings.accessKeyId,
      secretAccessKey: settings.secretAccessKey.reveal(),
    },
    // Every S3-compatible server supports path-style requests, without wildcard DNS.
    forcePathStyle: true,
    maxAttempts: MAX_ATTEMPTS,
    // Parts already have a SHA-256, so another checksum is not needed.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Avoids another round trip per part; resending a small part is cheaper.
    expectContinueHeader: false,
    requestHandler: fetchHandler,
  });
  signWithKnownHash(client);
  retryConflicts(client);
  reportErrors(client, failed);
  try {
    const abortSignal = AbortSignal.timeout(START_TIMEOUT_MS);
    // Unlike for HEAD, the error response has a body with the reason.
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
    const location = this.#location(name);
    signal.throwIfAborted();
    return uploadToS3(this.#client, location, bytes, signal);
  }

  async read(name: string, signal: AbortSignal, range?: ByteRange) {
    const location = this.#location(name);
    signal.throwIfAborted();
    return downloadFromS3(this.#client, location, signal, range);
  }

  async delete(name: string): Promise<boolean> {
    const location = this.#location(name);
    // S3 returns the same response for existing and missing objects.
    const found = await sendUnlessMissing(
      (abortSignal) => this.#client.send(new HeadObjectCommand(location), { abortSignal }),
      NEVER_ABORTED,
    );
    if (found === undefined) return false;
    await sendWithTimeout(
      (abortSignal) => this.#client.send(new DeleteObjectCommand(location), { abortSignal }),
      NEVER_ABORTED,
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
      const { Errors = [] } = await sendWithTimeout(
        (abortSignal) => this.#client.send(command, { abortSignal }),
        signal,
      );
      if (Errors.length > 0) throw toStorageError(new Error(`blobs were not deleted: ${Errors[0]?.Code}`));
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
      await sendUnlessMissing((abortSignal) => this.#client.send(command, { abortSignal }), signal);
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
        // Other tools may have created folder marker objects.
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
      const page = await sendWithTimeout(
        (abortSignal) => this.#client.send(command, { abortSignal }),
        signal,
      );
      yield page;
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  async *#uploads(signal: AbortSignal): AsyncGenerator<MultipartUpload, void, undefined> {
    let KeyMarker: string | undefined;
    do {
      signal.throwIfAborted();
      // Without UploadIdMarker: not every server accepts the marker of an upload that was aborted in the meantime.
      const command = new ListMultipartUploadsCommand({
        Bucket: this.#bucket,
        ...(KeyMarker && { KeyMarker }),
      });
      const page: ListMultipartUploadsCommandOutput = await sendWithTimeout(
        (abortSignal) => this.#client.send(command, { abortSignal }),
        signal,
      );
      yield* page.Uploads ?? [];
      KeyMarker = page.IsTruncated ? page.NextKeyMarker : undefined;
    } while (KeyMarker !== undefined);
  }

  #location(name: string) {
    checkBlobName(name);
    return { Bucket: this.#bucket, Key: name };
  }
}

const KEYS = 'access denied with S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY';
const REGION = 'S3_REGION is not the region of the bucket';
/** Explanations of S3 error codes for the operator. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['NoSuchBucket', 'the bucket does not exist: create it, or set S3_BUCKET to an existing bucket'],
  ['InvalidAccessKeyId', KEYS],
  ['SignatureDoesNotMatch', KEYS],
  ['AccessDenied', KEYS],
  ['AuthorizationHeaderMalformed', REGION],
  ['PermanentRedirect', REGION],
]);

/** Explains to the operator why the bucket cannot be used. */
function bucketError({ bucket, endpoint }: S3BlobSettings, error: unknown): StartError {
  const response = error instanceof S3ServiceException ? error : undefined;
  const defaultReason =
    response === undefined
      ? 'no response: check S3_ENDPOINT'
      : `the server returned ${response.$metadata.httpStatusCode} ${response.name}: check S3_ENDPOINT and S3_ACCESS_KEY_ID`;
  const reason = REASONS.get(response?.name ?? '') ?? defaultReason;
  return new StartError(`The bucket '${bucket}' at ${endpoint} cannot be used: ${reason}.`, { cause: error });
}
