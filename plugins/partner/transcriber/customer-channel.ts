/**
 * Extracts channel 0, the customer, from interleaved audio; channel 1 is the assistant's speech. Frames may split a
 * sample pair, so incomplete pairs are buffered.
 */

const SAMPLE_BYTES = 2;

export class CustomerChannel {
  readonly #pairBytes: number;
  /** Bytes of an incomplete pair: 0 to 3. */
  #pending = new Uint8Array(0);

  constructor(channels: 1 | 2) {
    this.#pairBytes = channels * SAMPLE_BYTES;
  }

  /** Returns a copy of the customer's samples that these bytes complete (signed 16-bit little-endian). */
  extract(bytes: Uint8Array): Uint8Array {
    const size = this.#pairBytes;
    const pendingBytes = this.#pending.length;
    const pairs = Math.floor((pendingBytes + bytes.length) / size);
    const samples = new Uint8Array(pairs * SAMPLE_BYTES);
    const usedBytes = pairs * size - pendingBytes;
    if (pairs > 0) {
      // The first pair may start in the pending bytes; the others are at fixed offsets in `bytes`.
      for (let i = 0; i < SAMPLE_BYTES; i++) {
        samples[i] = (i < pendingBytes ? this.#pending[i] : bytes[i - pendingBytes]) ?? 0;
      }
      for (let pair = 1, at = size - pendingBytes; pair < pairs; pair++, at += size) {
        samples[pair * SAMPLE_BYTES] = bytes[at] ?? 0;
        samples[pair * SAMPLE_BYTES + 1] = bytes[at + 1] ?? 0;
      }
      // `slice` of a Buffer shares memory, so the bytes are copied explicitly.
      this.#pending = new Uint8Array(bytes.subarray(usedBytes));
    } else {
      this.#pending = new Uint8Array(Buffer.concat([this.#pending, bytes]));
    }
    return samples;
  }
}
