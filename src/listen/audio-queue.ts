/** A FIFO queue of audio. */

import { type QueueFormat, sampleBytes } from './audio-format.ts';

/** Maximum size of an array that is copied into a shared block. Larger arrays are stored without a copy. */
const MAX_COPIED_BYTES = 512;
const BLOCK_BYTES = 4096;
/** Number of discarded chunks after which the chunk list is compacted. */
const COMPACT_THRESHOLD = 64;

/**
 * A queue of audio. Positions are sample indices, counted from the first byte of the format. A
 * partial sample at the end is completed by the next {@link push}.
 */
export class AudioQueue<Format extends QueueFormat = QueueFormat> {
  readonly format: Format;
  readonly #sampleBytes: number;
  #chunks: Uint8Array[] = [];
  /** Byte position of the end of each chunk. */
  #ends: number[] = [];
  /** Index of the first chunk that is not discarded. */
  #firstChunk = 0;
  #startByte: number;
  #endByte: number;
  /** Block that small arrays are copied into. The last chunk is a view of its used part. */
  #block: Uint8Array | undefined;

  /** @param startSample position of the first sample that will be pushed. */
  constructor(format: Format, startSample = 0) {
    this.format = format;
    this.#sampleBytes = sampleBytes(format);
    this.#startByte = startSample * this.#sampleBytes;
    this.#endByte = this.#startByte;
  }

  /** Position of the oldest sample that is not discarded. */
  get startSample(): number {
    return this.#startByte / this.#sampleBytes;
  }

  /** Position after the last whole sample. */
  get endSample(): number {
    return Math.floor(this.#endByte / this.#sampleBytes);
  }

  /** Number of buffered whole samples. */
  get bufferedSamples(): number {
    return this.endSample - this.startSample;
  }

  get bufferedBytes(): number {
    return this.#endByte - this.#startByte;
  }

  /** Returns the number of bytes from `sample` to the end, including discarded ones. */
  bytesFrom(sample: number): number {
    return this.#endByte - sample * this.#sampleBytes;
  }

  /** Appends bytes. The caller must not modify the array afterwards, because large arrays are not copied. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (bytes.length >= MAX_COPIED_BYTES) {
      this.#add(bytes);
      this.#block = undefined;
    } else if (!this.#extendBlock(bytes)) {
      this.#block = new Uint8Array(BLOCK_BYTES);
      this.#block.set(bytes);
      this.#add(this.#block.subarray(0, bytes.length));
    }
  }

  #add(chunk: Uint8Array): void {
    this.#endByte += chunk.length;
    this.#chunks.push(chunk);
    this.#ends.push(this.#endByte);
  }

  /** Copies a small array to the end of the current block. Returns false if it does not fit. */
  #extendBlock(bytes: Uint8Array): boolean {
    const block = this.#block;
    const last = this.#chunks.at(-1);
    if (!block || !last || last.byteLength + bytes.length > BLOCK_BYTES) return false;
    block.set(bytes, last.length);
    this.#endByte += bytes.length;
    this.#chunks[this.#chunks.length - 1] = block.subarray(0, last.length + bytes.length);
    this.#ends[this.#ends.length - 1] = this.#endByte;
    return true;
  }

  /** Discards all samples before `beforeSample`. */
  discardBefore(beforeSample: number): void {
    const byte = Math.min(this.endSample, beforeSample) * this.#sampleBytes;
    if (byte <= this.#startByte) return;
    this.#startByte = byte;
    for (
      let end = this.#ends[this.#firstChunk];
      end !== undefined && end <= byte;
      end = this.#ends[this.#firstChunk]
    ) {
      this.#chunks[this.#firstChunk] = EMPTY;
      this.#firstChunk += 1;
    }
    if (this.#firstChunk === this.#chunks.length) {
      this.#chunks = [];
      this.#ends = [];
      this.#firstChunk = 0;
      this.#block = undefined;
    } else if (this.#firstChunk >= COMPACT_THRESHOLD && this.#firstChunk * 2 >= this.#chunks.length) {
      this.#chunks.splice(0, this.#firstChunk);
      this.#ends.splice(0, this.#firstChunk);
      this.#firstChunk = 0;
    }
  }

  /** Returns a range as one array: a view if the range lies in one chunk, otherwise a copy. */
  bytes(fromSample: number, toSample: number): Uint8Array {
    const lengthBytes = (toSample - fromSample) * this.#sampleBytes;
    let copy: Uint8Array | undefined;
    let at = 0;
    for (const view of this.#views(fromSample, toSample)) {
      if (view.length === lengthBytes) return view;
      copy ??= new Uint8Array(lengthBytes);
      copy.set(view, at);
      at += view.length;
    }
    return copy ?? EMPTY;
  }

  /** Appends a range of this queue to another queue of the same format. */
  copyTo(other: AudioQueue, fromSample: number, toSample: number): void {
    for (const view of this.#views(fromSample, toSample)) other.push(view);
  }

  *#views(fromSample: number, toSample: number): Generator<Uint8Array, void, undefined> {
    const from = fromSample * this.#sampleBytes;
    const to = toSample * this.#sampleBytes;
    for (let index = this.#chunkAt(from); index < this.#chunks.length; index++) {
      const chunk = this.#chunks[index] ?? EMPTY;
      const start = (this.#ends[index] ?? 0) - chunk.length;
      if (start >= to) return;
      yield chunk.subarray(Math.max(0, from - start), Math.min(chunk.length, to - start));
    }
  }

  /** Returns the index of the chunk that contains a byte position (binary search). */
  #chunkAt(byte: number): number {
    let low = this.#firstChunk;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] ?? 0) <= byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const EMPTY = new Uint8Array(0);
