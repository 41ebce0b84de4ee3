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
import { answerOf } from './s3-calls.ts';

/** S3 takes at least 5 MiB, and at most 10,000 parts. */
export const PART_BYTES = 8 * 1024 * 1024;
/** Parts on their way while another one is collected. */
const PARTS_AT_ONCE = 2;
/** Parts that are on their way when an upload is given up may still arrive for so long: cut off, they might stay. */
const ARRIVAL_MS = 5000;
/** An upload that was given up is told to the store for so long. */
const ABORT_MS = 10_000;

/** Where a blob goes. */
export interface S3Place {
  readonly Bucket: string;
  readonly Key: string;
}

/** Stores a blob: a short one at once, a longer one in parts. The server checks each by its SHA-256. */
export async function uploadToS3(
  client: S3Client,
  place: S3Place,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<BlobFacts> {
  const whole = new Bun.CryptoHasher('sha256');
  const collector = new PartCollector(PART_BYTES);
  let lengthBytes = 0;
  const parts = new PartUploads(client, place, signal, (part) => collector.giveBack(part));
  try {
    for await (const chunk of untilAborted(bytes, parts.ended)) {
      whole.update(chunk);
      lengthBytes += chunk.length;
      for (let rest = chunk; rest.length > 0; ) {
        rest = collector.fill(rest);
        if (collector.isFull) await parts.add(collector.take());
      }
    }
    if (!parts.hasBegun) await put(client, place, collector.take(), signal);
    else {
      if (!collector.isEmpty) await parts.add(collector.take());
      await parts.complete();
    }
  } catch (error) {
    await parts.giveUp();
    throw error;
  }
  return { lengthBytes, sha256: whole.digest('hex') };
}

async function put(client: S3Client, place: S3Place, part: BlobPart, signal: AbortSignal): Promise<void> {
  const command = new PutObjectCommand({ ...place, ...checked(part) });
  await answerOf((abortSignal) => client.send(command, { abortSignal }), signal);
}

function checked({ bytes, sha256 }: BlobPart) {
  return { Body: bytes, ContentLength: bytes.length, ChecksumSHA256: sha256.toString('base64') };
}

/** The parts of one blob, some of which are on their way. */
class PartUploads {
  readonly #client: S3Client;
  readonly #place: S3Place;
  readonly #onSent: (part: BlobPart) => void;
  readonly #failed = new AbortController();
  /** Fires with the caller's signal and with the first part that fails. */
  readonly ended: AbortSignal;
  /** Cuts off parts that are on their way. */
  readonly #cut = new AbortController();
  #uploadId: string | undefined;
  readonly #sent: Promise<CompletedPart>[] = [];

  /** @param onSent told of a part that nobody reads any more. */
  constructor(client: S3Client, place: S3Place, signal: AbortSignal, onSent: (part: BlobPart) => void) {
    this.#client = client;
    this.#place = place;
    this.#onSent = onSent;
    this.ended = AbortSignal.any([signal, this.#failed.signal]);
  }

  get hasBegun(): boolean {
    return this.#uploadId !== undefined;
  }

  /** Sends a part when there is room for it. */
  async add(part: BlobPart): Promise<void> {
    this.#uploadId ??= await this.#begin();
    await this.#sent.at(-PARTS_AT_ONCE);
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
    await this.#answerOf((abortSignal) => this.#client.send(command, { abortSignal }));
  }

  /** Leaves nothing in the store. Never rejects: what cannot be told now is for the bucket's own rules. */
  async giveUp(): Promise<void> {
    // A part that arrives after the abort would stay.
    const late = setTimeout(() => this.#cut.abort(new Error('the upload was given up')), ARRIVAL_MS);
    await Promise.allSettled(this.#sent);
    clearTimeout(late);
    if (this.#uploadId === undefined) return;
    const command = new AbortMultipartUploadCommand(this.#upload());
    const abortSignal = AbortSignal.timeout(ABORT_MS);
    await this.#client.send(command, { abortSignal }).catch(() => undefined);
  }

  async #begin(): Promise<string> {
    const command = new CreateMultipartUploadCommand({ ...this.#place, ChecksumAlgorithm: 'SHA256' });
    const { UploadId } = await this.#answerOf((abortSignal) => this.#client.send(command, { abortSignal }));
    if (UploadId === undefined) throw new Error('the store began an upload without an id');
    return UploadId;
  }

  async #send(part: BlobPart, UploadId: string, PartNumber: number): Promise<CompletedPart> {
    const { Body, ContentLength, ChecksumSHA256 } = checked(part);
    const command = new UploadPartCommand({
      ...{ ...this.#place, UploadId, PartNumber },
      ...{ Body, ContentLength, ChecksumSHA256 },
    });
    const send = (abortSignal: AbortSignal) => this.#client.send(command, { abortSignal });
    const { ETag } = await answerOf(send, this.#cut.signal);
    this.#onSent(part);
    return { PartNumber, ETag, ChecksumSHA256 };
  }

  #answerOf<Answer>(call: (abortSignal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    return answerOf(call, this.ended);
  }

  #upload() {
    return { ...this.#place, UploadId: this.#uploadId };
  }
}
