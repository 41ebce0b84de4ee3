/** Collects audio for an upload as WAV: 16-bit PCM, 16 kHz, mono. */

import { float32ToInt16 } from '../../../audio/codec.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../../audio/wav.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

/** Default maximum duration (53 MB): a full input buffer of a realtime session at 8 kHz holds 27 min 18 s (spec 4.7). */
const MAX_S = 1650;

export class Recording {
  readonly #maxSamples: number;
  #chunks: Int16Array<ArrayBuffer>[] = [];
  #samples = 0;

  constructor(maxS = MAX_S) {
    this.#maxSamples = maxS * LISTEN_RATE_HZ;
  }

  get durationS(): number {
    return this.#samples / LISTEN_RATE_HZ;
  }

  /** @throws ServiceError `payload_too_large` when the recording exceeds the maximum duration. */
  push(samples: Float32Samples): void {
    this.#samples += samples.length;
    if (this.#samples > this.#maxSamples) {
      const maxS = this.#maxSamples / LISTEN_RATE_HZ;
      throw new ServiceError(
        'payload_too_large',
        `The audio exceeds the maximum duration of ${maxS} s for this model. Split it into smaller files.`,
        { code: 'payload_too_large' },
      );
    }
    this.#chunks.push(float32ToInt16(samples));
  }

  /** Returns the recording as a file and releases the buffered samples. */
  file(): File {
    const header = new Uint8Array(WAV_HEADER_BYTES);
    header.set(wavHeader(this.#samples * 2, LISTEN_RATE_HZ));
    const chunks = this.#chunks;
    this.#chunks = [];
    return new File([header, ...chunks], 'audio.wav', { type: 'audio/wav' });
  }
}
