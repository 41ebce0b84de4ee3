/** Smallest buffer of a part: most blobs are short. */
const FIRST_BYTES = 64 * 1024;

/** A whole part of a blob, with what the server checks it by. */
export interface BlobPart {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly sha256: Buffer;
}

/** Collects bytes until there are enough for a part. Its hash is made along the way, so that no step is long. */
export class PartCollector {
  readonly #partBytes: number;
  /** Of parts that were sent: a blob has as many buffers as it has parts on their way, whatever its length. */
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

  /** Copies what has room, and gives the rest. */
  fill(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, this.#partBytes - this.#lengthBytes);
    this.#makeRoom(this.#lengthBytes + taken.length);
    this.#buffer.set(taken, this.#lengthBytes);
    this.#lengthBytes += taken.length;
    this.#hash.update(taken);
    return chunk.subarray(taken.length);
  }

  /** Gives what was collected away and begins anew. */
  take(): BlobPart {
    const bytes = this.#buffer.subarray(0, this.#lengthBytes);
    this.#buffer = this.#free.pop() ?? Buffer.alloc(0);
    this.#lengthBytes = 0;
    const sha256 = this.#hash.digest();
    this.#hash = new Bun.CryptoHasher('sha256');
    return { bytes, sha256 };
  }

  /** Takes a whole part's buffer back, which nobody reads any more. */
  giveBack({ bytes }: BlobPart): void {
    if (bytes.length === this.#partBytes) this.#free.push(bytes);
  }

  #makeRoom(lengthBytes: number): void {
    if (lengthBytes <= this.#buffer.length) return;
    const free = this.#free.pop();
    const wanted = Math.max(FIRST_BYTES, lengthBytes, 2 * this.#buffer.length);
    const larger = free ?? Buffer.allocUnsafeSlow(Math.min(wanted, this.#partBytes));
    larger.set(this.#buffer.subarray(0, this.#lengthBytes));
    this.#buffer = larger;
  }
}
