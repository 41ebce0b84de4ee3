/** Min. buffer size, because most blobs are short. */
const FIRST_BYTES = 64 * 1024;

/** A complete part of a blob with its checksum. */
export interface BlobPart {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly sha256: Buffer;
}

/** Collects bytes for a part. The hash is updated incrementally, so that no step blocks the main thread for long. */
export class PartCollector {
  readonly #partBytes: number;
  /** Buffers of sent parts for reuse: the number of buffers depends on the parts in flight, not on the length of the blob. */
  readonly #free: Buffer<ArrayBuffer>[] = [];
  #buffer = Buffer.alloc(0);
  #lengthBytes = 0;
  #hash = new Bun.CryptoHasher('sha256');

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
  }

  get isFull(): boolean {
    return this.#lengthBytes === this.#partBytes;
  }

  get isEmpty(): boolean {
    return this.#lengthBytes === 0;
  }

  /** Copies as many bytes as fit and returns the rest. */
  fill(chunk: Uint8Array): Uint8Array {
    const fitting = chunk.subarray(0, this.#partBytes - this.#lengthBytes);
    this.#ensureCapacity(this.#lengthBytes + fitting.length);
    this.#buffer.set(fitting, this.#lengthBytes);
    this.#lengthBytes += fitting.length;
    this.#hash.update(fitting);
    return chunk.subarray(fitting.length);
  }

  /** Returns the collected bytes and starts a new part. */
  take(): BlobPart {
    const bytes = this.#buffer.subarray(0, this.#lengthBytes);
    this.#buffer = this.#free.pop() ?? Buffer.alloc(0);
    this.#lengthBytes = 0;
    const sha256 = this.#hash.digest();
    this.#hash = new Bun.CryptoHasher('sha256');
    return { bytes, sha256 };
  }

  /** Makes the buffer of a sent part available for reuse. */
  recycle({ bytes }: BlobPart): void {
    if (bytes.length === this.#partBytes) this.#free.push(bytes);
  }

  #ensureCapacity(lengthBytes: number): void {
    if (lengthBytes <= this.#buffer.length) return;
    const free = this.#free.pop();
    const wanted = Math.max(FIRST_BYTES, lengthBytes, 2 * this.#buffer.length);
    const larger = free ?? Buffer.allocUnsafeSlow(Math.min(wanted, this.#partBytes));
    larger.set(this.#buffer.subarray(0, this.#lengthBytes));
    this.#buffer = larger;
  }
}
