/** Streaming change of sample rate (native/src/resampler.h). */

import type { Float32Samples, Int16Samples } from '../contract/engines/audio.ts';
import { native, type ResamplerHandle, type SampleFormat } from './native.ts';

type SamplesOf<Format extends SampleFormat> = Format extends 'int16' ? Int16Samples : Float32Samples;

export interface ResamplerOptions<Format extends SampleFormat> {
  /** Whole rates from 8,000 to 48,000 Hz, in any pair. */
  readonly fromHz: number;
  readonly toHz: number;
  readonly format: Format;
  /** Keeps to the code that runs on every processor; for tests of that code. */
  readonly portable?: boolean;
}

/**
 * Converts one mono stream from one rate to another. Stop-band 100 dB from the lower Nyquist frequency on,
 * pass-band within 0.05 dB up to 0.9 of it. Output sample n stands for the time `n / toHz`: the delay of the
 * filter is taken out, and silence is assumed around the stream. The output does not depend on how the
 * input was cut into pushes, to the bit. Float samples are not limited to ±1; int16 is rounded to nearest and
 * saturated. Equal rates pass samples through.
 */
export class Resampler<Format extends SampleFormat> {
  readonly #handle: ResamplerHandle;
  readonly fromHz: number;
  readonly toHz: number;
  /**
   * How many input samples must follow an output's own time before {@link push} returns it: the
   * filter's half length, 72 for a higher and about 72 × fromHz / toHz for a lower output rate.
   */
  readonly latencySamples: number;

  /** @throws RangeError when a rate is not whole or out of range. */
  constructor({ fromHz, toHz, format, portable = false }: ResamplerOptions<Format>) {
    this.#handle = native.createResampler(fromHz, toHz, format, portable);
    this.fromHz = fromHz;
    this.toHz = toHz;
    this.latencySamples = native.resamplerLatency(this.#handle);
  }

  /** {@link latencySamples} as time. */
  get latencyMs(): number {
    return (this.latencySamples * 1000) / this.fromHz;
  }

  /** Name of the code that computes the filter: `avx2` or `portable`. */
  get kernel(): string {
    return native.resamplerKernel(this.#handle);
  }

  /**
   * Takes samples and returns those that they complete, maybe none. Both arrays belong to the caller.
   * @throws TypeError for another element type, shared memory, a detached buffer or a closed resampler;
   *   RangeError for more than 2^24 samples.
   */
  push(samples: SamplesOf<Format>): SamplesOf<Format> {
    return native.resamplerPush(this.#handle, samples) as SamplesOf<Format>;
  }

  /**
   * Ends the stream and returns the rest. Pushes and flush together give `round(pushed * toHz / fromHz)`
   * samples, halves rounded up. The next push starts a new stream.
   */
  flush(): SamplesOf<Format> {
    return native.resamplerFlush(this.#handle) as SamplesOf<Format>;
  }

  /** Forgets what was pushed and starts a new stream. */
  reset(): void {
    native.resamplerReset(this.#handle);
  }

  /** Frees the memory now instead of at the next garbage collection. Idempotent; other calls then throw. */
  close(): void {
    native.resamplerClose(this.#handle);
  }
}
