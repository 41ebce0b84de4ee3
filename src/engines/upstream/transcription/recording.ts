/** Audio on its way to another server: 16-bit WAV at 16 kHz, mono. */

import { float32ToInt16 } from '../../../audio/codec.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../../audio/wav.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

/** Longest audio: a full buffer of a conversation at 8 kHz has 27 minutes 18 s (spec 4.7). 53 MB. */
const MAX_S = 1650;

export class Recording {
  readonly #maxSamples: number;
  #parts: Int16Array<ArrayBuffer>[] = [];
  #samples = 0;

  constructor(maxS = MAX_S) {
    this.#maxSamples = maxS * LISTEN_RATE_HZ;
  }

  get durationS(): number {
    return this.#samples / LISTEN_RATE_HZ;
  }

  /** @throws ServiceError `payload_too_large` when it gets longer than a server of another kind takes. */
  push(samples: Float32Samples): void {
    this.#samples += samples.length;
    if (this.#samples > this.#maxSamples) {
      const maxS = this.#maxSamples / LISTEN_RATE_HZ;
      throw new ServiceError(
        'payload_too_large',
        `The audio must be at most ${maxS} s long for this model; send it in parts.`,
        { code: 'payload_too_large' },
      );
    }
    this.#parts.push(float32ToInt16(samples));
  }

  /** All of it as a file; what was collected is given away. */
  file(): File {
    const header = new Uint8Array(WAV_HEADER_BYTES);
    header.set(wavHeader(this.#samples * 2, LISTEN_RATE_HZ));
    const parts = this.#parts;
    this.#parts = [];
    return new File([header, ...parts], 'audio.wav', { type: 'audio/wav' });
  }
}
