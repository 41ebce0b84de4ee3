/** Streaming sample rate conversion (native/src/resampler.h). */

import type { Float32Samples, Int16Samples } from '../contract/engines/audio.ts';
import { concatenate } from './concatenate.ts';
import { native, type ResamplerHandle, type SampleFormat } from './native.ts';

type SamplesOf<Format extends SampleFormat> = Format extends 'int16' ? Int16Samples : Float32Samples;

export interface ResamplerOptions<Format extends SampleFormat> {
  /** Integer rates from 8,000 to 48,000 Hz, in any combination. */
  readonly fromHz: number;
  readonly toHz: number;
  readonly format: Format;
  /** Uses the portable kernel instead of the fastest one. For tests. */
  readonly portable?: boolean;
}

/**
 * Converts a mono stream from one sample rate to another. The stop-band is 100 dB down from the lower Nyquist
 * frequency on; the pass-band is flat within 0.05 dB up to 0.9 of it. Output sample n corresponds to time `n
 * / toHz`: the filter delay is compensated, and silence is assumed around the stream. The output is
 * bit-identical however the input is split. Float samples are not limited to ±1; int16 samples are rounded to
 * nearest and saturated. Equal rates pass samples through.
 */
export class Resampler<Format extends SampleFormat> {
  readonly #handle: ResamplerHandle;
  readonly fromHz: number;
  readonly toHz: number;
  /**
   * Number of input samples that must follow the time of an output sample before {@link push} returns it:
   * half the filter length, which is 72 for a higher and about 72 × fromHz / toHz for a lower output rate.
   */
  readonly latencySamples: number;

  /** @throws RangeError if a rate is not an integer or out of range. */
  constructor({ fromHz, toHz, format, portable = false }: ResamplerOptions<Format>) {
    this.#handle = native.createResampler(fromHz, toHz, format, portable);
    this.fromHz = fromHz;
    this.toHz = toHz;
    this.latencySamples = native.resamplerLatency(this.#handle);
  }

  /** Name of the filter kernel: `avx2` or `portable`. */
  get kernel(): string {
    return native.resamplerKernel(this.#handle);
  }

  /**
   * Pushes samples and returns the output that they complete, possibly empty. The caller owns both arrays.
   * @throws TypeError for another element type, shared memory, a detached buffer or a closed resampler.
   * @throws RangeError for more than 2^24 samples.
   */
  push(samples: SamplesOf<Format>): SamplesOf<Format> {
    return native.resamplerPush(this.#handle, samples) as SamplesOf<Format>;
  }

  /**
   * Ends the stream and returns the remaining output. In total, pushes and flush return `round(pushed * toHz
   * / fromHz)` samples, halves rounded up. The next push starts a new stream.
   */
  flush(): SamplesOf<Format> {
    return native.resamplerFlush(this.#handle) as SamplesOf<Format>;
  }

  /** Discards the state and starts a new stream. */
  reset(): void {
    native.resamplerReset(this.#handle);
  }

  /**
   * Frees the memory immediately instead of at the next garbage collection. Idempotent. Other calls then
   * throw.
   */
  close(): void {
    native.resamplerClose(this.#handle);
  }
}

/** Converts a whole signal, which silence surrounds. Equal rates return the same array. */
export function resample(samples: Float32Samples, fromHz: number, toHz: number): Float32Samples {
  if (fromHz === toHz) return samples;
  const resampler = new Resampler({ fromHz, toHz, format: 'float32' });
  const converted = concatenate([resampler.push(samples), resampler.flush()]);
  resampler.close();
  return converted;
}
