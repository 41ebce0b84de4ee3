/**
 * The customer's side of the audio, which is channel 0; channel 1 is the assistant's own speech. Frames may be cut
 * anywhere, so the bytes of a sample pair that is not whole wait for the rest of it.
 */

const SAMPLE_BYTES = 2;

export class CustomerChannel {
  readonly #pairBytes: number;
  /** Bytes of a pair whose end has not come: 0 to 3. */
  #carry = new Uint8Array(0);

  constructor(channels: 1 | 2) {
    this.#pairBytes = channels * SAMPLE_BYTES;
  }

  /** The customer's samples that these bytes complete, copied: signed 16-bit, as they came. */
  take(bytes: Uint8Array): Uint8Array {
    const size = this.#pairBytes;
    const carried = this.#carry.length;
    const pairs = Math.floor((carried + bytes.length) / size);
    const samples = new Uint8Array(pairs * SAMPLE_BYTES);
    const usedBytes = pairs * size - carried;
    if (pairs > 0) {
      // The first pair may begin in the carry; where the others lie in `bytes` is known.
      for (let i = 0; i < SAMPLE_BYTES; i++) {
        samples[i] = (i < carried ? this.#carry[i] : bytes[i - carried]) ?? 0;
      }
      for (let pair = 1, at = size - carried; pair < pairs; pair++, at += size) {
        samples[pair * SAMPLE_BYTES] = bytes[at] ?? 0;
        samples[pair * SAMPLE_BYTES + 1] = bytes[at + 1] ?? 0;
      }
      // A copy, which a slice of a Buffer is not.
      this.#carry = new Uint8Array(bytes.subarray(usedBytes));
    } else {
      this.#carry = new Uint8Array(Buffer.concat([this.#carry, bytes]));
    }
    return samples;
  }
}
