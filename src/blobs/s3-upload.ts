import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { BlobFacts } from '../contract/stores/blob-store.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { type BlobPart, PartCollector } from './blob-part.ts';
import { sendWithTimeout } from './s3-calls.ts';

/** Part size. S3 requires at least 5 MiB per part and at most 10,000 parts. */
export const PART_BYTES = 8 * 1024 * 1024;
/** Maximum number of parts in flight while the next one is collected. */
const MAX_PARTS_IN_FLIGHT = 2;
/** How long to wait for parts in flight before an upload is aborted, since a part that arrives afterwards would remain. */
const ARRIVAL_MS = 5000;
/** Time limit of the request that aborts an upload. */
const ABORT_MS = 10_000;

/** Location of a blob. */
export interface S3Location {
  readonly Bucket: string;
  readonly Key: string;
}

/** Stores a blob: a short one with one request, a longer one in parts. The server verifies the SHA-256 of each. */
export async function uploadToS3(
  client: S3Client,
  location: S3Location,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<BlobFacts> {
  const hash = new Bun.CryptoHasher('sha256');
  const collector = new PartCollector(PART_BYTES);
  let lengthBytes = 0;
  const parts = new PartUploader(client, location, signal, (part) => collector.recycle(part));
  try {
    for await (const chunk of untilAborted(bytes, parts.aborted)) {
      hash.update(chunk);
      lengthBytes += chunk.length;
      for (let rest = chunk; rest.length > 0; ) {
        rest = collector.fill(rest);
        if (collector.isFull) await parts.add(collector.take());
      }
    }
    if (!parts.isStarted) await put(client, location, collector.take(), signal);
    else {
      if (!collector.isEmpty) await parts.add(collector.take());
      await parts.complete();
    }
  } catch (error) {
    await parts.abort();
    throw error;
  }
  return { lengthBytes, sha256: hash.digest('hex') };
}

async function put(
  client: S3Client,
  location: S3Location,
  part: BlobPart,
  signal: AbortSignal,
): Promise<void> {
  const command = new PutObjectCommand({ ...location, ...checksummedBody(part) });
  await sendWithTimeout((abortSignal) => client.send(command, { abortSignal }), signal);
}

function checksummedBody({ bytes, sha256 }: BlobPart) {
  return { Body: bytes, ContentLength: bytes.length, ChecksumSHA256: sha256.toString('base64') };
}

/** The parts of one multipart upload. */
class PartUploader {
  readonly #client: S3Client;
  readonly #location: S3Location;
  readonly #onSent: (part: BlobPart) => void;
  readonly #failed = new AbortController();
  /** Aborted with the caller's signal and with the error of the first part that fails. */
  readonly aborted: AbortSignal;
  /** Aborts the parts in flight. */
  readonly #partsAborted = new AbortController();
  #uploadId: string | undefined;
  readonly #sent: Promise<CompletedPart>[] = [];

  /** @param onSent is called when a part was sent and its buffer can be reused. */
  constructor(client: S3Client, location: S3Location, signal: AbortSignal, onSent: (part: BlobPart) => void) {
    this.#client = client;
    this.#location = location;
    this.#onSent = onSent;
    this.aborted = AbortSignal.any([signal, this.#failed.signal]);
  }

  get isStarted(): boolean {
    return this.#uploadId !== undefined;
  }

  /** Sends a part once fewer than {@link MAX_PARTS_IN_FLIGHT} parts are in flight. */
  async add(part: BlobPart): Promise<void> {
    this.#uploadId ??= await this.#start();
    await this.#sent.at(-MAX_PARTS_IN_FLIGHT);
    const sent = this.#send(part, this.#uploadId, this.#sent.length + 1);
    sent.catch((error: unknown) => this.#failed.abort(error));
    this.#sent.push(sent);
  }

  async complete(): Promise<void> {
    const Parts = await Promise.all(this.#sent);
    const command = new CompleteMultipartUploadCommand({
      ...this.#upload(),
      MultipartUpload: { Parts },
    });
    await this.#sendWithTimeout((abortSignal) => this.#client.send(command, { abortSignal }));
  }

  /** Aborts the upload and removes its parts. Never rejects; if it fails, the bucket's lifecycle rules must clean up. */
  async abort(): Promise<void> {
    // A part that arrives after the abort would remain in the bucket.
    const timeout = setTimeout(
      () => this.#partsAborted.abort(new Error('the upload was aborted')),
      ARRIVAL_MS,
    );
    await Promise.allSettled(this.#sent);
    clearTimeout(timeout);
    if (this.#uploadId === undefined) return;
    const command = new AbortMultipartUploadCommand(this.#upload());
    const abortSignal = AbortSignal.timeout(ABORT_MS);
    await this.#client.send(command, { abortSignal }).catch(() => undefined);
  }

  async #start(): Promise<string> {
    const command = new CreateMultipartUploadCommand({ ...this.#location, ChecksumAlgorithm: 'SHA256' });
    const { UploadId } = await this.#sendWithTimeout((abortSignal) =>
      this.#client.send(command, { abortSignal }),
    );
    if (UploadId === undefined) throw new Error('the store returned no upload id');
    return UploadId;
  }

  async #send(part: BlobPart, UploadId: string, PartNumber: number): Promise<CompletedPart> {
    const { Body, ContentLength, ChecksumSHA256 } = checksummedBody(part);
    const command = new UploadPartCommand({
      ...this.#location,
      UploadId,
      PartNumber,
      Body,
      ContentLength,
      ChecksumSHA256,
    });
    const send = (abortSignal: AbortSignal) => this.#client.send(command, { abortSignal });
    const { ETag } = await sendWithTimeout(send, this.#partsAborted.signal);
    this.#onSent(part);
    return { PartNumber, ETag, ChecksumSHA256 };
  }

  #sendWithTimeout<Output>(call: (abortSignal: AbortSignal) => Promise<Output>): Promise<Output> {
    return sendWithTimeout(call, this.aborted);
  }

  #upload() {
    return { ...this.#location, UploadId: this.#uploadId };
  }
}
