/** Bytes of one format as they arrive, of which the older are forgotten. */

import { type AudioFormat, sampleBytes } from './audio-format.ts';

/** Smaller pieces are copied together, so that what surrounds a piece in memory stays small beside it. */
const SMALL_BYTES = 512;
const BLOCK_BYTES = 4096;
/** Forgotten pieces after which the list of them is cut. */
const CUT_PIECES = 64;

/**
 * A queue of bytes without copies. Positions count samples since the first byte of the format; half a sample at
 * the end waits for its other half.
 */
export class AudioQueue {
  readonly format: AudioFormat;
  readonly #sampleBytes: number;
  #pieces: Uint8Array[] = [];
  /** Position after the last byte of each piece. */
  #ends: number[] = [];
  /** Pieces before this one are forgotten. */
  #first = 0;
  #startByte: number;
  #endByte: number;
  /** Where small pieces are collected: the last piece, if any, is a part of it. */
  #block: Uint8Array | undefined;

  /** @param startSample position of the first sample to come. */
  constructor(format: AudioFormat, startSample = 0) {
    this.format = format;
    this.#sampleBytes = sampleBytes(format);
    this.#startByte = startSample * this.#sampleBytes;
    this.#endByte = this.#startByte;
  }

  /** The oldest sample that is not forgotten. */
  get startSample(): number {
    return this.#startByte / this.#sampleBytes;
  }

  /** Position after the last whole sample. */
  get endSample(): number {
    return Math.floor(this.#endByte / this.#sampleBytes);
  }

  /** How many whole samples are held. */
  get heldSamples(): number {
    return this.endSample - this.startSample;
  }

  get heldBytes(): number {
    return this.#endByte - this.#startByte;
  }

  /** Bytes from a sample on, forgotten ones too. */
  bytesFrom(sample: number): number {
    return this.#endByte - sample * this.#sampleBytes;
  }

  /** Adds bytes at the end; a large array is kept as it is and must not be changed. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (bytes.length >= SMALL_BYTES) {
      this.#add(bytes);
      this.#block = undefined;
    } else if (!this.#extendBlock(bytes)) {
      this.#block = new Uint8Array(BLOCK_BYTES);
      this.#block.set(bytes);
      this.#add(this.#block.subarray(0, bytes.length));
    }
  }

  #add(piece: Uint8Array): void {
    this.#endByte += piece.length;
    this.#pieces.push(piece);
    this.#ends.push(this.#endByte);
  }

  /** Copies a small piece behind the last one. */
  #extendBlock(bytes: Uint8Array): boolean {
    const block = this.#block;
    const last = this.#pieces.at(-1);
    if (!block || !last || last.byteLength + bytes.length > BLOCK_BYTES) return false;
    block.set(bytes, last.length);
    this.#endByte += bytes.length;
    this.#pieces[this.#pieces.length - 1] = block.subarray(0, last.length + bytes.length);
    this.#ends[this.#ends.length - 1] = this.#endByte;
    return true;
  }

  /** Forgets what lies before a sample. */
  forget(beforeSample: number): void {
    const byte = Math.min(this.endSample, beforeSample) * this.#sampleBytes;
    if (byte <= this.#startByte) return;
    this.#startByte = byte;
    for (let end = this.#ends[this.#first]; end !== undefined && end <= byte; end = this.#ends[this.#first]) {
      this.#pieces[this.#first] = NOTHING;
      this.#first += 1;
    }
    if (this.#first === this.#pieces.length) {
      this.#pieces = [];
      this.#ends = [];
      this.#first = 0;
      this.#block = undefined;
    } else if (this.#first >= CUT_PIECES && this.#first * 2 >= this.#pieces.length) {
      this.#pieces.splice(0, this.#first);
      this.#ends.splice(0, this.#first);
      this.#first = 0;
    }
  }

  /** A stretch in one array: a view where it lies in one piece, a copy otherwise. */
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
    return copy ?? NOTHING;
  }

  /** Adds a stretch of this run to another one of the same format. */
  copyTo(other: AudioQueue, fromSample: number, toSample: number): void {
    for (const view of this.#views(fromSample, toSample)) other.push(view);
  }

  *#views(fromSample: number, toSample: number): Generator<Uint8Array, void, undefined> {
    const from = fromSample * this.#sampleBytes;
    const to = toSample * this.#sampleBytes;
    for (let index = this.#pieceAt(from); index < this.#pieces.length; index++) {
      const piece = this.#pieces[index] ?? NOTHING;
      const start = (this.#ends[index] ?? 0) - piece.length;
      if (start >= to) return;
      yield piece.subarray(Math.max(0, from - start), Math.min(piece.length, to - start));
    }
  }

  /** The piece that holds a byte, by halving. */
  #pieceAt(byte: number): number {
    let low = this.#first;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] ?? 0) <= byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NOTHING = new Uint8Array(0);
