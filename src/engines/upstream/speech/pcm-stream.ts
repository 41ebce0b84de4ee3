/** Bytes of 16-bit PCM that arrive in any portions, as float samples. */

import { decodeToFloat32 } from '../../../audio/codec.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';

/** Little-endian 16-bit PCM to samples; a sample that is split between two portions is put together. */
export class PcmStream {
  /** The first half of a sample, or nothing. */
  #carry = new Uint8Array(0);

  /** Samples that the portion completes, maybe none. */
  push(portion: Uint8Array): Float32Samples {
    const bytes = this.#carry.length === 0 ? portion : Buffer.concat([this.#carry, portion]);
    const wholeBytes = bytes.length - (bytes.length % 2);
    this.#carry = bytes.slice(wholeBytes);
    return decodeToFloat32(bytes.subarray(0, wholeBytes), 'pcm16');
  }

  /** Whether half a sample is left, which a complete stream never has. */
  get torn(): boolean {
    return this.#carry.length > 0;
  }
}
