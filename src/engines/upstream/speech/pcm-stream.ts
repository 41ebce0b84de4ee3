/** Decodes streamed 16-bit PCM to float samples. */

import { decodeToFloat32 } from '../../../audio/codec.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';

/** Little-endian 16-bit PCM to samples; samples may be split between chunks. */
export class PcmStream {
  /** The first byte of a split sample, or empty. */
  #carry = new Uint8Array(0);

  /** Returns the samples that are complete with this chunk. */
  push(chunk: Uint8Array): Float32Samples {
    const bytes = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const wholeBytes = bytes.length - (bytes.length % 2);
    this.#carry = bytes.slice(wholeBytes);
    return decodeToFloat32(bytes.subarray(0, wholeBytes), 'pcm16');
  }

  /** Whether half a sample is pending. A complete stream never ends in this state. */
  get hasPartialSample(): boolean {
    return this.#carry.length > 0;
  }
}
